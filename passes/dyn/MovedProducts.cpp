// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/dyn/MovedProducts.h"
#include "mlir/IR/Builders.h"
#include "passes/Products.h"
#include <set>

using namespace mlir;

namespace dbc::passes {

/// "message.first.W": the parameters that a value is made of.
static void addNames(Value value, std::string &names) {
  Operation *op = value.getDefiningOp();
  if (auto get = dyn_cast_or_null<dyn::GetOp>(op))
    names =
        names.empty() || names == get.getParam() ? get.getParam().str() : names + ", " + get.getParam().str();
  else if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ConcatOp, dyn::GatherOp>(op))
    for (Value operand : op->getOperands())
      addNames(operand, names);
}

MovedProduct moved(linalg::ContractOp product, dyn::MovedTo to, StringRef of) {
  std::string names;
  auto found = matVec(product);
  for (Value operand : found ? ValueRange(found->weights) : ValueRange(product->getOperands().take_front(2)))
    addNames(operand, names);
  return {product.getLoc(), dyn::sourceLocation(product.getLoc()), names, to, of.str()};
}

std::vector<MovedProduct> movedProducts(ModuleOp module) {
  std::vector<MovedProduct> products;
  for (auto op : module.getOps<dyn::MovedProductOp>())
    products.push_back(
        {op.getLoc(), dyn::sourceLocation(op.getLoc()), op.getParams().str(), op.getTo(), op.getOf().str()});
  llvm::sort(products);
  return products;
}

void addMoved(ModuleOp module, ArrayRef<MovedProduct> products) {
  std::vector<MovedProduct> known = movedProducts(module);
  std::set<MovedProduct> all(known.begin(), known.end());
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  for (const MovedProduct &each : products)
    if (all.insert(each).second)
      dyn::MovedProductOp::create(b, each.loc, each.params, each.to, each.of);
}

} // namespace dbc::passes
