// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/LiftedCells.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace dbc::passes {

static ValueRange listsOf(Operation *binder) {
  if (auto scan = dyn_cast<dyn::ScanOp>(binder))
    return scan.getLists();
  if (auto fold = dyn_cast<dyn::FoldOp>(binder))
    return fold.getLists();
  return binder->getOperands();
}

static ValueRange initOf(Operation *recurrence) {
  if (auto scan = dyn_cast<dyn::ScanOp>(recurrence))
    return scan.getInit();
  return cast<dyn::FoldOp>(recurrence).getInit();
}

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

static Value add(OpBuilder &b, Location loc, Value x, int64_t y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Add, x, integer(b, loc, y));
}

static Value sub(OpBuilder &b, Location loc, Value x, Value y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Sub, x, y);
}

//===-- Frames ------------------------------------------------------------------------------------------===//

Frame LiftedCells::frameAround(Operation *op) {
  Frame frame{op, bindersAround(op)};
  while (!isa<dyn::CellOp, dyn::EntryOp>(frame.function))
    frame.function = frame.function->getParentOp();
  return frame;
}

SmallVector<Operation *> LiftedCells::bindersAround(Operation *op) {
  SmallVector<Operation *> binders;
  for (Operation *at = op->getParentOp(); at && !isa<dyn::CellOp, dyn::EntryOp>(at); at = at->getParentOp())
    if (isa<dyn::MapOp, dyn::FilterOp, dyn::ScanOp, dyn::FoldOp>(at))
      binders.insert(binders.begin(), at);
  return binders;
}

void LiftedCells::addPosition(Operation *binder) {
  if (binder->hasAttr("position"))
    return;
  OpBuilder b(binder);
  Location loc = binder->getLoc();
  SmallVector<Value> lists(listsOf(binder));
  Type i32 = b.getI32Type(), range = dyn::ListType::get(i32);
  Value length = dyn::LenOp::create(b, loc, i32, lists[0]);
  lists.push_back(dyn::RangeOp::create(b, loc, range, integer(b, loc, 0), length));
  auto zip = dyn::ZipOp::create(b, loc, lists);
  unsigned number = lists.size() - 1;
  binder->getRegion(0).front().insertArgument(number, i32, NameLoc::get(b.getStringAttr("position"), loc));
  if (auto scan = dyn_cast<dyn::ScanOp>(binder))
    scan.getListsMutable().assign(zip.getResults());
  else if (auto fold = dyn_cast<dyn::FoldOp>(binder))
    fold.getListsMutable().assign(zip.getResults());
  else
    binder->setOperands(zip.getResults());
  binder->setAttr("position", b.getI32IntegerAttr(number));
}

Value LiftedCells::positionIn(Operation *binder) {
  return binder->getRegion(0).front().getArgument(binder->getAttrOfType<IntegerAttr>("position").getInt());
}

FrameKeys LiftedCells::keysInside(const Frame &frame) {
  FrameKeys keys;
  if (auto cell = dyn_cast_or_null<dyn::CellOp>(frame.function))
    keys.keys.assign(cell.getKeys().begin(), cell.getKeys().end());
  for (Operation *binder : frame.binders)
    keys.positions.push_back(positionIn(binder));
  return keys;
}

//===-- Cells -------------------------------------------------------------------------------------------===//

