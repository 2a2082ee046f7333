// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Ranges of the keys of lifted cells: lengths of lists, of which only structure may be left. What the
// elements are, calls of cells above all, does not matter to how many they are.
#include "ir/Dyn/Binders.h"
#include "mlir/IR/Matchers.h"
#include "passes/Refusal.h"
#include "passes/dyn/FrameCopy.h"
#include "passes/dyn/Integers.h"

using namespace mlir;

namespace dbc::passes {

/// The call of the cell that says how long a list is; null if there is none.
static dyn::CallOp calleeSays(Value list) {
  auto call = list.getDefiningOp<dyn::CallOp>();
  return call && !call.getEvery() ? call : dyn::CallOp();
}

namespace {
/// Lengths that ask no more than they must.
struct Lengths {
  /// The element of what a call gives, in terms of its callee.
  using OfCallee = function_ref<Value(OpBuilder &, dyn::CallOp, unsigned, Value)>;
  OpBuilder &b;
  llvm::DenseSet<Operation *> &done; ///< cannot be said otherwise
  OfCallee elementOfCallee;

  /// The length of list[at[0]][at[1]]..
  Value of(Value list, ArrayRef<Value> at = {});

private:
  Value plain(Value list, ArrayRef<Value> at);
  Value ofElement(Value list, Value position, ArrayRef<Value> rest);
  Value ofArms(Operation *op, Value list, ArrayRef<Value> at);
  Value countOf(dyn::FilterOp filter);
  Value sourceOf(dyn::FilterOp filter, Value position);
};
} // namespace

/// The list itself that is gone through together with others.
static Value alone(Value list) {
  while (auto zip = list.getDefiningOp<dyn::ZipOp>())
    list = zip.getLists()[cast<OpResult>(list).getResultNumber()];
  return list;
}

/// The range that a list is, if its elements are their positions; else null.
static dyn::RangeOp positionsOf(Value list) {
  auto range = list.getDefiningOp<dyn::RangeOp>();
  return range && matchPattern(range.getLow(), m_Zero()) ? range : dyn::RangeOp();
}

static Value elementOf(OpBuilder &b, Value list, Value position) {
  list = alone(list);
  if (positionsOf(list))
    return position;
  Type type = cast<dyn::ListType>(list.getType()).getElement();
  return dyn::AtOp::create(b, list.getLoc(), type, list, position, Value());
}

/// The lists that a filter asks whether elements stay.
static SmallVector<Value> askedOf(dyn::FilterOp filter) {
  SmallVector<Value> lists;
  for (auto [list, argument] : llvm::zip(filter.getLists(), filter.getBody().getArguments()))
    if (!argument.use_empty())
      lists.push_back(alone(list));
  return lists;
}

/// Begins the body of a binder through `lists`, the first of which are askedOf(filter): gives whether the
/// elements stay.
static Value beginWithTest(OpBuilder &inside, dyn::FilterOp filter, Region &body, ValueRange lists) {
  Block &each = body.emplaceBlock();
  for (Value list : lists)
    each.addArgument(cast<dyn::ListType>(list.getType()).getElement(), filter.getLoc());
  IRMapping map;
  auto *element = each.args_begin();
  for (BlockArgument argument : filter.getBody().getArguments())
    if (!argument.use_empty())
      map.map(argument, *element++);
  inside.setInsertionPointToEnd(&each);
  for (Operation &op : filter.getBody().front().without_terminator())
    inside.clone(op, map);
  return map.lookupOrDefault(filter.getBody().front().getTerminator()->getOperand(0));
}

/// Asked of the list itself; of what a call gives the callee is still to be asked.
Value Lengths::plain(Value list, ArrayRef<Value> at) {
  for (Value position : at)
    list = elementOf(b, list, position);
  auto len = dyn::LenOp::create(b, list.getLoc(), b.getI32Type(), list);
  if (!calleeSays(list))
    done.insert(len);
  return len;
}

/// How many elements stay.
Value Lengths::countOf(dyn::FilterOp filter) {
  Location loc = filter.getLoc();
  SmallVector<Value> lists = askedOf(filter);
  if (lists.empty())
    lists.push_back(dyn::RangeOp::create(b, loc, of(filter.getLists()[0])));
  auto ones = dyn::MapOp::create(b, loc, dyn::ListType::get(b.getI32Type()), lists);
  OpBuilder inside(b);
  Value stays = beginWithTest(inside, filter, ones.getBody(), lists);
  dyn::YieldOp::create(inside, loc, arith::ExtUIOp::create(inside, loc, b.getI32Type(), stays).getResult());
  return dyn::ReduceListOp::create(b, loc, b.getI32Type(), dyn::ReduceKind::Sum, ones.getResult(0), Value());
}

/// Where the element comes from that stays at `position`.
Value Lengths::sourceOf(dyn::FilterOp filter, Value position) {
  Location loc = filter.getLoc();
  SmallVector<Value> lists = askedOf(filter);
  lists.push_back(dyn::RangeOp::create(b, loc, of(filter.getLists()[0])));
  auto kept = dyn::FilterOp::create(b, loc, ValueRange(lists).getTypes(), lists);
  OpBuilder inside(b);
  dyn::YieldOp::create(inside, loc, beginWithTest(inside, filter, kept.getBody(), lists));
  return dyn::AtOp::create(b, loc, b.getI32Type(), kept.getResults().back(), position, Value());
}

/// Of what an `if` or `match` gives, in each arm.
Value Lengths::ofArms(Operation *op, Value list, ArrayRef<Value> at) {
  unsigned number = cast<OpResult>(list).getResultNumber();
  Operation *copy = createArms(b, op, op->getOperands(), b.getI32Type());
  for (auto [arm, into] : llvm::zip(op->getRegions(), copy->getRegions())) {
    OpBuilder inside = OpBuilder::atBlockEnd(&into.emplaceBlock());
    IRMapping map;
    for (Operation &each : arm.front().without_terminator())
      inside.clone(each, map);
    Lengths there{inside, done, elementOfCallee};
    Value given = map.lookupOrDefault(arm.front().getTerminator()->getOperand(number));
    dyn::YieldOp::create(inside, op->getLoc(), there.of(given, at));
  }
  return copy->getResult(0);
}

/// The list of which a value is an element, in the body of a binder; null if it is none.
static Value goneThrough(Value element) {
  auto argument = dyn_cast<BlockArgument>(element);
  Operation *binder = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (!binder || !dyn::isBinder(binder) || argument.getArgNumber() >= dyn::listsOf(binder).size())
    return Value();
  return alone(dyn::listsOf(binder)[argument.getArgNumber()]);
}

/// Whether elements of a list, which are lists, are made here. Else they are there, and can be asked.
static bool makesElements(Value list) {
  if (auto at = list.getDefiningOp<dyn::AtOp>())
    return makesElements(at.getList());
  if (Value whole = goneThrough(list))
    return makesElements(whole);
  Operation *op = list.getDefiningOp();
  return isa_and_nonnull<dyn::IfOp, dyn::MatchOp, dyn::FoldOp, dyn::ScanOp, dyn::MapOp, dyn::FilterOp,
                         dyn::ReverseOp, dyn::SliceOp>(op) ||
         calleeSays(list);
}

/// The position of the element in the body of a binder.
static BlockArgument positionIn(Operation *binder) {
  ValueRange lists = dyn::listsOf(binder);
  for (auto [n, list] : llvm::enumerate(lists))
    if (positionsOf(list))
      return binder->getRegion(0).getArgument(n);
  OpBuilder b(binder);
  Location loc = binder->getLoc();
  Value length = dyn::LenOp::create(b, loc, b.getI32Type(), alone(lists[0]));
  Value positions = dyn::RangeOp::create(b, loc, length);
  auto filter = dyn_cast<dyn::FilterOp>(binder);
  if (!filter)
    return dyn::addList(binder, positions);
  SmallVector<Value> wider(lists); // it gives what it goes through
  wider.push_back(positions);
  auto copy = dyn::FilterOp::create(b, loc, ValueRange(wider).getTypes(), wider);
  copy.getBody().takeBody(filter.getBody());
  filter.replaceAllUsesWith(copy.getResults().drop_back());
  filter.erase();
  return copy.getBody().addArgument(b.getI32Type(), loc);
}

/// That of an element of a list that is made here.
Value Lengths::ofElement(Value list, Value position, ArrayRef<Value> rest) {
  unsigned number = cast<OpResult>(list).getResultNumber();
  Operation *op = list.getDefiningOp();
  Location loc = op->getLoc();
  auto from = [&](Value source, Value index) {
    SmallVector<Value> at = {index};
    llvm::append_range(at, rest);
    return of(source, at);
  };
  if (auto fold = dyn_cast<dyn::FoldOp>(op)) // states keep their lengths
    return from(fold.getInit()[number], position);
  if (auto scan = dyn_cast<dyn::ScanOp>(op))
    return of(scan.getInit()[number], rest);
  if (auto filter = dyn_cast<dyn::FilterOp>(op))
    return from(filter.getLists()[number], sourceOf(filter, position));
  if (auto reverse = dyn_cast<dyn::ReverseOp>(op))
    return from(reverse.getList(), sub(b, loc, sub(b, loc, of(reverse.getList()), 1), position));
  if (auto slice = dyn_cast<dyn::SliceOp>(op))
    return from(slice.getList(),
                dyn::IntOp::create(b, loc, dyn::IntKind::Add, slice.getLow(), position).getResult());
  if (auto map = dyn_cast<dyn::MapOp>(op)) {
    IRMapping inside;
    Block &body = map.getBody().front();
    for (auto [each, argument] : llvm::zip(map.getLists(), body.getArguments()))
      if (!argument.use_empty())
        inside.map(argument, elementOf(b, each, position));
    for (Operation &each : body.without_terminator())
      b.clone(each, inside);
    return of(inside.lookupOrDefault(body.getTerminator()->getOperand(number)), rest);
  }
  return of(elementOfCallee(b, calleeSays(list), number, position), rest);
}

Value Lengths::of(Value list, ArrayRef<Value> at) {
  list = alone(list);
  Operation *op = list.getDefiningOp();
  auto ofElementOf = [&](Value whole, Value position) {
    SmallVector<Value> there = {position};
    llvm::append_range(there, at);
    return of(whole, there);
  };
  if (auto element = dyn_cast_or_null<dyn::AtOp>(op))
    return ofElementOf(element.getList(), element.getIndex());
  if (Value whole = goneThrough(list); whole && makesElements(whole))
    return ofElementOf(whole, positionIn(cast<BlockArgument>(list).getOwner()->getParentOp()));
  if (isa_and_nonnull<dyn::IfOp, dyn::MatchOp>(op))
    return ofArms(op, list, at);
  if (!at.empty())
    return makesElements(list) ? ofElement(list, at.front(), at.drop_front()) : plain(list, at);
  if (Value from = dyn::lengthFrom(list))
    return of(from);
  if (auto fold = dyn_cast_or_null<dyn::FoldOp>(op))
    return of(fold.getInit()[cast<OpResult>(list).getResultNumber()]);
  if (dyn::RangeOp range = positionsOf(list))
    return dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Max, range.getHigh(), range.getLow());
  if (auto slice = dyn_cast_or_null<dyn::SliceOp>(op)) {
    Value count = sub(b, op->getLoc(), slice.getHigh(), slice.getLow());
    return dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Max, integer(b, op->getLoc(), 0), count);
  }
  if (auto filter = dyn_cast_or_null<dyn::FilterOp>(op))
    return countOf(filter);
  return plain(list, at);
}

