// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/FlattenCalls.h"

using namespace mlir;

namespace dbc::passes {

void Calls::bindKeys(dyn::CellOp cell, Block &block, ValueRange numbers) {
  unsigned first = dyn::startsWithNode(cell) ? 0 : 1;
  for (BlockArgument argument : block.getArguments()) {
    Value number = numbers[first + argument.getArgNumber()];
    env.set(argument,
            AbstractValue::structural(structure.fromIndex(argument.getLoc(), argument.getType(), number)));
  }
}

void Calls::slotFunction() {
  CellInfo &cell = cells[structure.ownerCell().getSymNameAttr()];
  SmallVector<Value> arguments(structure.function().getBody().getArguments());
  Value slot = arguments[0];
  for (auto [k, key] : llvm::enumerate(dyn::secondaryKeys(cell.op))) {
    FlatSymbolRefAttr data;
    if (auto node = dyn_cast<dyn::NodeType>(key.getType()))
      data = node.getData();
    auto op =
        kernel::KeyOp::create(b, key.getLoc(), b.getI32Type(), cell.group, cell.number, k, slot,
                              arguments[k + 1], data, /*fixed=*/false, dyn::sourceLocation(key.getLoc()));
    slot = op.getResult();
    if (data)
      continue;
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&op.getRange().emplaceBlock());
    Block &range = cell.op.getRange(key.getArgNumber())->front();
    bindKeys(cell.op, range, arguments);
    walker.walkBlock(range, RowContext());
    SmallVector<Value> bounds;
    for (Value bound : range.getTerminator()->getOperands())
      bounds.push_back(env.structural(bound));
    kernel::YieldOp::create(b, key.getLoc(), bounds);
  }
  kernel::YieldOp::create(b, cell.op.getLoc(), slot);
}

/// The slot of the instance of a cell that has these keys.
Value Calls::slotIn(CellInfo &cell, Location loc, ValueRange keys) {
  if (keys.empty())
    return kernel::InputOp::create(b, loc, b.getI32Type());
  if (cell.slot.empty())
    return env.structural(keys[0]);
  return kernel::SlotOp::create(b, loc, b.getI32Type(), cell.slot, asIndices(keys), dyn::sourceLocation(loc));
}

SmallVector<Value> Calls::asIndices(ValueRange values) {
  SmallVector<Value> numbers;
  for (Value value : values)
    numbers.push_back(structure.asIndex(env.structural(value)));
  return numbers;
}

Value Calls::calledSlot(FlatSymbolRefAttr relation, Location loc, ValueRange keys) {
  dyn::RelationOp op = program.relationOf(relation);
  return slotIn(infoOf(op.getToAttr()), loc, keys);
}

void Calls::calledBy(dyn::CalledByOp op) {
  Value slot = calledSlot(op.getRelationAttr(), op.getLoc(), op.getKeys());
  env.set(op.getResult(), AbstractValue::structural(kernel::CalledByOp::create(b, op.getLoc(), b.getI1Type(),
                                                                               op.getRelation(), slot)));
}

void Calls::caller(dyn::CallerOp op) {
  Location loc = op.getLoc();
  Value slot = calledSlot(op.getRelationAttr(), loc, op.getKeys());
  for (auto [n, result] : llvm::enumerate(op.getResults())) {
    Value number = kernel::CallerOp::create(b, loc, b.getI32Type(), op.getRelation(), slot, n);
    env.set(result, AbstractValue::structural(structure.fromIndex(loc, result.getType(), number)));
  }
}

void Calls::call(dyn::CallOp op, RowContext at) {
  CellInfo &cell = infoOf(op.getCalleeAttr());
  // The instances of an `every` are called elsewhere.
  if (op.getEvery() && (structure.isIndex() || structure.is(kernel::FuncKind::Slot)))
    return every(op, cell);
  Value slot = slotIn(cell, op.getLoc(), op.getKeys());
  if (structure.isIndex())
    return results(op, cell, slot);
  kernel::CallOp::create(b, op.getLoc(), cell.group, cell.number, slot, op.getRelationAttr(),
                         asIndices(op.getOrigin()));
  return op.getEvery() ? every(op, cell) : calledLists(op, at);
}

