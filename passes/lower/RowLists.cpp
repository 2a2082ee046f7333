// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/RowLists.h"

using namespace mlir;

namespace dbc::passes {

void RowLists::lower(OpBuilder &declarations) {
  auto distincts = from.getBody().front().getOps<batch::DistinctOp>();
  auto transposes = from.getBody().front().getOps<batch::TransposeOp>();
  auto schedules = cast<kernel::ProgramOp>(names.getOp()).getOps<kernel::ScheduleOp>();
  if (distincts.empty() && transposes.empty())
    return;
  assert(!schedules.empty() && "what has rows has a schedule");
  OpBuilder b = OpBuilder::atBlockEnd(&(*schedules.begin()).getBody().front());
  for (batch::DistinctOp distinct : distincts)
    if (distinct.getNumbers())
      computed[distinct.getIndexSet()].distinct = distinct;
    else
      make(distinct, b);
  for (batch::TransposeOp op : transposes) {
    const Transpose transpose = declare(op, declarations); // may add an order of the inputs to the schedule
    if (auto found = computed.find(transpose.to.getValue()); found != computed.end())
      found->second.transposes.push_back(transpose);
    else
      make(transpose, b);
  }
}

void RowLists::lowerBefore(batch::StageOp stage, OpBuilder &launches) {
  auto found = computed.find(stage.getIndexSet());
  if (found == computed.end())
    return;
  assert(!found->second.isMade && "the gradient of a table is one stage");
  found->second.isMade = true;
  make(found->second.distinct, launches);
  for (const Transpose &transpose : found->second.transposes)
    make(transpose, launches);
}

RowLists::Transpose RowLists::declare(batch::TransposeOp op, OpBuilder &declarations) {
  auto indexSet =
      kernel::IndexSetOp::create(declarations, op.getLoc(), op.getSymName(), kernel::IndexSetKind::Transpose,
                                 {kernel::kRowArray, kernel::kBeginArray});
  names.insert(indexSet);
  Transpose transpose{
      op.getLoc(), FlatSymbolRefAttr::get(indexSet), {}, op.getToAttr(), op.getNumbersAttr(), {}, {}};
  if (op.getNumbers()) {
    transpose.from = relations.lookup<kernel::BufferOp>(*op.getNumbers()).getIndexSetAttr();
  } else {
    auto relation = relations.lookup<batch::RelationOp>(*op.getRelation());
    transpose.from = relation.getFromAttr();
    transpose.to = relation.getToAttr();
    transpose.indexArray = relation.getIndexArrayAttr();
  }
  auto rowsOf = [&](FlatSymbolRefAttr name) { return names.lookup<kernel::IndexSetOp>(name.getAttr()); };
  transpose.order = orders.ofLists(rowsOf(transpose.from), rowsOf(transpose.to));
  return transpose;
}

void RowLists::make(batch::DistinctOp op, OpBuilder &b) {
  kernel::DistinctOp::create(b, op.getLoc(), op.getIndexSetAttr(), op.getFromAttr(), op.getIndexArraysAttr(),
                             op.getRowsAttr(), op.getNumbersAttr(), op.getAlwaysAttr());
}

void RowLists::make(const Transpose &transpose, OpBuilder &b) {
  kernel::TransposeOp::create(b, transpose.loc, transpose.indexSet, transpose.from, transpose.indexArray,
                              transpose.numbers, transpose.to, transpose.order);
}

} // namespace dbc::passes
