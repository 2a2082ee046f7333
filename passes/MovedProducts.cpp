// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/MovedProducts.h"
#include "mlir/IR/Builders.h"
#include "passes/Products.h"
#include <set>

using namespace mlir;

namespace dbc::passes {

static constexpr const char *kName = "dyn.moved_products";
static constexpr const char *kTo[] = {"behind_sum", "by_instance", "outside", "nowhere"};

/// "message.first.W": the parameters that a value is made of.
static void addNames(Value value, std::string &names) {
  Operation *op = value.getDefiningOp();
  if (auto get = dyn_cast_or_null<dyn::GetOp>(op))
    names =
        names.empty() || names == get.getParam() ? get.getParam().str() : names + ", " + get.getParam().str();
  else if (isa_and_nonnull<tensor::ExtractSliceOp, tensor::ConcatOp, dyn::TakeOp>(op))
    for (Value operand : op->getOperands())
      addNames(operand, names);
}

MovedProduct moved(linalg::ContractOp product, MovedProduct::To to, StringRef of) {
  std::string names;
  auto found = matVec(product);
  for (Value operand : found ? ValueRange(found->weights) : ValueRange(product->getOperands().take_front(2)))
    addNames(operand, names);
  return {to, dyn::sourcePlace(product.getLoc()), names, of.str()};
}

std::vector<MovedProduct> movedProducts(ModuleOp module) {
  std::vector<MovedProduct> products;
  if (auto all = module->getAttrOfType<ArrayAttr>(kName))
    for (auto each : all.getAsRange<ArrayAttr>()) {
      auto text = [&](unsigned n) { return cast<StringAttr>(each[n]).getValue().str(); };
      auto to = llvm::find(kTo, text(2)) - std::begin(kTo);
      products.push_back({static_cast<MovedProduct::To>(to), text(0), text(1), text(3)});
    }
  return products;
}

void addMoved(ModuleOp module, ArrayRef<MovedProduct> products) {
  std::vector<MovedProduct> known = movedProducts(module);
  std::set<MovedProduct> all(known.begin(), known.end());
  all.insert(products.begin(), products.end());
  if (all.empty())
    return;
  Builder b(module.getContext());
  SmallVector<Attribute> entries;
  for (const MovedProduct &each : all)
    entries.push_back(b.getStrArrayAttr({each.place, each.matrix, kTo[static_cast<int>(each.to)], each.of}));
  module->setAttr(kName, b.getArrayAttr(entries));
}

} // namespace dbc::passes