dyn::CellOp LiftedCells::makeCell(StringRef name, Location loc, TypeRange results, Type surface,
                                  const Frame &frame, dyn::CellOp like, ValueRange given) {
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto outer = dyn_cast_or_null<dyn::CellOp>(frame.function);
  SmallVector<Value> own, others;
  if (outer)
    own.assign(outer.getKeys().begin(), outer.getKeys().end());
  if (like)
    others.assign(like.getKeys().begin(), like.getKeys().end());
  // A node that an instance belongs to stands first in any case.
  bool ownFirst = !others.empty() && isa<dyn::NodeType>(others[0].getType());
  auto isNumber = [](Value key) { return !isa<dyn::NodeType>(key.getType()); };
  unsigned ranges = llvm::count_if(own, isNumber) + frame.binders.size() + llvm::count_if(others, isNumber);
  auto cell = dyn::CellOp::create(b, loc, name, b.getTypeArrayAttr(results), surface, IntegerAttr(), ranges);
  symbols.insert(cell);
  Block &body = cell.getBody().emplaceBlock();
  unsigned number = 0;
  // Each key's range has the keys before it for arguments.
  auto addKey = [&](Type type, Location at, function_ref<SmallVector<Value>(OpBuilder &, Block &)> bounds) {
    if (!isa<dyn::NodeType>(type)) {
      Block &range = cell.getRanges()[number++].emplaceBlock();
      for (BlockArgument before : body.getArguments())
        range.addArgument(before.getType(), before.getLoc());
      OpBuilder inside = OpBuilder::atBlockEnd(&range);
      dyn::YieldOp::create(inside, at, bounds(inside, range));
    }
    body.addArgument(type, at);
  };
  auto inFrame = [&](Block &range) {
    FrameKeys keys;
    for (auto [k, argument] : llvm::enumerate(range.getArguments().drop_front(ownFirst))) {
      if (k < own.size())
        keys.keys.push_back(argument);
      else if (k < own.size() + frame.binders.size())
        keys.positions.push_back(argument);
    }
    return keys;
  };
  if (ownFirst)
    body.addArgument(others[0].getType(), others[0].getLoc());
  for (auto [k, key] : llvm::enumerate(own))
    addKey(key.getType(), key.getLoc(), [&, k = k](OpBuilder &inside, Block &range) {
      FrameCopy copy(*this, inside, {}, {});
      return copy.block(outer.getRange(k)->front(), range.getArguments().drop_front(ownFirst));
    });
  for (auto [n, binder] : llvm::enumerate(frame.binders)) {
    Frame around{frame.function, SmallVector<Operation *>(llvm::ArrayRef(frame.binders).take_front(n))};
    addKey(b.getI32Type(), positionIn(binder).getLoc(),
           [&, binder = binder](OpBuilder &inside, Block &range) {
             FrameCopy copy(*this, inside, around, inFrame(range));
             return SmallVector<Value>{integer(inside, loc, 0), copy.length(listsOf(binder)[0])};
           });
  }
  contexts[cell] = {ownFirst, body.getNumArguments() - ownFirst};
  for (auto [k, key] : llvm::enumerate(others)) {
    if (ownFirst && k == 0)
      continue;
    addKey(key.getType(), key.getLoc(), [&, k = k](OpBuilder &inside, Block &range) {
      FrameCopy copy(*this, inside, frame, inFrame(range));
      Block &source = like.getRange(k)->front();
      for (auto [argument, value] : llvm::zip(source.getArguments().drop_front(k), given))
        for (Operation *user : argument.getUsers()) {
          if (isa<dyn::LenOp>(user))
            copy.map.map(user->getResult(0), copy.length(value));
          else if (!copy.map.contains(argument))
            copy.map.map(argument, copy.get(value));
        }
      return copy.block(source, ownKeys(cell, range));
    });
  }
  return cell;
}

FrameKeys LiftedCells::keysOf(dyn::CellOp cell, const Frame &frame) {
  auto outer = dyn_cast_or_null<dyn::CellOp>(frame.function);
  size_t own = outer ? outer.getKeys().size() : 0;
  auto arguments = cell.getBody().getArguments().drop_front(contexts.lookup(cell).first);
  FrameKeys keys;
  keys.keys.assign(arguments.begin(), arguments.begin() + own);
  keys.positions.assign(arguments.begin() + own, arguments.begin() + own + frame.binders.size());
  return keys;
}

