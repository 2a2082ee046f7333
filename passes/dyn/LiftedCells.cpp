// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/dyn/LiftedCells.h"
#include "ir/Dyn/Binders.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/dyn/FrameCopy.h"
#include "passes/dyn/Integers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dbc::passes {

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
    if (dyn::isBinder(at))
      binders.insert(binders.begin(), at);
  return binders;
}

static Location positionLoc(Location at) {
  return NameLoc::get(StringAttr::get(at.getContext(), "position"), at);
}

void LiftedCells::addPosition(Operation *binder) {
  if (binder->hasAttr("position"))
    return;
  BlockArgument position = dyn::addPosition(binder, positionLoc(binder->getLoc()));
  binder->setAttr("position", Builder(binder->getContext()).getI32IntegerAttr(position.getArgNumber()));
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

bool LiftedCells::isOfModel(Value value) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t n = 0; n < open.size(); ++n) {
    Operation *op = open[n].getDefiningOp();
    if (!op || (op->getNumRegions() && !isa<linalg::FillOp>(op)) ||
        isa<dyn::CallOp, dyn::ArgumentOp, dyn::CalledByOp, dyn::CallerOp>(op))
      return false;
    open.insert(op->operand_begin(), op->operand_end());
  }
  return true;
}

dyn::CellOp LiftedCells::makeCell(StringRef name, Location loc, TypeRange results, Type surface,
                                  const Frame &frame, dyn::CellOp like, ValueRange captured,
                                  ValueRange over) {
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
  unsigned ranges =
      llvm::count_if(own, isNumber) + frame.binders.size() + over.size() + llvm::count_if(others, isNumber);
  auto cell = dyn::CellOp::create(b, loc, name, b.getTypeArrayAttr(results), surface, ranges);
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
    addKey(b.getI32Type(), positionLoc(binder->getLoc()),
           [&, binder = binder](OpBuilder &inside, Block &range) {
             FrameCopy copy(*this, inside, around, inFrame(range));
             return SmallVector<Value>{integer(inside, loc, 0), copy.length(dyn::listsOf(binder)[0])};
           });
  }
  for (Value list : over)
    addKey(b.getI32Type(), positionLoc(list.getLoc()), [&](OpBuilder &inside, Block &range) {
      FrameCopy copy(*this, inside, frame, inFrame(range));
      return SmallVector<Value>{integer(inside, loc, 0), copy.length(list)};
    });
  contexts[cell] = {ownFirst, body.getNumArguments() - ownFirst, frame.function};
  for (auto [k, key] : llvm::enumerate(others)) {
    if (ownFirst && k == 0)
      continue;
    addKey(key.getType(), key.getLoc(), [&, k = k](OpBuilder &inside, Block &range) {
      FrameCopy copy(*this, inside, frame, inFrame(range));
      Block &source = like.getRange(k)->front();
      for (auto [argument, value] : llvm::zip(source.getArguments().drop_front(k), captured))
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
      cast<dyn::CellOp>(cell).setFrame(ArrayRef<int64_t>{context.first, context.count});
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
  // The cell computes all its values: it gives one only where all of them are there, not outside of the arm
  // of another.
  auto isThere = [](Value other, Value value) {
    Block *block = value.getParentBlock(), *its = other.getParentBlock();
    return block == its || its->findAncestorOpInBlock(*block->getParentOp());
  };
  for (auto [n, value] : llvm::enumerate(values))
    if ((value.getDefiningOp() || dyn::isNumber(value.getType())) &&
        llvm::all_of(values, [&, v = value](Value other) { return isThere(other, v); }))
      computed.insert({value, {cell, frame, unsigned(n)}});
  return cell;
}

void LiftedCells::shareValue(Value value, const Frame &frame) {
  std::string name = (SymbolTable::getSymbolName(frame.function).getValue() + ".value").str();
  dyn::CellOp cell = makeValues(name, value.getLoc(), frame, value);
  if (statesCells.contains(frame.function))
    statesCells.insert(cell);
}

void LiftedCells::readValues(Operation *function) {
  for (auto &[value, by] : computed) {
    Operation *op = value.getDefiningOp();
    // What is made of nothing is made again, wherever it is wanted.
    if (by.frame.function != function || by.read || !op ||
        (op->getNumOperands() == 0 && op->getNumRegions() == 0) ||
        (!by.frame.binders.empty() && !by.frame.binders.back()->isAncestor(op)))
      continue;
    by.read = true;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfter(op);
    dyn::CallOp there = call(b, value.getLoc(), by.cell, keysInside(by.frame).all());
    // Structure stays what it is: what the cell gives is computed.
    if (dyn::isNumber(value.getType()) && !isa<dyn::CallOp, dyn::AtOp>(op) && !dyn::isStructural(value))
      Value(value).replaceAllUsesExcept(there.getResult(by.result), there);
    // What is not used any more here must fail here all the same.
    dyn::NeedOp::create(b, value.getLoc(), there.getResult(by.result));
  }
}

dyn::CallOp LiftedCells::call(OpBuilder &b, Location loc, dyn::CellOp cell, ValueRange keys) {
  return dyn::CallOp::create(b, loc, resultsOf(cell), cell.getSymName(), keys, ValueRange(),
                             FlatSymbolRefAttr(), ValueRange());
}

} // namespace dbc::passes
