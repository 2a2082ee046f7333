// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the reads of a loss's stages contribute to adjoints, and the adjoints that are formed of it.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/batch/AdjointElements.h"
#include "passes/batch/Adjoints.h"

using namespace mlir;

namespace dbc::passes {

void Adjoints::findReads() {
  SmallVector<batch::StageOp> stages;
  program.walk([&](batch::StageOp stage) { stages.push_back(stage); });
  for (batch::StageOp stage : stages)
    for (auto op : stage.getBody().front().getOps<batch::AccessOpInterface>())
      if (!op.isWrite() && activity.isActive(op->getResult(0)) && !activity.isOfParams(op->getResult(0)))
        addRead(stage, op);
}

/// Whether each element of a list contributes what the stage's row has.
static bool contributesByRow(batch::SegmentOp segment) {
  return !segment.getCount() &&
         (segment.getKind() == dyn::ReduceKind::Sum || segment.getKind() == dyn::ReduceKind::Mean);
}

void Adjoints::addRead(batch::StageOp stage, batch::AccessOpInterface op) {
  const AdjointDeclarations::Rows rows = declare.rowsOf(op.getArrayAttr());
  Read &read = allReads.emplace_back();
  read.op = op;
  FlatSymbolRefAttr indexSet = stage.getIndexSetAttr(), elements;
  bool storesAll = false; // each row has one that stores there
  if (auto gather = dyn_cast<batch::GatherOp>(op.getOperation())) {
    auto relation = declare.find<batch::RelationOp>(gather.getRelationAttr());
    if (relation.getToAttr() != rows.indexSet) // to rows of the batch
      relation =
          declare.relation(op->getLoc(), relation.getFromAttr(), relation.getIndexArray(), rows.indexSet);
    // Not within one index set: the contribution would be read as the row's own, though another row stores
    // it, in another step or level of the loop, and no relation is there to say which.
    if (multiplicities.of(relation) == batch::Multiplicity::OneToOne &&
        relation.getFromAttr() != rows.indexSet) {
      read.storeBy = FlatSymbolRefAttr::get(relation);
      storesAll = multiplicities.areAligned(relation.getFrom(), relation.getIndexArray(), op.getArray());
      indexSet = rows.indexSet;
    } else {
      read.list = FlatSymbolRefAttr::get(declare.transpose(relation));
    }
  } else if (auto segment = dyn_cast<batch::SegmentOp>(op.getOperation())) {
    elements = FlatSymbolRefAttr::get(declare.elements(segment));
    batch::RelationOp toElement = declare.relation(op->getLoc(), elements, kernel::kRowArray, rows.indexSet);
    read.list = FlatSymbolRefAttr::get(declare.transpose(toElement));
    if (contributesByRow(segment))
      read.via =
          FlatSymbolRefAttr::get(declare.relation(op->getLoc(), elements, kernel::kParentArray, indexSet));
    else
      indexSet = elements;
  }
  kernel::BufferOp contribution = declare.buffer(
      op->getLoc(), stage.getIndexSet() + "." + op.getArray() + ".adjoint", indexSet, rows.type);
  read.contribution = FlatSymbolRefAttr::get(contribution);
  if ((read.storeBy && !storesAll) || (stage.getWhen() && indexSet != elements))
    cleared.push_back(contribution); // at rows that nothing reads, or that a `while` has ended
  reads[op.getArray()].push_back(&read);
  readOf[op] = &read;
}

/// The adjoint of a buffer's row: this one, or the one that the relation `at` leads to. Null where nothing
/// that the loss depends on reads it.
Value Adjoints::adjointOf(OpBuilder &b, Location loc, StringRef buffer, Type type, FlatSymbolRefAttr at) {
  Value sum;
  auto addUp = [&](Value value) {
    sum = sum ? arith::AddFOp::create(b, loc, sum, value).getResult() : value;
  };
  for (Read *read : reads[buffer]) {
    if (read->list)
      addUp(batch::SegmentOp::create(b, loc, type, dyn::ReduceKind::Sum, read->contribution, read->list,
                                     read->via, read->op.getCarriedAttr(), at));
    else if (at)
      addUp(batch::GatherOp::create(b, loc, type, read->contribution, at,
                                    read->storeBy ? read->op.getCarriedAttr() : FlatSymbolRefAttr(),
                                    IntegerAttr()));
    else
      addUp(batch::ReadOp::create(b, loc, type, read->contribution.getValue()));
  }
  return sum;
}

/// A stage over all rows that a field or argument has in the batch: the gradient of each is what all reads of
/// it contribute. Of one that the loss does not depend on there is none.
void Adjoints::sumInput(FlatSymbolRefAttr array, OpBuilder &b) {
  if (reads[array.getValue()].empty())
    return;
  const AdjointDeclarations::Rows rows = declare.rowsOf(array);
  Location loc = reads[array.getValue()].front()->op->getLoc();
  kernel::BufferOp gradient = declare.buffer(loc, array.getValue() + ".gradient", rows.indexSet, rows.type);
  batch::StageOp stage = declare.stage(b, loc, batch::StageRole::Gradient, rows.indexSet);
  OpBuilder in = OpBuilder::atBlockEnd(&stage.getBody().front());
  Value sum = adjointOf(in, loc, array.getValue(), rows.type, {});
  batch::WriteOp::create(in, loc, sum, gradient.getSymName());
  declare.inputGradient(array, gradient.getSymName());
}

/// The buffer over the stage's index set that holds a value of it; one is made where the stage writes none.
FlatSymbolRefAttr Adjoints::inBuffer(StageCopy &copy, Value adjoint, const Twine &name) {
  auto read = adjoint.getDefiningOp<batch::ReadOp>(); // a read may also be of the model's row
  if (read && declare.rowsOf(read.getBufferAttr()).indexSet == copy.to.getIndexSetAttr())
    return read.getBufferAttr();
  if (auto tensor = dyn_cast<RankedTensorType>(adjoint.getType()); tensor && tensor.getRank() == 0)
    adjoint = tensor::ExtractOp::create(copy.b, adjoint.getLoc(), adjoint, ValueRange());
  for (Operation *user : adjoint.getUsers())
    if (auto write = dyn_cast<batch::WriteOp>(user); write && write->getParentOp() == copy.to)
      return write.getBufferAttr();
  auto buffer = FlatSymbolRefAttr::get(
      declare.buffer(adjoint.getLoc(), name, copy.to.getIndexSetAttr(), adjoint.getType()));
  batch::WriteOp::create(copy.b, adjoint.getLoc(), adjoint, buffer.getValue());
  return buffer;
}

void Adjoints::contribute(StageCopy &copy, Read &read, Value adjoint) {
  read.contributes = true;
  OpBuilder &b = copy.b;
  Location loc = read.op->getLoc();
  auto segment = dyn_cast<batch::SegmentOp>(read.op.getOperation());
  if (segment && !read.via) { // by element
    FlatSymbolRefAttr buffer = inBuffer(copy, adjoint, declare.nameOf(segment.getResult()) + ".adjoint");
    OpBuilder behind(copy.to->getContext());
    behind.setInsertionPointAfter(copy.to);
    AdjointElements(declare, behind, segment).contribute(buffer, read.contribution);
    return;
  }
  if (segment && segment.getKind() == dyn::ReduceKind::Mean) {
    auto list = declare.find<batch::ListRelationOp>(segment.getListAttr());
    Value length = batch::ReadIndexOp::create(b, loc, b.getI32Type(), list.getLength());
    Value count = arith::SIToFPOp::create(b, loc, b.getF32Type(), length);
    if (isa<RankedTensorType>(adjoint.getType()))
      count = dyn::BroadcastOp::create(b, loc, adjoint.getType(), count);
    adjoint = arith::DivFOp::create(b, loc, adjoint, count);
  }
  if (read.storeBy)
    batch::ScatterOp::create(b, loc, adjoint, read.contribution.getValue(), read.storeBy.getValue());
  else
    batch::WriteOp::create(b, loc, adjoint, read.contribution.getValue());
}

} // namespace dbc::passes
