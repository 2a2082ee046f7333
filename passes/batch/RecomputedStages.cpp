// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/RecomputedStages.h"
#include "ir/Dyn/RowOps.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/batch/StageGraph.h"

using namespace mlir;

namespace dbc::passes {

RecomputedStages::RecomputedStages(kernel::ProgramOp program, batch::StageOp firstAdjoint,
                                   AdjointDeclarations &declare)
    : program(program), declare(declare) {
  for (Operation *op = firstAdjoint; op; op = op->getNextNode())
    op->walk([&](batch::StageOp stage) { adjoint.insert(stage); });
  find();
}

static batch::StageOp stageOf(Operation *op) { return op->getParentOfType<batch::StageOp>(); }

bool RecomputedStages::isInner(StringRef buffer, batch::WriteOp write) const {
  auto from = stageOf(write);
  if (adjoint.contains(from) || from.getWhen() ||
      declare.find<kernel::IndexSetOp>(from.getIndexSetAttr()).getKind() == kernel::IndexSetKind::Model)
    return false;
  auto known = readers.find(buffer);
  return known != readers.end() && llvm::all_of(known->second, [&](Operation *op) {
           auto read = dyn_cast<batch::ReadOp>(op);
           auto stage = stageOf(op);
           return read && stage.getIndexSetAttr() == from.getIndexSetAttr() && !stage.getWhen() &&
                  !(adjoint.contains(stage) && stage.accumulates());
         });
}

void RecomputedStages::find() {
  program.walk([&](batch::AccessOpInterface access) {
    if (!access.isWrite())
      readers[access.getArray()].push_back(access);
    if (auto segment = dyn_cast<batch::SegmentOp>(access.getOperation()); segment && segment.getNumbers())
      readers[*segment.getNumbers()].push_back(access);
  });
  for (auto &[buffer, reads] : readers)
    if (llvm::any_of(reads, [&](Operation *op) { return adjoint.contains(stageOf(op)); }))
      kept.insert(buffer);
  const llvm::StringMap<batch::WriteOp> writes = soleWrites(program);
  const llvm::StringSet<> results = kernel::resultsOf(program);
  for (auto buffer : program.getBody().front().getOps<kernel::BufferOp>()) {
    StringRef name = buffer.getSymName();
    batch::WriteOp write = writes.lookup(name);
    if (!write || results.contains(name) || !isInner(name, write))
      continue;
    Inner &found = inner[name];
    found.write = write;
    for (Operation *op : readers[name])
      if (adjoint.contains(stageOf(op)))
        found.late.push_back(cast<batch::ReadOp>(op));
  }
}

bool RecomputedStages::inputsOf(batch::WriteOp write, bool cheap, llvm::SetVector<StringRef> &buffers) const {
  SetVector<Operation *> slice;
  BackwardSliceOptions within;
  within.filter = [&](Operation *op) { return op->getBlock() == write->getBlock(); };
  within.inclusive = false;
  (void)getBackwardSlice(write.getOperation(), &slice, within);
  for (Operation *op : slice) {
    if (dyn::mayFail(op))
      return false;
    if (auto access = dyn_cast<batch::AccessOpInterface>(op)) {
      if (cheap && isa<batch::SegmentOp>(op))
        return false;
      if (declare.find<kernel::BufferOp>(access.getArrayAttr()))
        buffers.insert(access.getArray());
      continue;
    }
    if (!isMemoryEffectFree(op))
      return false;
    if (cheap && (dyn::isRowOp(op, dyn::RowKind::Product) || dyn::isRowOp(op, dyn::RowKind::Reduction)))
      return false;
  }
  return true;
}

/// Whether a buffer can be found again. Decided once: many stages may read it.
bool RecomputedStages::choose(StringRef buffer, Recompute how) {
  auto found = inner.find(buffer);
  if (found == inner.end())
    return false;
  Inner &each = found->second;
  if (each.isDecided)
    return each.isChosen;
  each.isDecided = true;
  if (!inputsOf(each.write, how == Recompute::Cheap, each.inputs))
    return false;
  // What is not kept, and cannot be found again itself, would have to live on, for no less memory. What other
  // rows read is kept in any case.
  each.isChosen = llvm::all_of(each.inputs, [&](StringRef input) {
    return choose(input, how) || kept.contains(input) || (how == Recompute::Cells && !inner.contains(input));
  });
  return each.isChosen;
}

/// The copy of a buffer for the block of a stage that reads it; where there is none a stage is copied in
/// front of the reader, after those that it needs itself.
StringRef RecomputedStages::again(StringRef buffer, batch::StageOp reader) {
  std::string &copy = copies[{reader->getBlock(), buffer.str()}];
  if (!copy.empty())
    return copy;
  const Inner &each = inner.find(buffer)->second;
  batch::WriteOp write = each.write;
  auto from = stageOf(write);
  llvm::StringMap<StringRef> renamed;
  for (StringRef input : each.inputs)
    if (auto found = inner.find(input); found != inner.end() && found->second.isChosen)
      renamed[input] = again(input, reader);
  OpBuilder b(reader);
  batch::StageOp to = declare.stage(b, from.getLoc(), batch::StageRole::Again, from.getIndexSetAttr());
  OpBuilder in = OpBuilder::atBlockEnd(&to.getBody().front());
  IRMapping values;
  for (Operation &op : from.getBody().front()) {
    if (batch::isWrite(&op))
      continue;
    Operation *cloned = in.clone(op, values);
    if (auto read = dyn_cast<batch::ReadOp>(cloned))
      if (StringRef name = renamed.lookup(read.getBuffer()); !name.empty())
        read.setBuffer(name);
  }
  auto original = declare.find<kernel::BufferOp>(write.getBufferAttr());
  kernel::BufferOp made =
      declare.buffer(original.getLoc(), buffer + ".again", original.getIndexSetAttr(), original.getType());
  batch::WriteOp::create(in, write.getLoc(), values.lookup(write.getValue()), made.getSymName());
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(to.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
  copy = made.getSymName().str();
  return copy;
}

unsigned RecomputedStages::run(Recompute how) {
  if (how == Recompute::None)
    return 0;
  SmallVector<StringRef> wanted;
  for (auto &[buffer, each] : inner)
    if (!each.late.empty() && choose(buffer, how))
      wanted.push_back(buffer);
  llvm::DenseMap<Operation *, SmallVector<batch::ReadOp>> reads;
  for (StringRef buffer : wanted)
    for (batch::ReadOp read : inner[buffer].late)
      reads[stageOf(read)].push_back(read);
  SmallVector<batch::StageOp> stages; // in order, so that a copy stands in front of all that read it
  program.walk([&](batch::StageOp stage) {
    if (reads.contains(stage))
      stages.push_back(stage);
  });
  for (batch::StageOp stage : stages)
    for (batch::ReadOp read : reads[stage])
      read.setBuffer(again(read.getBuffer(), stage));
  return wanted.size();
}

} // namespace dbc::passes
