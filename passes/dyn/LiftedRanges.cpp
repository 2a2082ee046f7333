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

  Value plain(Value list) {
    auto len = dyn::LenOp::create(b, list.getLoc(), b.getI32Type(), list);
    if (!calleeSays(list))
      done.insert(len);
    return len;
  }
  Value of(Value list);
  Value countOf(dyn::FilterOp filter);
  Value ofElement(Value list, Value position);
  Value ofArms(Operation *op, Value list, function_ref<Value(Lengths &, Value)> inArm);
};
} // namespace

/// The list itself that is gone through together with others.
static Value alone(Value list) {
  while (auto zip = list.getDefiningOp<dyn::ZipOp>())
    list = zip.getLists()[cast<OpResult>(list).getResultNumber()];
  return list;
}

static Value elementOf(OpBuilder &b, Value list, Value position) {
  list = alone(list);
  if (auto range = list.getDefiningOp<dyn::RangeOp>(); range && matchPattern(range.getLow(), m_Zero()))
    return position;
  Type type = cast<dyn::ListType>(list.getType()).getElement();
  return dyn::AtOp::create(b, list.getLoc(), type, list, position, Value());
}

/// How many elements stay: the filter goes through the lists alone that it asks.
Value Lengths::countOf(dyn::FilterOp filter) {
  Location loc = filter.getLoc();
  Block &body = filter.getBody().front();
  SmallVector<Value> lists;
  SmallVector<BlockArgument> asked;
  for (auto [list, argument] : llvm::zip(filter.getLists(), body.getArguments()))
    if (!argument.use_empty()) {
      lists.push_back(alone(list));
      asked.push_back(argument);
    }
  if (lists.empty())
    lists.push_back(dyn::RangeOp::create(b, loc, of(filter.getLists()[0])));
  auto ones = dyn::MapOp::create(b, loc, dyn::ListType::get(b.getI32Type()), lists);
  Block &each = ones.getBody().emplaceBlock();
  IRMapping map;
  for (Value list : lists)
    each.addArgument(cast<dyn::ListType>(list.getType()).getElement(), loc);
  for (auto [argument, element] : llvm::zip(asked, each.getArguments()))
    map.map(argument, element);
  OpBuilder inside = OpBuilder::atBlockEnd(&each);
  for (Operation &op : body.without_terminator())
    inside.clone(op, map);
  Value stays = map.lookupOrDefault(body.getTerminator()->getOperand(0));
  Value one = arith::ExtUIOp::create(inside, loc, b.getI32Type(), stays);
  dyn::YieldOp::create(inside, loc, one);
  return dyn::ReduceListOp::create(b, loc, b.getI32Type(), dyn::ReduceKind::Sum, ones.getResult(0), Value());
}

/// An `if` or `match` like `op`, each arm of which gives a number made of the list that it gives there.
Value Lengths::ofArms(Operation *op, Value list, function_ref<Value(Lengths &, Value)> inArm) {
  unsigned number = cast<OpResult>(list).getResultNumber();
  Operation *copy = createArms(b, op, op->getOperands(), b.getI32Type());
  for (auto [arm, into] : llvm::zip(op->getRegions(), copy->getRegions())) {
    OpBuilder inside = OpBuilder::atBlockEnd(&into.emplaceBlock());
    IRMapping map;
    for (Operation &each : arm.front().without_terminator())
      inside.clone(each, map);
    Lengths there{inside, done, elementOfCallee};
    Value given = map.lookupOrDefault(arm.front().getTerminator()->getOperand(number));
    dyn::YieldOp::create(inside, op->getLoc(), inArm(there, given));
  }
  return copy->getResult(0);
}

