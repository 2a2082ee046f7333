// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/dyn/FrameCopy.h"
#include "ir/Dyn/Binders.h"
#include "mlir/IR/Matchers.h"
#include "passes/dyn/Integers.h"

using namespace mlir;

namespace dbc::passes {

Value FrameCopy::get(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  share(value);
  // Structure stays what it is: what a cell gives is computed.
  const bool isStructure = dyn::isNumber(value.getType()) && dyn::isStructural(value);
  if (auto by = cells.computed.find(value); by != cells.computed.end() && !isStructure) {
    const Frame &there = by->second.frame;
    size_t count = there.binders.size();
    if (there.function == frame.function && count <= frame.binders.size() &&
        llvm::equal(there.binders, llvm::ArrayRef(frame.binders).take_front(count))) {
      FrameKeys keys{at.keys, SmallVector<Value>(llvm::ArrayRef(at.positions).take_front(count))};
      Value result =
          LiftedCells::call(b, value.getLoc(), by->second.cell, keys.all()).getResult(by->second.result);
      map.map(value, result);
      return result;
    }
  }
  if (auto len = value.getDefiningOp<dyn::LenOp>()) {
    map.map(value, length(len.getList()));
    return map.lookup(value);
  }
  if (op) {
    clone(op);
    return map.lookup(value);
  }
  auto argument = cast<BlockArgument>(value);
  Operation *owner = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  Value copy;
  if (isa<dyn::EntryOp>(owner)) {
    copy = dyn::ArgumentOp::create(b, value.getLoc(), value.getType(), b.getI32IntegerAttr(number));
  } else if (owner == frame.function) {
    copy = at.keys[number];
  } else {
    auto binder = llvm::find(frame.binders, owner);
    assert(binder != frame.binders.end() && "a frame has all binders around it");
    Value position = at.positions[binder - frame.binders.begin()];
    ValueRange lists = dyn::listsOf(owner);
    if (number < lists.size()) {
      copy = element(lists[number], position);
    } else { // as many steps as there are elements before it
      Value steps = position;
      if (auto scan = dyn_cast<dyn::ScanOp>(owner); scan && scan.getBack()) {
        Value last = sub(b, owner->getLoc(), length(lists[0]), 1);
        steps = sub(b, owner->getLoc(), last, position);
      }
      copy = state(owner, number - lists.size(), steps);
    }
  }
  map.map(value, copy);
  return copy;
}

/// Lets a cell compute what does not depend on the innermost binder (manual, C8), unless that costs nothing.
void FrameCopy::share(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !frame.function || !dyn::isFlat(value.getType()) || cells.computed.contains(value) ||
      isa<dyn::FieldOp, dyn::ArgumentOp, dyn::CallOp, dyn::CalledByOp, dyn::CallerOp, dyn::ZipOp,
          dyn::RangeOp, dyn::ReverseOp, dyn::SliceOp, dyn::LenOp>(op))
    return;
  if (dyn::isEnded(value)) // a cell gives no list whose length is computed (manual, S4)
    return;
  SmallVector<Operation *> around = LiftedCells::bindersAround(op);
  // Of the list that a cell gives, elements are made here: it is not for another cell to give.
  if (repeated &&
      llvm::is_contained(frame.function->getRegion(0).front().getTerminator()->getOperands(), value))
    return;
  bool isOutside = around.size() < frame.binders.size() + repeated &&
                   llvm::equal(around, llvm::ArrayRef(frame.binders).take_front(around.size()));
  if (isOutside && LiftedCells::isComputed(value))
    cells.shareValue(value, {frame.function, around});
}

void FrameCopy::clone(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && !map.contains(operand))
        get(operand);
  });
  bool fails = false;
  op->walk([&](Operation *inner) { fails |= dyn::mayFailComputed(inner); });
  Value when = fails ? taken(op) : Value();
  Operation *copy = b.clone(*op, map);
  copy->walk([&](Operation *inner) {
    if (isa<dyn::NeedOp>(inner)) // it is computed there
      inner->erase();
    else if (when)
      dyn::guard(inner, when);
  });
}

/// Whether the steps around an operation are taken, which a `while` may end: what it leaves out is computed
/// in a cell all the same. Null if there is none.
Value FrameCopy::taken(Operation *op) {
  Value taken;
  for (Operation *around : LiftedCells::bindersAround(op))
    if (dyn::isRecurrence(around) && dyn::stops(around)) {
      Value goesOn = get(around->getRegion(0).front().getArguments().back());
      taken = taken ? arith::AndIOp::create(b, op->getLoc(), taken, goesOn).getResult() : goesOn;
    }
  return taken;
}

