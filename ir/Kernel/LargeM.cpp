// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "ir/Kernel/LargeM.h"

using namespace mlir;

namespace dbc::kernel {

int64_t outputsOf(ProductOp product) {
  return llvm::product_of(cast<LocalType>(product.getInto().getType()).getShape().drop_front());
}

/// Whether an operation in a loop writes a local.
static bool isWrittenIn(Operation *loop, Value local) {
  return local && llvm::any_of(local.getUsers(), [&](Operation *user) {
           auto write = dyn_cast<WriteOp>(user);
           auto product = dyn_cast<ProductOp>(user);
           auto multiply = dyn_cast<MultiplyOp>(user);
           return loop->isAncestor(user) &&
                  ((write && write.getLocal() == local) || (product && product.getInto() == local) ||
                   (multiply && multiply.getInto() == local));
         });
}

ProductOp productOfTiles(FuncOp func) {
  SmallVector<ProductOp> products;
  func.walk([&](ProductOp product) { products.push_back(product); });
  if (products.size() != 1 || !func.getTiles() || !products.front().getSums())
    return {};
  ProductOp product = products.front();
  auto loop = dyn_cast<ForOp>(product->getParentOp());
  if (!loop || loop.getLow() != func.getBody().getArgument(2))
    return {};
  for (Operation &before : loop.getBody().front()) {
    if (&before == product)
      break;
    if (!isValue(&before) && !isa<BarrierOp, RowsOp>(before))
      return {};
  }
  for (Value operand : product.getX()) {
    auto rows = operand.getDefiningOp<RowsOp>();
    if (isWrittenIn(loop, rows.getLocal()) || isWrittenIn(loop, rows.getVia()))
      return {};
  }
  const bool isOfLoop =
      llvm::all_of(product.getInto().getUsers(), [&](Operation *user) { return loop->isAncestor(user); });
  return isOfLoop ? product : ProductOp();
}

/// The product whose numbers a local is for: what it gives, or what warps add up. Null: none.
static ProductOp productOf(LocalOp local) {
  for (Operation *user : local->getUsers())
    if (auto product = dyn_cast<ProductOp>(user))
      if (product.getInto() == local.getResult() || product.getSums() == local.getResult())
        return product;
  return {};
}

/// The bytes of a local in blocks with so many tiles, of which `ofTiles` is the product, at once.
static int64_t bytesOf(LocalOp local, ProductOp ofTiles, int64_t tiles) {
  ProductOp product = productOf(local);
  if (!product || product != ofTiles)
    tiles = 1;
  if (!isOfRows(local))
    return largeMScratch(largeMNTiles(outputsOf(product), tiles), product.getX().size());
  const ArrayRef<int64_t> shape = local.getType().getShape();
  Type element = local.getType().getElement();
  const int64_t ofRow = llvm::product_of(shape.drop_front()) * (element.isInteger(1) ? 1 : 4);
  return tiles * kLargeMRows * llvm::alignTo(ofRow, 4);
}

static int64_t bytesOf(FuncOp func, ProductOp ofTiles, int64_t tiles) {
  int64_t sum = 0, common = 0;
  func.walk([&](LocalOp local) {
    if (local->use_empty())
      return;
    const int64_t bytes = bytesOf(local, ofTiles, tiles);
    (isOfRows(local) ? sum : common) = isOfRows(local) ? sum + bytes : std::max(common, bytes);
  });
  return sum + common;
}

// What a block of threads has on sm_80 and sm_90; where it has less, small tiles are taken in place of larger
// ones.
static constexpr int64_t kMostShared = 160 << 10;

int64_t largeMTiles(FuncOp func) {
  ProductOp product = productOfTiles(func);
  if (!product)
    return 1;
  // Two of a block's warps share the outputs, halves of N tiles.
  const int64_t ofTile = llvm::divideCeil(outputsOf(product), kNTile / 2), tiles = *func.getTiles();
  for (int64_t n = 2 * kMostNTilesOfWarp / ofTile * 2; n > 1; n -= 2) {
    const bool fill =
        int64_t(llvm::divideCeil(tiles, n)) * n * 5 <= tiles * 6; // few of the last block's are in vain
    if (fill && bytesOf(func, product, n) <= kMostShared)
      return n;
  }
  return 1;
}

int64_t largeMBytes(FuncOp func) { return bytesOf(func, productOfTiles(func), largeMTiles(func)); }
int64_t largeMBytes(LocalOp local) {
  auto func = local->getParentOfType<FuncOp>();
  return bytesOf(local, productOfTiles(func), largeMTiles(func));
}
bool fitsLargeM(FuncOp func) { return largeMBytes(func) <= kMostShared; }

} // namespace dbc::kernel
