// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which operations may fail an input (manual, E2), and how they do no harm where they are not to count.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Structural.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace dbc::dyn;

/// The list that a list has its length of: what it is a map of, and so on. Lists that are zipped have the
/// first one's.
static Value lengthOf(Value list) {
  while (Value from = lengthFrom(list)) {
    if (auto scan = list.getDefiningOp<ScanOp>(); scan && scan.getStops())
      break;
    auto zip = list.getDefiningOp<ZipOp>();
    list = zip ? zip.getLists()[0] : from;
  }
  return list;
}

/// Whether a list has the length of another for certain, and so have the lists in it.
static bool hasLengthsOf(Value list, Value other) {
  auto type = dyn_cast<ListType>(list.getType());
  if (!type || list == other)
    return true;
  if (lengthOf(list) != other)
    return false;
  if (!isa<ListType>(type.getElement()))
    return true;
  auto map = list.getDefiningOp<MapOp>();
  if (!map || !llvm::is_contained(map.getLists(), other))
    return false;
  Block &body = map.getBody().front();
  unsigned number = llvm::find(map.getLists(), other) - map.getLists().begin();
  return hasLengthsOf(body.getTerminator()->getOperand(cast<OpResult>(list).getResultNumber()),
                      body.getArgument(number));
}

/// Whether every list in the state of a scan or fold has in each step the length that it had.
static bool keepsLengths(Operation *recurrence) {
  Block &body = recurrence->getRegion(0).front();
  auto states = body.getArguments().drop_front(listsOf(recurrence).size());
  return llvm::all_of(llvm::zip(states, body.getTerminator()->getOperands()), [](auto pair) {
    auto [state, next] = pair;
    return hasLengthsOf(next, state);
  });
}

using CheckedOperands = SmallVector<CheckedOperand>;
static bool isInts(Type type) { return scalar(type).isInteger(32); }

bool RangeOp::mayFail() {
  auto isConstant = [](Value v) { return v.getDefiningOp<arith::ConstantOp>() != nullptr; };
  return !isConstant(getLow()) || !isConstant(getHigh());
}
bool ZipOp::mayFail() { return !llvm::all_equal(llvm::map_range(getLists(), lengthOf)); }
bool ScanOp::mayFail() { return !keepsLengths(*this); }
bool FoldOp::mayFail() { return !keepsLengths(*this); }

bool IntOp::mayFail() { return getKind() != IntKind::Max && getKind() != IntKind::Min; }
CheckedOperands IntOp::getCheckedOperands() { // nothing is divided by 0
  return {{0, 0}, {1, getKind() == IntKind::Div || getKind() == IntKind::Rem}};
}
CheckedOperands NarrowOp::getCheckedOperands() { return {{0, 0}}; }

bool GatherOp::mayFail() { return getChecked(); }
CheckedOperands GatherOp::getCheckedOperands() { return {{1, 0}}; }
CheckedOperands AtOp::getCheckedOperands() { return {{1, 0}}; }

bool ReduceOp::mayFail() { return getKind() == ReduceKind::Sum && isInts(getType()); }
CheckedOperands ReduceOp::getCheckedOperands() { return {{0, 0}}; }

bool dbc::dyn::needsElement(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Mean:
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::ArgMax:
    return true;
  case ReduceKind::Sum:
  case ReduceKind::LogSumExp:
  case ReduceKind::Any:
  case ReduceKind::All:
  case ReduceKind::Pick: // says itself what it lacks
    break;
  }
  return false;
}

bool ReduceListOp::mayFail() {
  return needsElement(getKind()) || (getKind() == ReduceKind::Sum && isInts(getType()));
}
CheckedOperands ReduceListOp::getCheckedOperands() {
  return getKind() == ReduceKind::Sum ? CheckedOperands{{0, 0}} : CheckedOperands();
}

bool dbc::dyn::mayFail(Operation *op) {
  auto failure = dyn_cast<FailureOpInterface>(op);
  return failure && failure.mayFail();
}

bool dbc::dyn::mayFailButForFields(Operation *op) {
  return anyInside(op, [](Operation *inner) { return mayFail(inner) && !isa<FieldOp>(inner); });
}

/// Whether it must not be empty, and a `while` says whether it is.
static bool asksSome(Operation *op) {
  auto reduce = dyn_cast<ReduceListOp>(op);
  return reduce && reduce.getKind() != ReduceKind::Sum && isEnded(reduce.getList());
}

bool dbc::dyn::mayFailComputed(Operation *op) {
  Structural structural;
  return mayFailComputed(op, structural);
}

bool dbc::dyn::mayFailComputed(Operation *op, Structural &structural) {
  if (!mayFail(op) || asksSome(op))
    return mayFail(op);
  return llvm::any_of(cast<FailureOpInterface>(op).getCheckedOperands(), [&](CheckedOperand checked) {
    return !structural.has(op->getOperand(checked.number));
  });
}

/// `x` where `when` holds, else numbers that are all `instead`.
static Value select(OpBuilder &b, Location loc, Value when, Value x, int64_t instead) {
  if (auto list = dyn_cast<ListType>(x.getType())) {
    auto map = MapOp::create(b, loc, x.getType(), x);
    Block &body = map.getBody().emplaceBlock();
    Value element = body.addArgument(list.getElement(), loc);
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    YieldOp::create(inside, loc, select(inside, loc, when, element, instead));
    return map.getResult(0);
  }
  bool isFloat = scalar(x.getType()).isF32();
  TypedAttr constant = isFloat ? TypedAttr(b.getF32FloatAttr(instead)) : b.getI32IntegerAttr(instead);
  if (auto shaped = dyn_cast<RankedTensorType>(x.getType()))
    constant = SplatElementsAttr::get(shaped, Attribute(constant));
  return arith::SelectOp::create(b, loc, when, x, arith::ConstantOp::create(b, loc, constant));
}

/// Whether 0 by this operand, or 0 less it, may fail: guarding the other one is not enough.
static bool failsOfZero(Operation *op, unsigned number) {
  auto ints = dyn_cast<IntOp>(op);
  if (!ints || number != 1)
    return false;
  const bool divides = ints.getKind() == IntKind::Div || ints.getKind() == IntKind::Rem;
  if (!divides && ints.getKind() != IntKind::Sub)
    return false;
  auto fails = [&](const APInt &value) { return divides ? value.isZero() : value.isMinSignedValue(); };
  Attribute constant;
  if (!matchPattern(op->getOperand(1), m_Constant(&constant)))
    return true;
  if (auto elements = dyn_cast<DenseIntElementsAttr>(constant))
    return llvm::any_of(elements.getValues<APInt>(), fails);
  return fails(cast<IntegerAttr>(constant).getValue());
}

void dbc::dyn::guard(Operation *op, Value when) {
  if (!mayFailComputed(op))
    return;
  OpBuilder b(op);
  auto guarded = [&](auto reads) {
    Value outer = reads.getWhen();
    reads.getWhenMutable().assign(outer ? arith::AndIOp::create(b, op->getLoc(), outer, when).getResult()
                                        : when);
  };
  if (auto at = dyn_cast<AtOp>(op))
    return guarded(at);
  if (asksSome(op))
    return guarded(cast<ReduceListOp>(op));
  for (auto [number, instead] : cast<FailureOpInterface>(op).getCheckedOperands())
    if (Value x = op->getOperand(number); !isStructural(x) || failsOfZero(op, number))
      op->setOperand(number, select(b, op->getLoc(), when, x, instead));
}
