// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Cells of the states of scans and folds, and of the elements of lists.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Recursion.h"
#include "passes/dyn/FrameCopy.h"
#include "passes/dyn/Integers.h"

using namespace mlir;

namespace dbc::passes {

static std::string nameIn(Operation *function, const Twine &name) {
  return (SymbolTable::getSymbolName(function).getValue() + "." + name).str();
}

Value LiftedCells::listOfCalls(OpBuilder &b, Location loc, Type type, Value length, dyn::CellOp cell,
                               ValueRange keys) {
  Value positions = dyn::RangeOp::create(b, loc, length);
  auto map = dyn::MapOp::create(b, loc, type, positions);
  Block &body = map.getBody().emplaceBlock();
  SmallVector<Value> all(keys);
  all.push_back(body.addArgument(b.getI32Type(), loc));
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  dyn::YieldOp::create(inside, loc, call(inside, loc, cell, all).getResults());
  return map.getResult(0);
}

//===-- States ------------------------------------------------------------------------------------------===//

LiftedCells::States LiftedCells::statesOf(Operation *recurrence, const Frame &outer) {
  if (auto at = states.find(recurrence); at != states.end())
    return at->second;
  Location loc = recurrence->getLoc();
  // A key for the number of steps: as if there were one more binder, whose range has one element more.
  Frame frame = outer;
  frame.binders.push_back(recurrence);
  auto makeStates = [&](StringRef name, ArrayRef<Type> types, ValueRange over) {
    dyn::CellOp cell =
        makeCell(nameIn(outer.function, name), loc, types, surfaceOf(types), frame, {}, {}, over);
    Operation *yield = cell.getRanges().drop_back(over.size()).back().front().getTerminator();
    OpBuilder b(yield);
    yield->setOperand(1, add(b, loc, yield->getOperand(1), 1));
    statesCells.insert(cell);
    return cell;
  };
  States entry;
  entry.outer = outer;
  SmallVector<Type> numbers;
  for (Value init : dyn::initOf(recurrence)) {
    auto list = dyn_cast<dyn::ListType>(init.getType());
    entry.position.push_back(numbers.size());
    entry.lists.push_back(list ? makeStates("states.element", list.getElement(), init) : dyn::CellOp());
    if (!list)
      numbers.push_back(init.getType());
  }
  if (!numbers.empty())
    entry.numbers = makeStates("states", numbers, {});
  return states[recurrence] = entry;
}

/// Where `goesOn` holds `next`, else `before`; lists element by element.
static Value chosen(OpBuilder &b, Location loc, Value goesOn, Value next, Value before) {
  auto list = dyn_cast<dyn::ListType>(next.getType());
  if (!list)
    return arith::SelectOp::create(b, loc, goesOn, next, before);
  auto both = dyn::ZipOp::create(b, loc, ValueRange{next, before});
  auto map = dyn::MapOp::create(b, loc, next.getType(), both.getResults());
  Block &body = map.getBody().emplaceBlock();
  body.addArguments({list.getElement(), list.getElement()}, {loc, loc});
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  Value each = chosen(inside, loc, goesOn, body.getArgument(0), body.getArgument(1));
  dyn::YieldOp::create(inside, loc, each);
  return map.getResult(0);
}

/// Writes the body of a cell of some of a recurrence's states: the first ones, or what a step makes of those
/// before it. With one key more than steps, of one list: the element there.
void LiftedCells::fillStates(Operation *recurrence, const States &entry, dyn::CellOp cell,
                             ArrayRef<unsigned> numbers) {
  Location loc = recurrence->getLoc();
  Block &body = cell.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  FrameKeys keys = keysOf(cell, entry.outer);
  Value steps = body.getArgument(contexts.lookup(cell).first + keys.all().size());
  Value position = cell == entry.numbers ? Value() : body.getArguments().back();
  auto stateIn = [&](FrameCopy &copy, Value state) {
    return position ? copy.element(state, position) : copy.get(state);
  };
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, steps, integer(b, loc, 0));
  auto cond = dyn::IfOp::create(b, loc, resultsOf(cell), first);

  OpBuilder then = OpBuilder::atBlockEnd(&cond.getThen().emplaceBlock());
  FrameCopy start(*this, then, entry.outer, keys);
  SmallVector<Value> init;
  for (unsigned k : numbers)
    init.push_back(stateIn(start, dyn::initOf(recurrence)[k]));
  dyn::YieldOp::create(then, loc, init);

