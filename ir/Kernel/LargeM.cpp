// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "ir/Kernel/LargeM.h"

using namespace mlir;

namespace dbc::kernel {

int64_t outputsOf(ProductOp product) {
  return llvm::product_of(cast<LocalType>(product.getInto().getType()).getShape().drop_front());
}

int64_t largeMTiles(ProductOp product) { return product.getLargeMTiles().value_or(1); }

/// The product whose numbers a local is for: what it gives, or what warps add up. Null: none.
static ProductOp productOf(LocalOp local) {
  for (Operation *user : local->getUsers())
    if (auto product = dyn_cast<ProductOp>(user))
      if (product.getInto() == local.getResult() || product.getSums() == local.getResult())
        return product;
  return {};
}

int64_t largeMTiles(LocalOp local) {
  ProductOp product = productOf(local);
  return product && product.getInto() == local.getResult() ? largeMTiles(product) : 1;
}

int64_t largeMTiles(FuncOp func) {
  int64_t tiles = 1;
  func.walk([&](ProductOp product) { tiles = std::max(tiles, largeMTiles(product)); });
  return tiles;
}

int64_t largeMBytes(LocalOp local) {
  if (!isOfRows(local)) {
    ProductOp product = productOf(local);
    return largeMScratch(largeMNTiles(outputsOf(product), largeMTiles(product)), product.getX().size());
  }
  const ArrayRef<int64_t> shape = local.getType().getShape();
  const int64_t ofRow =
      llvm::product_of(shape.drop_front()) * bytesOf(local.getType().getElement(), /*realBytes=*/4);
  return largeMTiles(local) * kLargeMRows * llvm::alignTo(ofRow, 4);
}

int64_t largeMBytes(FuncOp func) {
  int64_t sum = 0, common = 0;
  func.walk([&](LocalOp local) {
    if (local->use_empty())
      return;
    const int64_t bytes = largeMBytes(local);
    (isOfRows(local) ? sum : common) = isOfRows(local) ? sum + bytes : std::max(common, bytes);
  });
  return sum + common;
}

} // namespace dbc::kernel