SmallVector<Value> LiftedCells::ownKeys(dyn::CellOp cell, Block &block) {
  Context context = contexts.lookup(cell);
  SmallVector<Value> keys(block.getArguments());
  keys.erase(keys.begin() + context.first, keys.begin() + context.first + context.count);
  return keys;
}

SmallVector<Value> LiftedCells::keysFor(dyn::CellOp cell, ValueRange frame, ValueRange own) {
  SmallVector<Value> keys(own);
  keys.insert(keys.begin() + contexts.lookup(cell).first, frame.begin(), frame.end());
  return keys;
}

void LiftedCells::markContexts() {
  for (auto [cell, context] : contexts)
    if (context.count)
      cell->setAttr("context", DenseI64ArrayAttr::get(cell->getContext(), {context.first, context.count}));
}

SmallVector<Type> LiftedCells::resultsOf(dyn::CellOp cell) {
  return llvm::map_to_vector(cell.getResults(), [](Attribute t) { return cast<TypeAttr>(t).getValue(); });
}

Type LiftedCells::surfaceOf(ArrayRef<Type> types) {
  return types.size() == 1 ? types[0] : TupleType::get(types[0].getContext(), types);
}

dyn::CellOp LiftedCells::makeValues(StringRef name, Location loc, const Frame &frame, ValueRange values) {
  SmallVector<Type> types(values.getTypes());
  dyn::CellOp cell = makeCell(name, loc, types, surfaceOf(types), frame);
  OpBuilder b = OpBuilder::atBlockEnd(&cell.getBody().front());
  FrameCopy copy(*this, b, frame, keysOf(cell, frame));
  SmallVector<Value> results;
  for (Value value : values)
    results.push_back(copy.get(value));
  dyn::ReturnOp::create(b, loc, results);
  for (auto [n, value] : llvm::enumerate(values))
    if (value.getDefiningOp() || dyn::isNumber(value.getType()))
      computed.insert({value, {cell, frame, unsigned(n)}});
  made.insert(cell);
  return cell;
}

void LiftedCells::readValues(Operation *function) {
  for (auto &[value, by] : computed) {
    Operation *op = value.getDefiningOp();
    if (by.frame.function != function || by.read || !op ||
        (!by.frame.binders.empty() && !by.frame.binders.back()->isAncestor(op)))
      continue;
    by.read = true;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfter(op);
    dyn::CallOp there = call(b, value.getLoc(), by.cell, keysInside(by.frame).all());
    // What is not used any more here must fail here all the same.
    there->setAttr("kept", b.getUnitAttr());
    if (dyn::isNumber(value.getType()) && !isa<dyn::CallOp, dyn::AtOp>(op))
      Value(value).replaceAllUsesExcept(there.getResult(by.result), there);
  }
}

dyn::CallOp LiftedCells::call(OpBuilder &b, Location loc, dyn::CellOp cell, ValueRange keys) {
  return dyn::CallOp::create(b, loc, resultsOf(cell), cell.getSymName(), keys, ValueRange(), IntegerAttr(),
                             ValueRange());
}

static std::string nameIn(Operation *function, const Twine &part) {
  return (SymbolTable::getSymbolName(function).getValue() + "." + part).str();
}

static bool stops(Operation *recurrence) {
  if (auto scan = dyn_cast<dyn::ScanOp>(recurrence))
    return scan.getStops();
  return cast<dyn::FoldOp>(recurrence).getStops();
}

/// Whether an operation may fail an input by what is computed.
static bool mayFailComputed(Operation *op) {
  return dyn::mayFail(op) && !isa<dyn::CallOp, dyn::FieldOp, dyn::ZipOp>(op) &&
         llvm::any_of(op->getOperands(), [](Value value) {
           return !isa<dyn::ListType>(value.getType()) && !dyn::isStructural(value);
         });
}

