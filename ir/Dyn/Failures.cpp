// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which operations may fail an input (LANGUAGE E2), and how they do no harm where they are not to count.
#include "ir/Dyn/Binders.h"
#include "ir/Dyn/Structural.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

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

bool dbc::dyn::mayFail(Operation *op) {
  if (auto range = dyn_cast<RangeOp>(op)) {
    auto isConstant = [](Value v) { return v.getDefiningOp<arith::ConstantOp>() != nullptr; };
    return !isConstant(range.getLow()) || !isConstant(range.getHigh());
  }
  if (auto zip = dyn_cast<ZipOp>(op))
    return !llvm::all_equal(llvm::map_range(zip.getLists(), lengthOf));
  if (isRecurrence(op))
    return !keepsLengths(op);
  if (auto take = dyn_cast<TakeOp>(op))
    return take.getChecked();
  if (auto ints = dyn_cast<IntOp>(op))
    return ints.getKind() != IntKind::Max && ints.getKind() != IntKind::Min;
  auto isInts = [](Type type) { return scalar(type).isInteger(32); };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return reduce.getKind() == ReduceKind::Sum && isInts(reduce.getType());
  if (auto reduce = dyn_cast<ReduceListOp>(op))
    switch (reduce.getKind()) {
    case ReduceKind::Sum:
      return isInts(reduce.getType());
    case ReduceKind::LogSumExp:
    case ReduceKind::Any:
    case ReduceKind::All:
      return false;
    default:
      return true; // of the empty list
    }
  return isa<FieldOp, ArgumentOp, SiteOp, CallerOp, NodesOp, CallOp, NarrowOp, arith::FPToSIOp, SliceOp,
             AtOp>(op);
}

/// The operands that what is computed must fit, and what does no harm instead of each.
static SmallVector<std::pair<unsigned, int64_t>> asked(Operation *op) {
  if (auto ints = dyn_cast<IntOp>(op)) // nothing is divided by 0
    return {{0, 0}, {1, ints.getKind() == IntKind::Div || ints.getKind() == IntKind::Rem}};
  auto list = dyn_cast<ReduceListOp>(op);
  if (isa<NarrowOp, arith::FPToSIOp, ReduceOp>(op) || (list && list.getKind() == ReduceKind::Sum))
    return {{0, 0}};
  if (isa<AtOp, TakeOp>(op))
    return {{1, 0}};
  return {};
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
  if (asksSome(op))
    return mayFail(op);
  return mayFail(op) && llvm::any_of(asked(op), [&](auto operand) {
           return !structural.has(op->getOperand(operand.first));
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
  for (auto [number, instead] : asked(op))
    if (Value x = op->getOperand(number); !isStructural(x))
      op->setOperand(number, select(b, op->getLoc(), when, x, instead));
}
