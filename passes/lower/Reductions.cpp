// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/Reductions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <limits>

using namespace mlir;

namespace dbc::passes {

using dyn::ReduceKind;

Value Reduction::real(double value) {
  return arith::ConstantOp::create(b, at, b.getF32FloatAttr(static_cast<float>(value)));
}

bool Reduction::isFold() const { return kind != ReduceKind::LogSumExp && kind != ReduceKind::ArgMax; }

bool Reduction::startsWithFirst() const { return kind == ReduceKind::Max || kind == ReduceKind::Min; }

Value Reduction::start() {
  if (kind == ReduceKind::Any || kind == ReduceKind::All)
    return arith::ConstantOp::create(b, at, b.getBoolAttr(kind == ReduceKind::All));
  assert((kind == ReduceKind::Sum || kind == ReduceKind::Mean) && "starts with the first element");
  return type.isF32() ? real(0) : arith::ConstantOp::create(b, at, b.getI32IntegerAttr(0)).getResult();
}

Value Reduction::next(Value soFar, Value x) {
  bool reals = type.isF32();
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return reals ? arith::AddFOp::create(b, at, soFar, x).getResult() : addInts(soFar, x);
  case ReduceKind::Max:
    return reals ? arith::MaximumFOp::create(b, at, soFar, x).getResult()
                 : arith::MaxSIOp::create(b, at, soFar, x).getResult();
  case ReduceKind::Min:
    return reals ? arith::MinimumFOp::create(b, at, soFar, x).getResult()
                 : arith::MinSIOp::create(b, at, soFar, x).getResult();
  case ReduceKind::Any:
    return arith::OrIOp::create(b, at, soFar, x);
  case ReduceKind::All:
    return arith::AndIOp::create(b, at, soFar, x);
  case ReduceKind::LogSumExp:
  case ReduceKind::ArgMax:
  case ReduceKind::Pick:
    break;
  }
  llvm_unreachable("no fold");
}

Value Reduction::finish(Value soFar, function_ref<Value()> length) {
  return kind == ReduceKind::Mean ? arith::DivFOp::create(b, at, soFar, length()).getResult() : soFar;
}

Value Reduction::over(Loop loop, function_ref<Value(Value)> element, function_ref<Value()> length) {
  if (kind == ReduceKind::LogSumExp)
    return logSumExp(loop, element);
  if (kind == ReduceKind::ArgMax)
    return argMax(loop, element);
  Value first =
      startsWithFirst() ? element(arith::ConstantOp::create(b, at, b.getI32IntegerAttr(0))) : start();
  Value all = loop(startsWithFirst(), first, [&](Value k, ValueRange soFar) -> SmallVector<Value> {
    return {next(soFar[0], element(k))};
  })[0];
  return finish(all, length);
}

/// The largest plus the logarithm of the sum of exp(x - largest); -inf where all elements are.
Value Reduction::logSumExp(Loop loop, function_ref<Value(Value)> element) {
  const double infinity = std::numeric_limits<double>::infinity();
  Value largest = loop(0, real(-infinity), [&](Value k, ValueRange soFar) -> SmallVector<Value> {
    return {arith::MaximumFOp::create(b, at, soFar[0], element(k))};
  })[0];
  // An infinite largest is not subtracted, for inf minus inf is no number.
  Value size = math::AbsFOp::create(b, at, largest);
  Value is = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, size, real(infinity));
  Value shift = arith::SelectOp::create(b, at, is, real(0), largest);
  Value sum = loop(0, real(0), [&](Value k, ValueRange soFar) -> SmallVector<Value> {
    Value e = math::ExpOp::create(b, at, arith::SubFOp::create(b, at, element(k), shift));
    return {arith::AddFOp::create(b, at, soFar[0], e)};
  })[0];
  Value log = math::LogOp::create(b, at, sum);
  return arith::AddFOp::create(b, at, shift, log);
}

/// The position of the first of the largest; a nan is larger than all numbers.
Value Reduction::argMax(Loop loop, function_ref<Value(Value)> element) {
  Value zero = arith::ConstantOp::create(b, at, b.getI32IntegerAttr(0));
  SmallVector<Value, 2> first{element(zero), zero};
  return loop(1, first, [&](Value k, ValueRange best) -> SmallVector<Value> {
    Value x = element(k);
    Value better;
    if (type.isF32()) {
      Value notLess = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UGT, x, best[0]);
      Value isNumber = arith::CmpFOp::create(b, at, arith::CmpFPredicate::OEQ, best[0], best[0]);
      better = arith::AndIOp::create(b, at, notLess, isNumber);
    } else {
      better = arith::CmpIOp::create(b, at, arith::CmpIPredicate::sgt, x, best[0]);
    }
    return {arith::SelectOp::create(b, at, better, x, best[0]),
            arith::SelectOp::create(b, at, better, k, best[1])};
  })[1];
}

} // namespace dbc::passes