/// The cell of the states of a scan or fold: its last key is the number of steps taken.
dyn::CellOp LiftedCells::statesOf(Operation *recurrence, const Frame &outer) {
  auto [at, isNew] = states.insert({recurrence, {}});
  if (!isNew)
    return at->second.cell;
  Location loc = recurrence->getLoc();
  // What a `while` leaves out is computed by this cell all the same; so it must not fail.
  bool fails =
      stops(recurrence) && recurrence
                               ->walk([](Operation *op) {
                                 return mayFailComputed(op) ? WalkResult::interrupt() : WalkResult::advance();
                               })
                               .wasInterrupted();
  SmallVector<Type> types(initOf(recurrence).getTypes());
  bool lists = llvm::any_of(types, [](Type type) { return isa<dyn::ListType>(type); });
  if (fails || lists) {
    emitError(loc,
              lists ? "a value given to a cell that depends on a state with lists is not supported yet [C4]"
                    : "a value given to a cell that depends on a state under `while`, whose steps may fail, "
                      "is not supported yet [C4]");
    failed = true;
  }
  // A key for the number of steps: as if there were one more binder, whose range has one element more.
  Frame frame = outer;
  frame.binders.push_back(recurrence);
  dyn::CellOp cell = makeCell(nameIn(outer.function, "states"), loc, types, surfaceOf(types), frame);
  Operation *yield = cell.getRanges().back().front().getTerminator();
  OpBuilder b(yield);
  yield->setOperand(1, add(b, loc, yield->getOperand(1), 1));
  states[recurrence] = {cell, outer, failed};
  return cell;
}

/// The cell of a list that is computed as a whole.
dyn::CellOp LiftedCells::listOf(Value list, const Frame &outer) {
  if (dyn::CellOp cell = lists.lookup(list))
    return cell;
  dyn::CellOp cell = makeValues(nameIn(outer.function, "list"), list.getLoc(), outer, list);
  lists[list] = cell;
  return cell;
}

/// Whether a call that was given values is in the operation or in what it is computed from.
bool LiftedCells::dependsOnLifted(Operation *op) {
  llvm::DenseSet<Operation *> seen;
  SmallVector<Operation *> open{op};
  while (!open.empty()) {
    Operation *next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    bool found = next->walk([&](Operation *inner) {
                       if (lifted.contains(inner))
                         return WalkResult::interrupt();
                       for (Value operand : inner->getOperands()) {
                         Operation *source = operand.getDefiningOp();
                         if (!source) // an argument of a binder: all that the binder is computed from
                           source = operand.getParentBlock()->getParentOp();
                         if (!isa<dyn::CellOp, dyn::EntryOp>(source) && !next->isAncestor(source))
                           open.push_back(source);
                       }
                       return WalkResult::advance();
                     })
                     .wasInterrupted();
    if (found)
      return true;
  }
  return false;
}

