// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-differentiate: a loss's program computes its gradient too (reverse mode). See Adjoints.h.
#include "passes/Passes.h"
#include "passes/batch/Adjoints.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-differentiate"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHDIFFERENTIATE
#include "passes/Passes.h.inc"

namespace {
struct BatchDifferentiatePass : impl::BatchDifferentiateBase<BatchDifferentiatePass> {
  void runOnOperation() override {
    for (auto program : llvm::to_vector(getOperation().getOps<batch::ProgramOp>())) {
      if (!program.getLoss())
        continue;
      batch::OutputOp loss; // the first component; the others have no gradient
      for (auto output : program.getBody().front().getOps<batch::OutputOp>())
        if (output.getComponent() == 0)
          loss = output;
      LDBG() << "@" << program.getSymName() << " gets stages for its gradient";
      if (failed(Adjoints(program, program.lookupSymbol<batch::BufferOp>(loss.getBuffer())).run()))
        return signalPassFailure();
      ++differentiatedLosses;
    }
  }
};
} // namespace
} // namespace dbc::passes
