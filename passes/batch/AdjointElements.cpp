// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/AdjointElements.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace dbc::passes {

AdjointElements::AdjointElements(AdjointDeclarations &declare, OpBuilder &b, batch::SegmentOp segment)
    : declare(declare), b(b), in(b.getContext()), segment(segment),
      from(segment->getParentOfType<batch::StageOp>()), loc(segment.getLoc()),
      type(declare.rowsOf(segment.getArrayAttr()).type),
      elements(FlatSymbolRefAttr::get(declare.elements(segment))),
      toParent(declare.relation(loc, elements, kernel::kParentArray, from.getIndexSetAttr())) {}

void AdjointElements::contribute(FlatSymbolRefAttr adjoint, FlatSymbolRefAttr contribution) {
  FlatSymbolRefAttr first;
  if (segment.getKind() == dyn::ReduceKind::Max || segment.getKind() == dyn::ReduceKind::Min)
    first = firstOfEquals(contribution.getValue());
  stage(elements);
  Value amount = ofParent(adjoint, type);
  if (from.getWhen()) // rows that a `while` has ended have none
    only(ofParent(from.getWhenAttr(), in.getI1Type()));
  if (segment.getCount())
    amount = countedShare(amount);
  amount = share(amount, first);
  if (where)
    amount = arith::SelectOp::create(in, loc, where, amount, zero());
  batch::WriteOp::create(in, loc, amount, contribution.getValue());
}

/// All goes to the first of those that are equal to the result (manual, G1): a buffer of its position.
FlatSymbolRefAttr AdjointElements::firstOfEquals(StringRef name) {
  Type positions = withNumbers(in.getI32Type());
  auto candidates = FlatSymbolRefAttr::get(declare.buffer(loc, name + ".candidates", elements, positions));
  stage(elements);
  Value element = ofElement();
  Value isEqual =
      arith::CmpFOp::create(in, loc, arith::CmpFPredicate::OEQ, element, ofParent(segment.getResult()));
  if (segment.getCount()) // what a `while` has left out is what an earlier batch has left there
    isEqual = arith::AndIOp::create(in, loc, isEqual, spread(isCounted(ofParent(segment.getCount()))));
  Value position = spread(index("position"));
  Value candidate = arith::SelectOp::create(in, loc, isEqual, position, spread(integer(INT32_MAX)));
  batch::WriteOp::create(in, loc, candidate, candidates.getValue());
  auto first =
      FlatSymbolRefAttr::get(declare.buffer(loc, name + ".first", from.getIndexSetAttr(), positions));
  stage(from.getIndexSetAttr());
  Value least = batch::SegmentOp::create(in, loc, positions, dyn::ReduceKind::Min, candidates,
                                         FlatSymbolRefAttr::get(declare.transpose(toParent)));
  batch::WriteOp::create(in, loc, least, first.getValue());
  return first;
}

/// Only so many elements are there, the first or the last ones: whether the one in hand is.
Value AdjointElements::isCounted(Value count) {
  Value position = index("position");
  if (!segment.getAtEnd())
    return compare(arith::CmpIPredicate::slt, position, count);
  Value first = arith::SubIOp::create(in, loc, index("length"), count);
  return compare(arith::CmpIPredicate::sge, position, first);
}

Value AdjointElements::countedShare(Value amount) {
  Value count = ofParent(segment.getCount());
  only(isCounted(count));
  if (segment.getKind() != dyn::ReduceKind::Mean)
    return amount;
  return arith::DivFOp::create(in, loc, amount,
                               spread(arith::SIToFPOp::create(in, loc, in.getF32Type(), count)));
}

Value AdjointElements::share(Value amount, FlatSymbolRefAttr first) {
  switch (segment.getKind()) {
  case dyn::ReduceKind::Sum:
  case dyn::ReduceKind::Mean:
    return amount;
  case dyn::ReduceKind::LogSumExp: {
    Value element = ofElement();
    Value above = arith::SubFOp::create(in, loc, element, ofParent(segment.getResult()));
    only(arith::CmpFOp::create(in, loc, arith::CmpFPredicate::UNE, amount,
                               zero())); // 0 adds nothing (manual, G2)
    return arith::MulFOp::create(in, loc, amount, math::ExpOp::create(in, loc, above));
  }
  case dyn::ReduceKind::Pick: {
    Value position = index("position");
    only(compare(arith::CmpIPredicate::eq, position, ofParent(segment.getIndex())));
    return amount;
  }
  case dyn::ReduceKind::Max:
  case dyn::ReduceKind::Min: {
    Value position = spread(index("position"));
    only(compare(arith::CmpIPredicate::eq, position, ofParent(first, withNumbers(in.getI32Type()))));
    return amount;
  }
  case dyn::ReduceKind::ArgMax:
  case dyn::ReduceKind::Any:
  case dyn::ReduceKind::All:
    break;
  }
  llvm_unreachable("gives no float");
}

//===-- Pieces of stages ----------------------------------------------------------------------------===//

void AdjointElements::stage(FlatSymbolRefAttr indexSet) {
  batch::StageOp stage = declare.stage(b, loc, batch::StageRole::Adjoint, indexSet);
  in.setInsertionPointToEnd(&stage.getBody().front());
}

Value AdjointElements::ofParent(FlatSymbolRefAttr buffer, Type type) {
  if (declare.rowsOf(buffer).indexSet !=
      from.getIndexSetAttr()) // the model's one row, which all parents read
    return batch::ReadOp::create(in, loc, type, buffer.getValue());
  return batch::GatherOp::create(in, loc, type, buffer, FlatSymbolRefAttr::get(toParent), FlatSymbolRefAttr(),
                                 IntegerAttr());
}

Value AdjointElements::ofElement() {
  batch::RelationOp toElement =
      declare.relation(loc, elements, kernel::kRowArray, declare.ownRowsOf(segment.getArrayAttr()));
  return batch::GatherOp::create(in, loc, type, segment.getArrayAttr(), FlatSymbolRefAttr::get(toElement),
                                 segment.getCarriedAttr(), IntegerAttr());
}

Value AdjointElements::index(StringRef indexArray) {
  return batch::ReadIndexOp::create(in, loc, in.getI32Type(), indexArray);
}

Value AdjointElements::integer(int32_t i) {
  return arith::ConstantOp::create(in, loc, in.getI32IntegerAttr(i));
}

/// A scalar over all numbers of an element.
Value AdjointElements::spread(Value value) {
  Type all = withNumbers(value.getType());
  return isa<RankedTensorType>(value.getType()) || all == value.getType()
             ? value
             : dyn::BroadcastOp::create(in, loc, all, value).getResult();
}

Value AdjointElements::zero() { return spread(arith::ConstantOp::create(in, loc, in.getF32FloatAttr(0))); }

Value AdjointElements::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(in, loc, predicate, x, y);
}

void AdjointElements::only(Value condition) {
  condition = spread(condition);
  where = where ? arith::AndIOp::create(in, loc, where, condition).getResult() : condition;
}

/// The type of an element's shape, with other numbers.
Type AdjointElements::withNumbers(Type number) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !isa<RankedTensorType>(number) ? tensor.clone(number) : number;
}

} // namespace dbc::passes