void LiftedCells::finishStates(Operation *function) {
  for (size_t n = 0; n < states.size(); ++n) { // finishing one may ask for others
    auto [recurrence, entry] = *(states.begin() + n);
    if (entry.done || entry.outer.function != function)
      continue;
    (states.begin() + n)->second.done = true;
    dyn::CellOp cell = entry.cell;
    Location loc = recurrence->getLoc();
    Block &body = cell.getBody().front();
    OpBuilder b = OpBuilder::atBlockEnd(&body);
    FrameKeys keys = keysOf(cell, entry.outer);
    Value steps = body.getArguments().back();
    Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, steps, integer(b, loc, 0));
    SmallVector<Type> types(initOf(recurrence).getTypes());
    auto cond = dyn::IfOp::create(b, loc, types, first);
    OpBuilder then = OpBuilder::atBlockEnd(&cond.getThen().emplaceBlock());
    FrameCopy start(*this, then, entry.outer, keys);
    SmallVector<Value> init;
    for (Value value : initOf(recurrence))
      init.push_back(start.get(value));
    dyn::YieldOp::create(then, loc, init);
    OpBuilder otherwise = OpBuilder::atBlockEnd(&cond.getOtherwise().emplaceBlock());
    FrameCopy step(*this, otherwise, entry.outer, keys);
    Value before = sub(otherwise, loc, steps, integer(otherwise, loc, 1)), position = before;
    if (auto scan = dyn_cast<dyn::ScanOp>(recurrence); scan && scan.getBack())
      position = sub(otherwise, loc, step.length(scan.getLists()[0]), steps);
    SmallVector<Value> arguments;
    for (Value list : listsOf(recurrence))
      arguments.push_back(step.element(list, position));
    for (unsigned k = 0; k < types.size(); ++k)
      arguments.push_back(step.state(recurrence, k, before));
    dyn::YieldOp::create(otherwise, loc, step.block(recurrence->getRegion(0).front(), arguments));
    b.setInsertionPointToEnd(&body);
    dyn::ReturnOp::create(b, loc, cond.getResults());

    // The recurrence itself need not be computed again, unless it ends early or calls in it lead values down.
    if (stops(recurrence) || recurrence
                                 ->walk([](dyn::CallOp call) {
                                   return call.getSite() ? WalkResult::interrupt() : WalkResult::advance();
                                 })
                                 .wasInterrupted())
      continue;
    b.setInsertionPoint(recurrence);
    SmallVector<Value> outside = keysInside(entry.outer).all();
    Value length = dyn::LenOp::create(b, loc, b.getI32Type(), listsOf(recurrence)[0]);
    auto after = [&](OpBuilder &at, Value steps) {
      SmallVector<Value> all = outside;
      all.push_back(steps);
      return call(at, loc, cell, all);
    };
    if (isa<dyn::FoldOp>(recurrence)) {
      recurrence->replaceAllUsesWith(after(b, length));
      continue;
    }
    bool back = cast<dyn::ScanOp>(recurrence).getBack();
    Value list = dyn::RangeOp::create(b, loc, dyn::ListType::get(b.getI32Type()),
                                      integer(b, loc, back ? 0 : 1), back ? length : add(b, loc, length, 1));
    auto map = dyn::MapOp::create(b, loc, recurrence->getResultTypes(), list);
    Block &each = map.getBody().emplaceBlock();
    Value number = each.addArgument(b.getI32Type(), loc);
    OpBuilder inside = OpBuilder::atBlockEnd(&each);
    dyn::YieldOp::create(inside, loc,
                         after(inside, back ? sub(inside, loc, length, number) : number).getResults());
    recurrence->replaceAllUsesWith(map);
  }
}

//===-- Copies ------------------------------------------------------------------------------------------===//

Value FrameCopy::get(Value value) {
  if (Value known = map.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (auto by = cells.computed.find(value); by != cells.computed.end()) {
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
    ValueRange lists = listsOf(owner);
    if (number < lists.size()) {
      copy = element(lists[number], position);
    } else { // as many steps as there are elements before it
      Value steps = position;
      if (auto scan = dyn_cast<dyn::ScanOp>(owner); scan && scan.getBack()) {
        Value last = sub(b, owner->getLoc(), length(lists[0]), integer(b, owner->getLoc(), 1));
        steps = sub(b, owner->getLoc(), last, position);
      }
      copy = state(owner, number - lists.size(), steps);
    }
  }
  map.map(value, copy);
  return copy;
}

void FrameCopy::clone(Operation *op) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op->isAncestor(operand.getParentBlock()->getParentOp()) && !map.contains(operand))
        get(operand);
  });
  Operation *copy = b.clone(*op, map);
  copy->walk([](dyn::CallOp call) { call->removeAttr("kept"); });
}

SmallVector<Value> FrameCopy::block(Block &block, ValueRange arguments) {
  IRMapping outer = map;
  for (auto [argument, value] : llvm::zip(block.getArguments(), arguments))
    map.map(argument, value);
  for (Operation &op : block.without_terminator())
    if (!map.contains(op.getResult(0)))
      clone(&op);
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(get(value));
  map = std::move(outer);
  return results;
}

