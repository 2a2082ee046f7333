// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-graph: which programs a GPU may run as one graph of launches.
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-graph"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELGRAPH
#include "passes/Passes.h.inc"

namespace {

/// Why the launches of a program are not known before the first of them, and where in the source; empty: they
/// are.
std::string whyNot(kernel::RunOp run, SymbolTable &names) {
  std::string reason;
  run.walk([&](Operation *op) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (isa<kernel::GradientsOp>(op) || op->getParentOfType<kernel::GradientsOp>()) {
      reason = "a run may want no gradients";
      return WalkResult::interrupt();
    }
    if (isa<kernel::MaskOp>(op) || (launch && launch.getActive()))
      reason = "a `while` says which rows there are";
    else if (isa<kernel::TimeStepLoopInterface>(op) &&
             !isa<kernel::RunOp, kernel::ConcurrentOp>(op->getParentOp()))
      reason = "a loop stands in another one";
    else if (kernel::GemmOp gemm =
                 launch ? kernel::gemmOf(names.lookup<kernel::FuncOp>(launch.getFunc())) : kernel::GemmOp()) {
      reason = "cuBLAS computes a product, at " + dyn::sourceLocation(gemm.getLoc());
      return WalkResult::interrupt();
    }
    if (reason.empty())
      return WalkResult::advance();
    // A loop's location is that of the scan or cell that it goes over, not that of its first stage.
    Operation *located = op;
    if (auto loop = dyn_cast<kernel::TimeStepLoopInterface>(op))
      located = names.lookup(loop.getCarrier());
    reason += ", at " + dyn::sourceLocation(located->getLoc());
    return WalkResult::interrupt();
  });
  return reason;
}

struct KernelGraphPass : impl::KernelGraphBase<KernelGraphPass> {
  void runOnOperation() override {
    getOperation().walk([&](kernel::RunOp run) {
      SymbolTable names(run->getParentOp());
      std::string reason = whyNot(run, names);
      LDBG() << "@" << run->getParentOfType<kernel::ProgramOp>().getSymName() << ": "
             << (reason.empty() ? "one graph" : reason);
      graphs += reason.empty();
      run.setGraph(reason.empty());
      if (!reason.empty())
        run.setNoGraphReason(reason);
    });
  }
};
} // namespace
} // namespace dbc::passes
