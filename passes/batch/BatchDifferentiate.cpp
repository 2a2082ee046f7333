// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-differentiate: a loss's program computes its gradient too (reverse mode). See Adjoints.h.
#include "passes/Passes.h"
#include "passes/batch/Adjoints.h"
#include "llvm/Support/DebugLog.h"
#include <memory>

#define DEBUG_TYPE "batch-differentiate"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHDIFFERENTIATE
#include "passes/Passes.h.inc"

namespace {
struct BatchDifferentiatePass : impl::BatchDifferentiateBase<BatchDifferentiatePass> {
  void runOnOperation() override {
    SmallVector<std::unique_ptr<Adjoints>> losses;
    SparseTables tables;
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      if (!program.getLoss())
        continue;
      batch::OutputOp loss; // the first component; the others have no gradient
      for (auto output : program.getBody().front().getOps<batch::OutputOp>())
        if (output.getComponent() == 0)
          loss = output;
      LDBG() << "@" << program.getSymName() << " gets stages for its gradient";
      losses.push_back(
          std::make_unique<Adjoints>(program, program.lookupSymbol<batch::BufferOp>(loss.getBuffer())));
      tables.add(program, losses.back()->active());
    }
    for (auto &adjoints : losses) {
      if (failed(adjoints->run(tables)))
        return signalPassFailure();
      ++differentiatedLosses;
    }
  }
};
} // namespace
} // namespace dbc::passes