void FrameCopy::operations(Block &block) {
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() && !map.contains(op.getResult(0)))
      clone(&op);
}

SmallVector<Value> FrameCopy::block(Block &block, ValueRange arguments) {
  IRMapping outer = map;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    map.map(argument, value);
  operations(block);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value));
  map = std::move(outer);
  return results;
}

/// Whether a list is made from its positions alone.
static dyn::MapOp countingMap(Value list) {
  auto map = list.getDefiningOp<dyn::MapOp>();
  auto range = map && map.getLists().size() == 1 ? map.getLists()[0].getDefiningOp<dyn::RangeOp>() : nullptr;
  return range && matchPattern(range.getLow(), m_Zero()) ? map : nullptr;
}

Operation *createArms(OpBuilder &b, Operation *like, ValueRange operands, Type type) {
  OperationState state(like->getLoc(), like->getName(), operands, type, like->getAttrs());
  state.propertiesAttr = like->getPropertiesAsAttribute();
  for (unsigned n = 0; n < like->getNumRegions(); ++n)
    state.addRegion();
  return b.create(state);
}

/// What `inArm` makes of a result of an `if` or `match`, in each arm.
Value FrameCopy::ofArms(Operation *op, Value result, Type type, function_ref<Value(Value)> inArm) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(get(operand));
  Operation *copy = createArms(b, op, operands, type);
  for (auto [arm, into] : llvm::zip(op->getRegions(), copy->getRegions())) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(&into.emplaceBlock());
    IRMapping outer = map;
    Value yielded = inArm(arm.front().getTerminator()->getOperand(cast<OpResult>(result).getResultNumber()));
    dyn::YieldOp::create(b, op->getLoc(), yielded);
    map = std::move(outer);
  }
  return copy->getResult(0);
}

/// An element of a list that is made from its positions alone.
static Value elementOf(OpBuilder &b, dyn::MapOp list, unsigned number, Value position) {
  IRMapping inside;
  Block &body = list.getBody().front();
  inside.map(body.getArgument(0), position);
  for (Operation &each : body.without_terminator())
    b.clone(each, inside);
  return inside.lookupOrDefault(body.getTerminator()->getOperand(number));
}

Value FrameCopy::element(Value list, Value position) {
  Operation *op = list.getDefiningOp();
  if (!op || map.contains(list)) {
    Value known = get(list);
    if (dyn::MapOp calls = countingMap(known))
      return elementOf(b, calls, cast<OpResult>(known).getResultNumber(), position);
  } else {
    unsigned number = cast<OpResult>(list).getResultNumber();
    if (auto zip = dyn_cast<dyn::ZipOp>(op))
      return element(zip.getLists()[number], position);
    if (auto range = dyn_cast<dyn::RangeOp>(op); range && matchPattern(range.getLow(), m_Zero()))
      return position;
    if (auto reversed = dyn_cast<dyn::ReverseOp>(op)) {
      Value last = sub(b, op->getLoc(), length(reversed.getList()), 1);
      return element(reversed.getList(), sub(b, op->getLoc(), last, position));
    }
    if (auto slice = dyn_cast<dyn::SliceOp>(op)) { // of positions: it may fail as it did
      Location loc = op->getLoc();
      Value index = dyn::AtOp::create(b, loc, b.getI32Type(), positionsIn(slice), position, Value());
      return element(slice.getList(), index);
    }
    if (auto fold = dyn_cast<dyn::FoldOp>(op)) {
      auto calls = countingMap(state(op, number, length(fold.getLists()[0])));
      return elementOf(b, calls, 0, position);
    }
    if (isa<dyn::IfOp, dyn::MatchOp>(op))
      return ofArms(op, list, cast<dyn::ListType>(list.getType()).getElement(),
                    [&](Value arm) { return element(arm, position); });
    if (auto mapped = dyn_cast<dyn::MapOp>(op)) {
      SmallVector<Value> arguments;
      for (Value each : mapped.getLists())
        arguments.push_back(element(each, position));
      return block(mapped.getBody().front(), arguments)[number];
    }
    if (auto scan =
            dyn_cast<dyn::ScanOp>(op)) { // behind the last step that a `while` lets be taken states stay
      Location loc = op->getLoc();
      Value steps =
          scan.getBack() ? sub(b, loc, length(scan.getLists()[0]), position) : add(b, loc, position, 1);
      return state(op, number, steps);
    }
  }
  return dyn::AtOp::create(b, list.getLoc(), cast<dyn::ListType>(list.getType()).getElement(), get(list),
                           position, Value());
}