Value FrameCopy::element(Value list, Value position) {
  Operation *op = list.getDefiningOp();
  unsigned number = op ? cast<OpResult>(list).getResultNumber() : 0;
  if (auto known = map.lookupOrNull(list); !known && op) {
    if (auto zip = dyn_cast<dyn::ZipOp>(op))
      return element(zip.getLists()[number], position);
    if (auto range = dyn_cast<dyn::RangeOp>(op))
      if (auto low = range.getLow().getDefiningOp<arith::ConstantOp>())
        if (cast<IntegerAttr>(low.getValue()).getInt() == 0)
          return position;
    if (auto mapped = dyn_cast<dyn::MapOp>(op)) {
      SmallVector<Value> arguments;
      for (Value each : mapped.getLists())
        arguments.push_back(element(each, position));
      return block(mapped.getBody().front(), arguments)[number];
    }
    auto scan = dyn_cast<dyn::ScanOp>(op);
    if (scan && !scan.getStops()) {
      if (!isa<dyn::EntryOp>(frame.function) || cells.dependsOnLifted(op)) {
        Location loc = op->getLoc();
        Value steps =
            scan.getBack() ? sub(b, loc, length(scan.getLists()[0]), position) : add(b, loc, position, 1);
        return state(op, number, steps);
      }
      SmallVector<Operation *> around = LiftedCells::bindersAround(op);
      FrameKeys outer{at.keys, SmallVector<Value>(llvm::ArrayRef(at.positions).take_front(around.size()))};
      dyn::CellOp cell = cells.listOf(list, {frame.function, around});
      Value all = LiftedCells::call(b, op->getLoc(), cell, outer.all()).getResult(0);
      map.map(list, all);
    }
  }
  return dyn::AtOp::create(b, list.getLoc(), cast<dyn::ListType>(list.getType()).getElement(), get(list),
                           position, Value());
}

/// A state of a scan or fold after a number of steps.
Value FrameCopy::state(Operation *recurrence, unsigned number, Value steps) {
  SmallVector<Operation *> around = LiftedCells::bindersAround(recurrence);
  dyn::CellOp cell = cells.statesOf(recurrence, {frame.function, around});
  FrameKeys outer{at.keys, SmallVector<Value>(llvm::ArrayRef(at.positions).take_front(around.size()))};
  SmallVector<Value> keys = outer.all();
  keys.push_back(steps);
  return LiftedCells::call(b, recurrence->getLoc(), cell, keys).getResult(number);
}

Value FrameCopy::length(Value list) {
  while (Operation *op = list.getDefiningOp()) {
    if (map.contains(list))
      break;
    if (auto call = dyn_cast<dyn::CallOp>(op)) { // the callee says, which gives no list of a recursion
      auto callee = cells.symbols.lookup<dyn::CellOp>(call.getCallee());
      FrameKeys keys;
      for (Value key : call.getKeys())
        keys.keys.push_back(get(key));
      FrameCopy inside(cells, b, {callee, {}}, keys);
      return inside.length(
          callee.getBody().front().getTerminator()->getOperand(cast<OpResult>(list).getResultNumber()));
    }
    auto scan = dyn_cast<dyn::ScanOp>(op);
    if (auto zip = dyn_cast<dyn::ZipOp>(op))
      list = zip.getLists()[cast<OpResult>(list).getResultNumber()];
    else if (isa<dyn::MapOp, dyn::ReverseOp, dyn::SoftmaxListOp>(op) || (scan && !scan.getStops()))
      list = op->getOperand(0);
    else
      break;
  }
  return dyn::LenOp::create(b, list.getLoc(), b.getI32Type(), get(list));
}

} // namespace dbc::passes
