// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-sink-takes: a row of a parameter is taken where it is used, not kept in a buffer from one stage to
// another. A product with one of several matrices then knows that it is one, and reads the packed weights.
#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/StageGraph.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHSINKTAKES
#include "passes/Passes.h.inc"

namespace {
struct BatchSinkTakesPass : impl::BatchSinkTakesBase<BatchSinkTakesPass> {
  void runOnOperation() override {
    getOperation().walk([](batch::ProgramOp program) {
      llvm::StringMap<batch::WriteOp> writes = soleWrites(program);
      SmallVector<batch::ReadOp> reads;
      program.walk([&](batch::ReadOp read) { reads.push_back(read); });
      for (batch::ReadOp read : reads) {
        batch::WriteOp write = writes.lookup(read.getBuffer());
        auto take = write ? write.getValue().getDefiningOp<dyn::TakeOp>() : dyn::TakeOp();
        if (take && isMovable(take))
          sink(take, read);
      }
    });
  }

  /// A row of a parameter by a number that every stage over the space can read, and no check of the number.
  static bool isMovable(dyn::TakeOp take) {
    return !take.getChecked() && take.getTensor().getDefiningOp<dyn::GetOp>() &&
           isa_and_nonnull<batch::ColumnOp, batch::ReadOp>(take.getIndex().getDefiningOp());
  }

  static void sink(dyn::TakeOp take, batch::ReadOp read) {
    auto from = take->getParentOfType<batch::StageOp>(), to = read->getParentOfType<batch::StageOp>();
    if (from == to || from.getSpace() != to.getSpace())
      return;
    OpBuilder b(read);
    IRMapping map;
    for (Value operand : take->getOperands())
      b.clone(*operand.getDefiningOp(), map);
    read.replaceAllUsesWith(b.clone(*take, map)->getResult(0));
    read.erase();
  }
};
} // namespace
} // namespace dbc::passes