/// What a call gives, in the rows of the callee: the relation is the callee's row for each row here.
void Calls::results(dyn::CallOp op, CellInfo &cell, Value slot) {
  Location loc = op.getLoc();
  Value row = kernel::RowOfOp::create(b, loc, cell.indexSet->name, slot);
  std::string carried;
  if (dyn::CellOp mine = structure.ownerCell())
    if (cells[mine.getSymNameAttr()].group == cell.group)
      carried = cell.group;
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      env.set(result, AbstractValue::stored(cell.results[k], row, carried));
      continue;
    }
    ListInfo info = cell.lists[k];
    info.first = structure.loadIndex(loc, b.getI32Type(), cell.indexSet->name, cell.firsts[k], row);
    info.length = structure.loadIndex(loc, b.getI32Type(), cell.indexSet->name, cell.lengths[k], row);
    env.set(result, AbstractValue::of(info));
  }
}

/// The nodes reachable from the call's own for which the cell is called with its secondary keys.
void Calls::every(dyn::CallOp op, CellInfo &cell) {
  Location loc = op.getLoc();
  auto node = cast<dyn::NodeType>(op.getKeys()[0].getType());
  ListInfo reachable = lists.reachable(loc, node, env.structural(op.getKeys()[0]));
  IndexSetInfo *indexSet =
      program.addIndexSet(loc, cell.op.getSymName().str() + ".every", kernel::IndexSetKind::States, nullptr);
  indexSet->addArray("node");
  indexSet->used = true;
  SmallVector<Value> keys = asIndices(op.getKeys());
  ListInfo called = reachable;
  called.of = indexSet->name;
  called.first = structure.count(loc, indexSet);
  structure.reserveMemory(loc, reachable.length, indexSet);
  structure.loop(loc, reachable.length, [&](Value j) {
    keys[0] = lists.element(reachable, j).scalar;
    Value isCalled = kernel::CalledOp::create(b, loc, b.getI1Type(), cell.group, cell.number, keys);
    structure.when(loc, isCalled, [&] { structure.push(loc, indexSet, keys[0]); });
  });
  called.length = structure.sub(structure.count(loc, indexSet), called.first);
  env.set(op.getResult(0), AbstractValue::of(called));
}

/// In the walk that writes calls: how long the lists are that a call gives is structure. The callee says,
/// which is no recursive cell (manual, C6): of its body only that is walked which lengths depend on.
void Calls::calledLists(dyn::CallOp op, RowContext at) {
  Block &body = infoOf(op.getCalleeAttr()).op.getBody().front();
  llvm::DenseSet<Operation *> walked; // for these keys
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<dyn::ListType>(result.getType())) {
      env.set(result, AbstractValue());
      continue;
    }
    // Not of a cell without lists: it may be the one that is being walked.
    for (auto [argument, key] : llvm::zip(body.getArguments(), op.getKeys()))
      env.set(argument, AbstractValue::structural(env.structural(key)));
    env.set(result, AbstractValue::of(lengthsIn(body.getTerminator()->getOperand(k), at, walked)));
  }
}

ListInfo Calls::lengthsIn(Value list, RowContext at, llvm::DenseSet<Operation *> &walked) {
  if (!isa<dyn::ListType>(cast<dyn::ListType>(list.getType()).getElement()))
    for (Value from = list; from; from = dyn::lengthFrom(from))
      list = from;
  if (auto call = list.getDefiningOp<dyn::CallOp>(); call && !call.getEvery()) { // not made here
    for (Value key : call.getKeys())
      walkFor(key, at, walked);
    calledLists(call, at);
  } else {
    walkFor(list, at, walked);
  }
  ListInfo info = env.lookup(list).list;
  return info.from == ListInfo::From::Lists ? info : lists.lengthsOf(info);
}

/// Walks what a value is made of.
void Calls::walkFor(Value value, RowContext at, llvm::DenseSet<Operation *> &walked) {
  Operation *op = value.getDefiningOp();
  if (!op || !walked.insert(op).second)
    return;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()))
        walkFor(operand, at, walked);
  });
  walker.walkOperation(op, at);
}

} // namespace dbc::passes
