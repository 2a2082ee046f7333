// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-rematerialise-gathers: a row of a parameter is gathered again where it is used, not kept in a buffer
// from one stage to another. A product with one of several matrices then knows that it is one, and reads the
// packed weights. Where it is read by a relation, the number of a matrix is handed on in its place.
#include "ir/Batch/Batch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-rematerialise-gathers"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHREMATERIALISEGATHERS
#include "passes/Passes.h.inc"

namespace {
struct BatchRematerialiseGathersPass : impl::BatchRematerialiseGathersBase<BatchRematerialiseGathersPass> {
  void runOnOperation() override {
    getOperation().walk([&](kernel::ProgramOp program) {
      llvm::StringMap<batch::WriteOp> writes = soleWrites(program);
      SmallVector<batch::ReadOp> reads;
      program.walk([&](batch::ReadOp read) { reads.push_back(read); });
      for (batch::ReadOp read : reads) {
        batch::WriteOp write = writes.lookup(read.getBuffer());
        Operation *made = write ? write.getValue().getDefiningOp() : nullptr;
        auto gather = dyn_cast_or_null<dyn::GatherOp>(made);
        if (made && (gather ? isMovable(gather) : isOfIndices(made, kMostSteps)))
          rematerialise(made, read);
      }
      handIndicesOn(program, writes);
    });
  }

  /// Other index sets get the number of a matrix, not the matrix.
  void handIndicesOn(kernel::ProgramOp program, const llvm::StringMap<batch::WriteOp> &writes) {
    llvm::StringMap<FlatSymbolRefAttr> indices; // by the buffer of the matrices
    SymbolTable names(program);
    SmallVector<batch::GatherOp> gathers;
    program.walk([&](batch::GatherOp gather) { gathers.push_back(gather); });
    for (batch::GatherOp gather : gathers) {
      batch::WriteOp write = writes.lookup(gather.getArray());
      auto made = write ? write.getValue().getDefiningOp<dyn::GatherOp>() : dyn::GatherOp();
      const bool isMatrix = isRowOfParam(made) && made.getIndex().getType().isInteger(32) &&
                            dyn::extents(made.getType()).size() >= 2;
      if (!isMatrix)
        continue;
      FlatSymbolRefAttr &index = indices[gather.getArray()];
      if (!index)
        index = writeIndex(made, write, names);
      LDBG() << "@" << gather->getParentOfType<batch::StageOp>().getName() << " has the matrix of @"
             << gather.getArray() << " itself";
      ++rematerialisedReads;
      OpBuilder b(gather);
      Location loc = gather.getLoc();
      Value number = batch::GatherOp::create(b, loc, b.getI32Type(), index, gather.getRelationAttr(),
                                             gather.getCarriedAttr(), /*ago=*/IntegerAttr());
      Value table = b.clone(*made.getTensor().getDefiningOp())->getResult(0);
      gather.replaceAllUsesWith(
          dyn::GatherOp::create(b, loc, made.getType(), table, number, /*checked=*/false).getResult());
      gather.erase();
    }
  }

  /// A buffer of the number that a matrix is gathered by.
  static FlatSymbolRefAttr writeIndex(dyn::GatherOp made, batch::WriteOp write, SymbolTable &names) {
    auto matrices = names.lookup<kernel::BufferOp>(write.getBuffer());
    OpBuilder declare(matrices);
    auto buffer = kernel::BufferOp::create(declare, matrices.getLoc(), write.getBuffer() + ".index",
                                           matrices.getIndexSet(), declare.getI32Type());
    buffer->remove();
    names.insert(buffer, matrices->getIterator());
    OpBuilder b(write);
    batch::WriteOp::create(b, write.getLoc(), made.getIndex(), buffer.getSymName());
    return FlatSymbolRefAttr::get(buffer);
  }

  static bool isRowOfParam(dyn::GatherOp gather) {
    return gather && !gather.getChecked() && gather.getTensor().getDefiningOp<dyn::GetOp>();
  }

  /// A row of a parameter by a number that every stage over the index set can read, without a check of it.
  static bool isMovable(dyn::GatherOp gather) {
    return isRowOfParam(gather) &&
           isa_and_nonnull<batch::ReadIndexOp, batch::ReadOp>(gather.getIndex().getDefiningOp());
  }

  /// Operations on the way from an index to a value that is computed again by each reader: a conversion, a
  /// broadcast and a product.
  static constexpr int kMostSteps = 3;

  /// An index as a number, also at all positions of a tensor, times a parameter: `f32(len(xs)) * b`. To
  /// compute it costs less than to read it, and it may be wanted step by step though known before the first.
  static bool isOfIndices(Operation *op, int steps) {
    auto isCheap = [&](Value v) {
      return v.getDefiningOp<batch::ReadIndexOp>() || v.getDefiningOp<dyn::GetOp>() ||
             (v.getDefiningOp() && isOfIndices(v.getDefiningOp(), steps - 1));
    };
    if (steps == 0)
      return false;
    if (isa<dyn::BroadcastOp>(op) && !dyn::extents(op->getOperand(0).getType()).empty())
      return false;
    return isa<arith::SIToFPOp, dyn::BroadcastOp, arith::MulFOp>(op) &&
           llvm::all_of(op->getOperands(), isCheap);
  }

  void rematerialise(Operation *made, batch::ReadOp read) {
    auto from = made->getParentOfType<batch::StageOp>(), to = read->getParentOfType<batch::StageOp>();
    if (from == to || from.getIndexSet() != to.getIndexSet())
      return;
    LDBG() << "@" << to.getName() << " has the " << made->getName() << " of @" << read.getBuffer()
           << " itself";
    ++rematerialisedReads;
    OpBuilder b(read);
    IRMapping map;
    read.replaceAllUsesWith(copy(made, b, map)->getResult(0));
    read.erase();
  }

  static Operation *copy(Operation *made, OpBuilder &b, IRMapping &map) {
    for (Value operand : made->getOperands())
      if (!map.contains(operand))
        copy(operand.getDefiningOp(), b, map);
    return b.clone(*made, map);
  }
};
} // namespace
} // namespace dbc::passes
