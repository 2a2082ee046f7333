// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenWalk.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dbc::passes {

Walk::Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, Operation *owner,
           IndexSetInfo *indexSet)
    : program(program), cells(cells), structure(func, owner), env(structure), stages(program, structure, env),
      arithmetic(program, structure, env, stages), lists(program, structure),
      copies(program, structure, stages, lists), listOperations(structure, env, stages, lists, copies),
      binders(program, structure, env, stages, lists, *this),
      recurrences(program, structure, env, stages, lists, copies, *this),
      branches(program, structure, env, stages, copies, *this),
      calls(program, cells, structure, env, lists, *this),
      results(program, cells, structure, stages, env, lists) {
  if (!structure.isIndex())
    return;
  Region &body = func.getBody();
  top = {indexSet, body.getArgument(0)};
  for (auto [array, argument] : llvm::enumerate(body.getArguments().drop_front())) {
    indexSet->values.push_back(argument);
    indexSet->arrayOf[argument] = array;
  }
}

LogicalResult Walk::run() {
  if (structure.is(kernel::FuncKind::Slot))
    calls.slotFunction();
  else
    body();
  return failure(env.hasFailed());
}

void Walk::body() {
  Region &region = structure.owner()->getRegion(0);
  auto arguments = structure.function().getBody().getArguments().drop_front(structure.isIndex() ? 1 : 0);
  if (dyn::CellOp cell = structure.ownerCell()) {
    calls.bindKeys(cell, region.front(), SmallVector<Value>(arguments));
    // Instances of a node's one key are no more than the input has nodes.
    if (!structure.isIndex() && !dyn::secondaryKeys(cell).empty())
      structure.reserveMemory(cell.getLoc(), structure.integer(1), cells[cell.getSymNameAttr()].indexSet);
  } else {
    for (BlockArgument argument : region.getArguments())
      if (!argument.use_empty())
        bindArgument(argument, argument.getArgNumber(), arguments[0]);
  }
  walkBlock(region.front(), top);
  if (structure.isIndex())
    stages.push(top);
}

void Walk::walkBlock(Block &block, RowContext at) {
  for (Operation &op : block)
    walkOperation(&op, at);
}

void Walk::walkOperation(Operation *op, RowContext at) {
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](dyn::FieldOp op) { field(op); })
      .Case([&](dyn::ArgumentOp op) {
        OpBuilder &b = structure.builder();
        bindArgument(op.getResult(), op.getComponent(),
                     kernel::InputOp::create(b, op.getLoc(), b.getI32Type()));
      })
      .Case([&](dyn::OptimizationBarrierOp op) { arithmetic.captured(op, at); })
      .Case([&](dyn::CalledByOp op) { calls.calledBy(op); })
      .Case([&](dyn::CallerOp op) { calls.caller(op); })
      .Case([&](dyn::CallOp op) { calls.call(op, at); })
      .Case([&](dyn::MatchOp op) { branches.match(op, at); })
      .Case([&](dyn::IfOp op) { branches.branch(op, at); })
      .Case([&](dyn::MapOp op) { binders.map(op, at); })
      .Case([&](dyn::FilterOp op) { binders.filter(op, at); })
      .Case([&](dyn::ScanOp op) { recurrences.scan(op, at); })
      .Case([&](dyn::FoldOp op) { recurrences.fold(op, at); })
      .Case([&](dyn::ReduceListOp op) { listOperations.reduce(op, at); })
      .Case([&](dyn::NodesOp op) { listOperations.nodes(op); })
      .Case([&](dyn::EmptyOp op) { listOperations.empty(op); })
      .Case([&](dyn::RangeOp op) { listOperations.range(op); })
      .Case([&](dyn::LenOp op) { listOperations.length(op); })
      .Case([&](dyn::ZipOp op) { listOperations.zip(op); })
      .Case([&](dyn::ReverseOp op) { listOperations.reverse(op); })
      .Case([&](dyn::SliceOp op) { listOperations.slice(op); })
      .Case([&](dyn::AtOp op) { listOperations.at(op, at); })
      .Case([&](dyn::ReturnOp op) { results.returned(op, at); })
      .Case([&](dyn::DropoutOp op) { arithmetic.dropout(op, at); })
      .Case<dyn::YieldOp, dyn::NeedOp>([](Operation *) {})
      .Default([&](Operation *op) { arithmetic.operation(op, at); });
}

/// A flat argument of the entry.
void Walk::bindArgument(Value value, unsigned component, Value input) {
  auto array = [&](kernel::FieldArray which, int level) {
    return program.argumentArray(component, which, value.getType(), level);
  };
  env.set(value, lists.fromArray(value.getLoc(), value.getType(), input, array));
}

void Walk::field(dyn::FieldOp op) {
  dyn::DataOp data = program.dataOf(op.getNode().getType());
  bool inCells = bool(structure.ownerCell());
  auto array = [&](kernel::FieldArray which, int level) {
    return program.fieldArray(data, op.getCtor().value_or(""), op.getName(), which, op.getType(), level,
                              inCells);
  };
  env.set(op.getResult(), lists.fromArray(op.getLoc(), op.getType(), env.structural(op.getNode()), array));
}

} // namespace dbc::passes
