// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/kernel/LargeMTiles.h"
#include "ir/Kernel/LargeM.h"

using namespace mlir;

namespace dbc::passes {

/// Whether an operation in a loop writes a local.
static bool isWrittenIn(Operation *loop, Value local) {
  return local && llvm::any_of(local.getUsers(), [&](Operation *user) {
           auto write = dyn_cast<kernel::WriteOp>(user);
           auto product = dyn_cast<kernel::ProductOp>(user);
           auto multiply = dyn_cast<kernel::MultiplyOp>(user);
           return loop->isAncestor(user) &&
                  ((write && write.getLocal() == local) || (product && product.getInto() == local) ||
                   (multiply && multiply.getInto() == local));
         });
}

/// The product that a block can compute for several of a stage's tiles, before it does the rest for one after
/// the other; null: none. It is the stage's only one, begins the loop over tiles that blocks share, and
/// nothing in the loop writes its operands.
static kernel::ProductOp productOfTiles(kernel::FuncOp func) {
  SmallVector<kernel::ProductOp> products;
  func.walk([&](kernel::ProductOp product) { products.push_back(product); });
  if (products.size() != 1 || !func.getTiles() || !products.front().getSums())
    return {};
  kernel::ProductOp product = products.front();
  auto loop = dyn_cast<kernel::ForOp>(product->getParentOp());
  if (!loop || loop.getLow() != func.getBody().getArgument(2))
    return {};
  for (Operation &before : loop.getBody().front()) {
    if (&before == product)
      break;
    if (!kernel::isValue(&before) && !isa<kernel::BarrierOp, kernel::RowsOp>(before))
      return {};
  }
  for (Value operand : product.getX()) {
    auto rows = operand.getDefiningOp<kernel::RowsOp>();
    if (isWrittenIn(loop, rows.getLocal()) || isWrittenIn(loop, rows.getVia()))
      return {};
  }
  const bool isOfLoop =
      llvm::all_of(product.getInto().getUsers(), [&](Operation *user) { return loop->isAncestor(user); });
  return isOfLoop ? product : kernel::ProductOp();
}

/// As many tiles at once as warps have registers for, and as there is shared memory for on every GPU.
static void chooseTiles(kernel::FuncOp func) {
  kernel::ProductOp product = productOfTiles(func);
  if (!product)
    return;
  // Two of a block's warps share the outputs, halves of N tiles.
  const int64_t ofOne = llvm::divideCeil(kernel::outputsOf(product), kernel::kNTile / 2),
                tiles = *func.getTiles();
  for (int64_t n = 2 * kernel::kMostNTilesOfWarp / ofOne * 2; n > 1; n -= 2) {
    product.setLargeMTiles(n);
    const bool fill =
        int64_t(llvm::divideCeil(tiles, n)) * n * 5 <= tiles * 6; // few of the last block's are in vain
    if (fill && kernel::largeMBytes(func) <= kernel::kSharedOfLargeM)
      return;
  }
  product.removeLargeMTilesAttr();
}

void addLargeM(kernel::FuncOp func) {
  if (func.getSums()) // a block has all rows
    return;
  int64_t rows = 0;
  bool tensorCores = false, shared = true;
  func.walk([&](Operation *op) {
    if (auto blocks = dyn_cast<kernel::BlocksOp>(op))
      rows = blocks.getSize();
    else if (auto product = dyn_cast<kernel::ProductOp>(op))
      tensorCores |= product.getSums() != nullptr;
    else if (auto local = dyn_cast<kernel::LocalOp>(op))
      shared &= local.getMemory() == kernel::Memory::Shared;
  });
  if (!tensorCores || !shared || rows != kernel::kMTile)
    return;
  chooseTiles(func);
  if (kernel::largeMBytes(func) <= kernel::kSharedOfLargeM)
    func.setLargeM(true);
}

} // namespace dbc::passes