/// 0, 1, .. as many as a list has elements.
Value FrameCopy::positions(Value list) { return dyn::RangeOp::create(b, list.getLoc(), length(list)); }

/// Those of them that a slice takes.
Value FrameCopy::positionsIn(dyn::SliceOp slice) {
  Value all = positions(slice.getList());
  Value low = get(slice.getLow()), high = get(slice.getHigh());
  return dyn::SliceOp::create(b, slice.getLoc(), all.getType(), all, low, high);
}

void FrameCopy::needStructure(Operation *op) {
  Location loc = op->getLoc();
  Value made;
  if (auto slice = dyn_cast<dyn::SliceOp>(op)) {
    made = positionsIn(slice);
  } else if (auto zip = dyn_cast<dyn::ZipOp>(op)) {
    SmallVector<Value> lists;
    for (Value list : zip.getLists())
      lists.push_back(positions(list));
    made = dyn::ZipOp::create(b, loc, lists).getResult(0);
  } else if (auto at = dyn_cast<dyn::AtOp>(op); at && dyn::isStructural(at.getIndex())) {
    Value all = positions(at.getList());
    made = dyn::AtOp::create(b, loc, b.getI32Type(), all, get(at.getIndex()), Value());
  } else if (op->getNumResults() && dyn::mayFail(op) && dyn::isStructural(op->getResult(0))) {
    made = get(op->getResult(0));
  }
  if (made)
    dyn::NeedOp::create(b, loc, made);
}

Value FrameCopy::state(Operation *recurrence, unsigned number, Value steps) {
  SmallVector<Operation *> around = LiftedCells::bindersAround(recurrence);
  LiftedCells::States states = cells.statesOf(recurrence, {frame.function, around});
  FrameKeys outer{at.keys, SmallVector<Value>(llvm::ArrayRef(at.positions).take_front(around.size()))};
  SmallVector<Value> keys = outer.all();
  keys.push_back(steps);
  Location loc = recurrence->getLoc();
  Value init = dyn::initOf(recurrence)[number];
  if (dyn::CellOp elements = states.lists[number])
    return LiftedCells::listOfCalls(b, loc, init.getType(), length(init), elements, keys);
  return LiftedCells::call(b, loc, states.numbers, keys).getResult(states.position[number]);
}

Value FrameCopy::length(Value list) {
  while (true) {
    if (Value known = map.lookupOrNull(list)) {
      if (dyn::MapOp calls = countingMap(known))
        return calls.getLists()[0].getDefiningOp<dyn::RangeOp>().getHigh();
      if (!list.getDefiningOp())
        break;
    }
    Operation *op = list.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(list)) { // a state has the length of the first one
      Operation *owner = argument.getOwner()->getParentOp();
      if (!dyn::isRecurrence(owner) || argument.getArgNumber() < dyn::listsOf(owner).size())
        break;
      list = dyn::initOf(owner)[argument.getArgNumber() - dyn::listsOf(owner).size()];
      continue;
    }
    if (auto call = dyn_cast<dyn::CallOp>(op); call && !call.getEvery()) { // the callee says
      auto callee = cells.symbols.lookup<dyn::CellOp>(call.getCallee());
      FrameKeys keys;
      for (Value key : call.getKeys())
        keys.keys.push_back(get(key));
      FrameCopy inside(cells, b, {callee, {}}, keys);
      return inside.length(
          callee.getBody().front().getTerminator()->getOperand(cast<OpResult>(list).getResultNumber()));
    }
    if (Value from = dyn::lengthFrom(list)) // where a `while` ends a scan, what it may have at most
      list = from;
    else if (auto slice = dyn_cast<dyn::SliceOp>(op)) {
      Value low = get(slice.getLow()), high = get(slice.getHigh());
      Value count = sub(b, op->getLoc(), high, low);
      return dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Max, integer(b, op->getLoc(), 0), count);
    } else if (auto fold = dyn_cast<dyn::FoldOp>(op))
      list = fold.getInit()[cast<OpResult>(list).getResultNumber()];
    else if (auto branch = dyn_cast<dyn::IfOp>(op); branch && cells.isStates(branch))
      list = branch.getThen().front().getTerminator()->getOperand(cast<OpResult>(list).getResultNumber());
    else if (isa<dyn::IfOp, dyn::MatchOp>(op))
      return ofArms(op, list, b.getI32Type(), [&](Value arm) { return length(arm); });
    else
      break;
  }
  return dyn::LenOp::create(b, list.getLoc(), b.getI32Type(), get(list));
}

} // namespace dbc::passes