static dyn::LenOp nextLength(Region &range, const llvm::DenseSet<Operation *> &done) {
  dyn::LenOp next;
  range.walk([&](dyn::LenOp len) {
    if (!done.contains(len))
      next = len;
    return next ? WalkResult::interrupt() : WalkResult::advance();
  });
  return next;
}

/// Takes out what nothing asks for: it only said what elements are.
static void eraseUnused(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (!op.hasTrait<OpTrait::IsTerminator>() && op.use_empty())
        op.erase();
      else
        for (Region &inner : op.getRegions())
          eraseUnused(inner);
    }
}

/// Of lists whose elements nobody reads it needs the length alone.
static void readPositions(Region &range) {
  range.walk([](dyn::BinderOpInterface binder) {
    OpBuilder b(binder);
    Type position = b.getI32Type();
    for (auto [n, operand] : llvm::enumerate(binder.getListsMutable())) {
      BlockArgument argument = binder->getRegion(0).getArgument(n);
      Value list = alone(operand.get());
      bool isGiven = isa<dyn::FilterOp>(binder) && !binder->getResult(n).use_empty();
      if (!argument.use_empty() || isGiven || list.getDefiningOp<dyn::RangeOp>())
        continue;
      operand.set(
          dyn::RangeOp::create(b, list.getLoc(), dyn::LenOp::create(b, list.getLoc(), position, list)));
      argument.setType(position);
      if (isa<dyn::FilterOp>(binder))
        binder->getResult(n).setType(operand.get().getType());
    }
  });
}