  // In the step: at its position. Elements of a list share what it computes.
  OpBuilder otherwise = OpBuilder::atBlockEnd(&cond.getOtherwise().emplaceBlock());
  Value before = sub(otherwise, loc, steps, integer(otherwise, loc, 1)), at = before;
  if (auto scan = dyn_cast<dyn::ScanOp>(recurrence); scan && scan.getBack()) {
    FrameCopy outside(*this, otherwise, entry.outer, keys);
    at = sub(otherwise, loc, outside.length(scan.getLists()[0]), steps);
  }
  Frame inside = entry.outer;
  inside.binders.push_back(recurrence);
  keys.positions.push_back(at);
  FrameCopy step(*this, otherwise, inside, keys, /*repeated=*/position != nullptr);
  Block &source = recurrence->getRegion(0).front();
  auto ofStates = source.getArguments().drop_front(dyn::listsOf(recurrence).size());
  for (auto [k, argument] : llvm::enumerate(ofStates))
    step.map.map(argument, step.state(recurrence, k, before));
  SmallVector<Value> next;
  if (!position)
    step.operations(source);
  for (unsigned k : numbers) {
    next.push_back(stateIn(step, source.getTerminator()->getOperand(k)));
    if (!dyn::stops(recurrence))
      continue;
    Value goesOn = step.get(ofStates.back()), before = stateIn(step, ofStates[k]);
    next.back() = chosen(otherwise, loc, goesOn, next.back(), before); // what is left out changes nothing
  }
  dyn::YieldOp::create(otherwise, loc, next);
  dyn::ReturnOp::create(b, loc, cond.getResults());
}

void LiftedCells::finishStates(Operation *function) {
  for (size_t n = 0; n < states.size(); ++n) { // finishing one may ask for others
    auto [recurrence, entry] = *(states.begin() + n);
    if (entry.done || entry.outer.function != function)
      continue;
    (states.begin() + n)->second.done = true;
    SmallVector<unsigned> numbers;
    for (auto [k, elements] : llvm::enumerate(entry.lists)) {
      if (elements)
        fillStates(recurrence, entry, elements, k);
      else
        numbers.push_back(k);
    }
    if (entry.numbers)
      fillStates(recurrence, entry, entry.numbers, numbers);
    // The recurrence itself need not be computed again, unless it ends early or calls in it lead values down.
    bool leads = recurrence
                     ->walk([](dyn::CallOp call) {
                       return call.getRelation() ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
    if (!leads && !dyn::stops(recurrence))
      readStates(recurrence, entry);
  }
}

/// What a step computes outside of binders in it, and what of that may fail. What it yields is asked for by
/// who uses it, and lists that binders make are by what is made of them.
static SmallVector<Value> suspects(Block &step) {
  llvm::SetVector<Value> suspects;
  for (Operation &op : step.without_terminator()) {
    bool fails = false;
    op.walk([&](Operation *inner) {
      fails |= dyn::mayFail(inner) ||
               llvm::any_of(inner->getOperands(), [&](Value v) { return suspects.contains(v); });
    });
    if (fails)
      suspects.insert(op.result_begin(), op.result_end());
  }
  suspects.remove_if([&](Value value) {
    return (value.getDefiningOp()->getNumRegions() && isa<dyn::ListType>(value.getType())) ||
           llvm::is_contained(step.getTerminator()->getOperands(), value);
  });
  return suspects.takeVector();
}

/// Cells of elements are not asked where a list in the state is empty; the steps fail all the same.
void LiftedCells::needSteps(Operation *recurrence, const States &entry) {
  Block &step = recurrence->getRegion(0).front();
  SmallVector<Value> values = suspects(step);
  if (values.empty())
    return;
  Location loc = recurrence->getLoc();
  OpBuilder b(recurrence);
  ValueRange lists = dyn::listsOf(recurrence);
  Value length = dyn::LenOp::create(b, loc, b.getI32Type(), lists[0]);
  Value range = dyn::RangeOp::create(b, loc, length);
  auto map = dyn::MapOp::create(b, loc, TypeRange(), range);
  Block &each = map.getBody().emplaceBlock();
  OpBuilder inside = OpBuilder::atBlockEnd(&each);
  Frame frame = entry.outer;
  frame.binders.push_back(recurrence);
  FrameKeys keys = keysInside(entry.outer);
  keys.positions.push_back(each.addArgument(b.getI32Type(), loc));
  FrameCopy copy(*this, inside, frame, keys, /*repeated=*/true);
  // What is outside of it is here.
  recurrence->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!recurrence->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock() != &step)
        copy.map.map(operand, operand);
  });
  for (Value value : values)
    dyn::NeedOp::create(inside, value.getLoc(), copy.get(value));
  dyn::YieldOp::create(inside, loc, ValueRange());
}

