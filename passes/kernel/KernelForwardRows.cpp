// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-forward-rows: operands' rows are found in index arrays, not in a copy of these numbers.
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-forward-rows"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELFORWARDROWS
#include "passes/Passes.h.inc"

namespace {

/// Copies of the row numbers of a block of rows.
class RowNumbers {
public:
  explicit RowNumbers(kernel::BlocksOp blocks)
      : first_(blocks.getBody().getArgument(0)), count_(blocks.getBody().getArgument(1)) {}

  /// Whether a local is nothing but that: all its readers go through the index array then.
  bool forward(kernel::LocalOp local) {
    kernel::WriteOp write;
    SmallVector<kernel::RowsOp> readers;
    for (Operation *user : local->getUsers()) {
      auto rows = dyn_cast<kernel::RowsOp>(user);
      if (rows && rows.getVia() == local.getResult() && !rows.getCopy())
        readers.push_back(rows);
      else if (write || !(write = dyn_cast<kernel::WriteOp>(user)))
        return false;
    }
    kernel::LoadOp load = write ? loadOf(write) : kernel::LoadOp();
    if (!load || readers.empty())
      return false;
    for (kernel::RowsOp rows : readers) {
      OpBuilder b(rows);
      auto through = kernel::RowsOp::create(
          b, rows.getLoc(), rows.getType(), rows.getArrayAttr(), /*via=*/Value(), first_, /*local=*/Value(),
          /*copy=*/Value(), rows.getOffsetAttr(), load.getArrayAttr(), load.getIndexArrayAttr());
      rows.replaceAllUsesWith(through.getResult());
      rows.erase();
    }
    Operation *loop = write->getParentOp();
    write.erase();
    local.erase();
    if (isOpTriviallyDead(loop))
      loop->erase();
    return true;
  }

private:
  /// What `local[i] = set.array[first + i]` loads, for each row i of the block; null where it is something
  /// else.
  kernel::LoadOp loadOf(kernel::WriteOp write) {
    auto loop = dyn_cast<kernel::ForOp>(write->getParentOp());
    auto load = write.getValue().getDefiningOp<kernel::LoadOp>();
    if (!loop || loop.getHigh() != count_ || !matchPattern(loop.getLow(), m_Zero()) || !load ||
        !load.getIndexArray())
      return {};
    Value i = loop.getBody().getArgument(0);
    return kernel::isSumOf(load.getIndices()[0], first_, i) && write.getIndices().size() == 1 &&
                   write.getIndices()[0] == i
               ? load
               : kernel::LoadOp();
  }

  Value first_, count_;
};

struct KernelForwardRowsPass : impl::KernelForwardRowsBase<KernelForwardRowsPass> {
  void runOnOperation() override {
    getOperation().walk([&](kernel::BlocksOp blocks) {
      auto func = blocks->getParentOfType<kernel::FuncOp>();
      SmallVector<kernel::LocalOp> locals(func.getBody().front().getOps<kernel::LocalOp>());
      for (kernel::LocalOp local : locals) {
        const Location at = local.getLoc();
        if (!RowNumbers(blocks).forward(local))
          continue;
        LDBG() << "@" << func.getSymName() << ": " << at << " is no copy of row numbers";
        ++forwardedRows;
      }
    });
  }
};
} // namespace
} // namespace dbc::passes