/// The length of an element of a list of lists.
Value Lengths::ofElement(Value list, Value position) {
  Operation *op = list.getDefiningOp();
  if (isa_and_nonnull<dyn::IfOp, dyn::MatchOp>(op))
    return ofArms(op, list, [&](Lengths &there, Value arm) { return there.ofElement(arm, position); });
  if (auto fold = dyn_cast_or_null<dyn::FoldOp>(op)) // states keep their lengths
    return ofElement(fold.getInit()[cast<OpResult>(list).getResultNumber()], position);
  if (dyn::CallOp call = calleeSays(list))
    return of(elementOfCallee(b, call, cast<OpResult>(list).getResultNumber(), position));
  if (auto map = dyn_cast_or_null<dyn::MapOp>(op)) {
    IRMapping inside;
    Block &body = map.getBody().front();
    for (auto [each, argument] : llvm::zip(map.getLists(), body.getArguments()))
      if (!argument.use_empty())
        inside.map(argument, elementOf(b, each, position));
    for (Operation &each : body.without_terminator())
      b.clone(each, inside);
    return of(
        inside.lookupOrDefault(body.getTerminator()->getOperand(cast<OpResult>(list).getResultNumber())));
  }
  if (auto zip = dyn_cast_or_null<dyn::ZipOp>(op))
    return ofElement(zip.getLists()[cast<OpResult>(list).getResultNumber()], position);
  if (auto reverse = dyn_cast_or_null<dyn::ReverseOp>(op)) {
    Value last = sub(b, op->getLoc(), of(reverse.getList()), 1);
    return ofElement(reverse.getList(), sub(b, op->getLoc(), last, position));
  }
  if (auto slice = dyn_cast_or_null<dyn::SliceOp>(op)) {
    Value index = dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Add, slice.getLow(), position);
    return ofElement(slice.getList(), index);
  }
  return plain(elementOf(b, list, position));
}

Value Lengths::of(Value list) {
  Operation *op = list.getDefiningOp();
  if (Value from = dyn::lengthFrom(list))
    return of(from);
  if (isa_and_nonnull<dyn::IfOp, dyn::MatchOp>(op))
    return ofArms(op, list, [](Lengths &there, Value arm) { return there.of(arm); });
  if (auto fold = dyn_cast_or_null<dyn::FoldOp>(op))
    return of(fold.getInit()[cast<OpResult>(list).getResultNumber()]);
  if (auto range = dyn_cast_or_null<dyn::RangeOp>(op); range && matchPattern(range.getLow(), m_Zero()))
    return dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Max, range.getHigh(), range.getLow());
  if (auto slice = dyn_cast_or_null<dyn::SliceOp>(op)) {
    Value count = sub(b, op->getLoc(), slice.getHigh(), slice.getLow());
    return dyn::IntOp::create(b, op->getLoc(), dyn::IntKind::Max, integer(b, op->getLoc(), 0), count);
  }
  if (auto filter = dyn_cast_or_null<dyn::FilterOp>(op))
    return countOf(filter);
  if (auto at = dyn_cast_or_null<dyn::AtOp>(op))
    return ofElement(at.getList(), at.getIndex());
  return plain(list);
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

/// Of lists whose elements a map does not read it needs the length alone.
static void mapPositions(Region &range) {
  range.walk([](dyn::MapOp map) {
    OpBuilder b(map);
    Type position = b.getI32Type();
    for (auto [n, argument] : llvm::enumerate(map.getBody().front().getArguments())) {
      Value list = alone(map.getLists()[n]);
      if (!argument.use_empty() || list.getDefiningOp<dyn::RangeOp>())
        continue;
      Value length = dyn::LenOp::create(b, list.getLoc(), position, list);
      map->setOperand(n, dyn::RangeOp::create(b, list.getLoc(), length));
      argument.setType(position);
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
      mapPositions(range);
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
      }
      dyn::CallOp left;
      range.walk([&](dyn::CallOp call) { left = call.getEvery() ? left : call; });
      if (left)
        return refuse(left.getLoc()) << "the range of a key depends on what a cell computes";
    }
  return success();
}

} // namespace dbc::passes