LogicalResult LiftedCells::cleanRanges() {
  // What a list is that a call gives, the callee says.
  auto inCallee = [&](OpBuilder &b, dyn::CallOp call, unsigned number,
                      function_ref<Value(FrameCopy &, Value)> make) {
    auto callee = symbols.lookup<dyn::CellOp>(call.getCallee());
    FrameCopy inside(*this, b, {callee, {}}, FrameKeys{SmallVector<Value>(call.getKeys()), {}});
    return make(inside, callee.getBody().front().getTerminator()->getOperand(number));
  };
  auto elementOfCallee = [&](OpBuilder &b, dyn::CallOp call, unsigned number, Value position) {
    return inCallee(b, call, number,
                    [&](FrameCopy &inside, Value list) { return inside.element(list, position); });
  };
  for (auto &[cell, context] : contexts)
    for (Region &range : cast<dyn::CellOp>(cell).getRanges()) {
      readPositions(range);
      llvm::DenseSet<Operation *> done;
      while (dyn::LenOp len = nextLength(range, done)) {
        OpBuilder b(len);
        Value length;
        if (dyn::CallOp call = calleeSays(len.getList()))
          length = inCallee(b, call, cast<OpResult>(len.getList()).getResultNumber(),
                            [](FrameCopy &inside, Value list) { return inside.length(list); });
        else
          length = Lengths{b, done, elementOfCallee}.of(len.getList());
        len.replaceAllUsesWith(length);
        len.erase();
        eraseUnused(range);
        readPositions(range);
      }
      dyn::CallOp left;
      range.walk([&](dyn::CallOp call) { left = call.getEvery() ? left : call; });
      if (left)
        return refuse(left.getLoc()) << "the range of a key depends on what a cell computes";
    }
  return success();
}

} // namespace dbc::passes