/// Lets what uses a scan or fold read the cells of its states.
void LiftedCells::readStates(Operation *recurrence, const States &entry) {
  if (llvm::any_of(entry.lists, [](dyn::CellOp elements) { return elements != nullptr; }))
    needSteps(recurrence, entry);
  Location loc = recurrence->getLoc();
  OpBuilder b(recurrence);
  SmallVector<Value> outside = keysInside(entry.outer).all();
  Value length = dyn::LenOp::create(b, loc, b.getI32Type(), dyn::listsOf(recurrence)[0]);
  auto after = [&](OpBuilder &at, Value steps) {
    SmallVector<Value> keys = outside, results;
    keys.push_back(steps);
    dyn::CallOp numbers = entry.numbers ? call(at, loc, entry.numbers, keys) : dyn::CallOp();
    for (auto [k, init] : llvm::enumerate(dyn::initOf(recurrence))) {
      if (!entry.lists[k]) {
        results.push_back(numbers.getResult(entry.position[k]));
        continue;
      }
      Value elements = dyn::LenOp::create(at, loc, at.getI32Type(), init);
      results.push_back(listOfCalls(at, loc, init.getType(), elements, entry.lists[k], keys));
    }
    return results;
  };
  if (isa<dyn::FoldOp>(recurrence)) {
    recurrence->replaceAllUsesWith(after(b, length));
    return;
  }
  bool back = cast<dyn::ScanOp>(recurrence).getBack();
  Value low = integer(b, loc, back ? 0 : 1), high = back ? length : add(b, loc, length, 1);
  Value list = dyn::RangeOp::create(b, loc, dyn::ListType::get(b.getI32Type()), low, high);
  auto map = dyn::MapOp::create(b, loc, recurrence->getResultTypes(), list);
  Block &each = map.getBody().emplaceBlock();
  Value number = each.addArgument(b.getI32Type(), loc);
  OpBuilder inside = OpBuilder::atBlockEnd(&each);
  dyn::YieldOp::create(inside, loc, after(inside, back ? sub(inside, loc, length, number) : number));
  recurrence->replaceAllUsesWith(map);
}

//===-- Lists in recursions -----------------------------------------------------------------------------===//

void LiftedCells::spreadLists() {
  auto cellOf = [&](StringAttr name) { return symbols.lookup<dyn::CellOp>(name); };
  auto calls = [](dyn::CellOp cell, StringAttr callee) {
    return cell
        ->walk([&](dyn::CallOp call) {
          return call.getCalleeAttr().getAttr() == callee ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  };
  auto next = [&]() -> dyn::CellOp {
    for (auto &group : dyn::recursions(module, cellOf))
      for (dyn::CellOp cell : group)
        if ((group.size() > 1 || calls(cell, cell.getSymNameAttr())) &&
            isa<dyn::ListType>(resultsOf(cell).front()))
          return cell;
    return {};
  };
  SmallVector<dyn::CellOp> replaced;
  while (dyn::CellOp cell = next()) {
    spread(cell);
    replaced.push_back(cell);
  }
  for (dyn::CellOp cell : replaced) {
    contexts.erase(cell);
    symbols.erase(cell);
  }
}

/// A cell of the elements of the list that `cell` gives, which is not called any more.
void LiftedCells::spread(dyn::CellOp cell) {
  Location loc = cell.getLoc();
  Value list = cell.getBody().front().getTerminator()->getOperand(0);
  Type type = cast<dyn::ListType>(list.getType()).getElement();
  Frame frame{cell, {}};
  dyn::CellOp elements = makeCell(nameIn(cell, "element"), loc, type, type, frame, {}, {}, list);
  if (statesCells.contains(cell))
    statesCells.insert(elements);
  Block &body = elements.getBody().front();
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  FrameCopy copy(*this, b, frame, keysOf(elements, frame), /*repeated=*/true);
  dyn::ReturnOp::create(b, loc, copy.element(list, body.getArguments().back()));
  finishStates(cell);
  SmallVector<dyn::CallOp> calls;
  module.walk([&](dyn::CallOp call) {
    if (call.getCallee() == cell.getSymName())
      calls.push_back(call);
  });
  for (dyn::CallOp call : calls) {
    OpBuilder at(call);
    FrameCopy there(*this, at, frame, FrameKeys{SmallVector<Value>(call.getKeys()), {}});
    // Where it stands for failures: of what only elements use, too, if there are none.
    if (llvm::any_of(call->getUsers(), [](Operation *user) { return isa<dyn::NeedOp>(user); }))
      for (Operation &op : cell.getBody().front().without_terminator())
        there.needStructure(&op);
    Value all = listOfCalls(at, call.getLoc(), list.getType(), there.length(list), elements, call.getKeys());
    call.getResult(0).replaceAllUsesWith(all);
    call.erase();
  }
}

} // namespace dbc::passes
