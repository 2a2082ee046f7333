// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The derivative of each row operation: what the adjoint of its result adds to the adjoints of its operands
// (reverse mode; Griewank and Walther, Evaluating Derivatives, section 3.2).
#include "ir/Dyn/RowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace dbc::dyn {

namespace {

//===-- Builders ----------------------------------------------------------------------------------------===//

/// Makes operations at one place.
class Rows {
public:
  Rows(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// A float of a scalar's or tensor's type.
  Value number(Type type, double x) const {
    FloatAttr scalar = b.getF32FloatAttr(static_cast<float>(x));
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? arith::ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, scalar)).getResult()
                  : arith::ConstantOp::create(b, loc, scalar).getResult();
  }
  Value zero(Value like) const { return number(like.getType(), 0); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) const { return mul(x, number(x.getType(), y)); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, loc, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, loc, x); }
  Value exp(Value x) const { return math::ExpOp::create(b, loc, x); }
  Value function(FunctionKind kind, Value x) const { return FunctionOp::create(b, loc, kind, x); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(b, loc, condition, yes, no);
  }
  /// `amount` where the adjoint is not 0, else nothing, whatever the derivative is: what an arm that is not
  /// selected would give is dropped (manual, G2). They have one shape, or the adjoint is spread to it.
  Value unlessZero(Value adjoint, Value amount) const {
    Value isSome = compare(arith::CmpFPredicate::UNE, adjoint, zero(adjoint));
    return select(isSome, amount, zero(amount));
  }
  Value scale(Value adjoint, Value derivative) const { return unlessZero(adjoint, mul(adjoint, derivative)); }
  /// `adjoint` where `condition` holds, else nothing.
  Value where(Value condition, Value adjoint) const { return select(condition, adjoint, zero(adjoint)); }

  /// A tensor type with other extents.
  static RankedTensorType withExtents(Type type, ArrayRef<int64_t> extents) {
    return RankedTensorType::get(extents, scalar(type));
  }
  Value broadcast(Value x, Type type) const {
    if (x.getType() == type)
      return x;
    if (auto tensor = dyn_cast<RankedTensorType>(x.getType()); tensor && tensor.getRank() == 0)
      x = tensor::ExtractOp::create(b, loc, x, ValueRange()); // a product of vectors gives such a one
    return BroadcastOp::create(b, loc, type, x);
  }
  /// Without `axis` over all elements.
  Value reduce(ReduceKind kind, Value x, std::optional<int64_t> axis) const {
    SmallVector<int64_t> rest;
    for (auto [i, extent] : llvm::enumerate(extents(x.getType())))
      if (axis && static_cast<int64_t>(i) != *axis)
        rest.push_back(extent);
    Type element = kind == ReduceKind::ArgMax ? b.getI32Type() : scalar(x.getType());
    Type type = rest.empty() ? element : RankedTensorType::get(rest, element);
    return ReduceOp::create(b, loc, type, kind, x, axis ? b.getI64IntegerAttr(*axis) : IntegerAttr());
  }
  /// The same elements, row-major, in another shape.
  Value reshape(Value x, ArrayRef<int64_t> shape) const {
    auto from = dyn_cast<RankedTensorType>(x.getType());
    if (!from)
      return tensor::FromElementsOp::create(b, loc, withExtents(x.getType(), shape), x);
    if (from.getShape() == shape)
      return x;
    int64_t size = from.getNumElements();
    if (from.getRank() > 1) {
      SmallVector<ReassociationIndices> all{llvm::to_vector<2>(llvm::seq<int64_t>(0, from.getRank()))};
      x = tensor::CollapseShapeOp::create(b, loc, withExtents(from, size), x, all);
    }
    if (shape.size() <= 1)
      return x;
    SmallVector<ReassociationIndices> all{llvm::to_vector<2>(llvm::seq<int64_t>(0, shape.size()))};
    return tensor::ExpandShapeOp::create(b, loc, withExtents(from, shape), x, all);
  }
  /// A value that has lost an axis, in the type that it had: the same along the axis. Without `axis` it has
  /// lost all.
  Value along(Value x, std::optional<int64_t> axis, Type type) const {
    if (axis && isa<RankedTensorType>(x.getType())) {
      SmallVector<int64_t> shape(extents(type));
      shape[*axis] = 1;
      x = reshape(x, shape);
    }
    return broadcast(x, withExtents(x.getType(), extents(type)));
  }
  /// The sum over what broadcasting has made of `type`.
  Value sumTo(Value x, Type type) const {
    if (!isa<RankedTensorType>(type))
      return isa<RankedTensorType>(x.getType()) ? reduce(ReduceKind::Sum, x, std::nullopt) : x;
    ArrayRef<int64_t> to = extents(type);
    while (extents(x.getType()).size() > to.size())
      x = reduce(ReduceKind::Sum, x, 0);
    const SmallVector<int64_t> from(extents(x.getType()));
    for (size_t axis = to.size(); axis-- > 0;)
      if (to[axis] != from[axis])
        x = reduce(ReduceKind::Sum, x, axis);
    return reshape(x, to);
  }
  /// 0, 1, 2 .. along an axis of a tensor of i32.
  Value positions(RankedTensorType type, int64_t axis) const {
    SmallVector<int32_t> numbers(type.getNumElements());
    int64_t step = 1;
    for (int64_t extent : type.getShape().drop_front(axis + 1))
      step *= extent;
    for (size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = static_cast<int32_t>(i / step % type.getDimSize(axis));
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, ArrayRef(numbers)));
  }
  /// The same where the adjoint has other elements than 0 along an axis, or at all.
  Value unlessAllZero(Value adjoint, std::optional<int64_t> axis, Value amount) const {
    Value some = compare(arith::CmpFPredicate::UNE, adjoint, zero(adjoint));
    if (isa<RankedTensorType>(some.getType()))
      some = reduce(ReduceKind::Any, some, axis);
    if (isa<RankedTensorType>(amount.getType()))
      some = along(some, axis, amount.getType());
    return select(some, amount, zero(amount));
  }
  Value same(Value x, Value y) const { return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, y); }
  Value slice(Value x, ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) const {
    auto indices = [&](ArrayRef<int64_t> numbers) {
      SmallVector<OpFoldResult> attributes;
      for (int64_t number : numbers)
        attributes.push_back(b.getIndexAttr(number));
      return attributes;
    };
    SmallVector<int64_t> ones(sizes.size(), 1);
    return tensor::ExtractSliceOp::create(b, loc, withExtents(x.getType(), sizes), x, indices(offsets),
                                          indices(sizes), indices(ones));
  }
  /// x with so many zeros in front of it and behind it along an axis.
  Value pad(Value x, int64_t axis, int64_t before, int64_t behind) const {
    SmallVector<Value> operands;
    SmallVector<int64_t> shape(extents(x.getType()));
    int64_t size = shape[axis];
    auto zeros = [&](int64_t extent) {
      shape[axis] = extent;
      if (extent > 0)
        operands.push_back(number(withExtents(x.getType(), shape), 0));
    };
    zeros(before);
    operands.push_back(x);
    zeros(behind);
    shape[axis] = before + size + behind;
    return operands.size() == 1
               ? x
               : tensor::ConcatOp::create(b, loc, withExtents(x.getType(), shape), axis, operands);
  }
  /// A value whose axes are those dims of `to` that `map` names, along the other dims too.
  Value spread(Value x, AffineMap map, Type out, AffineMap to) const {
    SmallVector<unsigned> axes; // of `to`, for each axis of x
    for (unsigned n = 0; n < map.getNumResults(); ++n)
      axes.push_back(*to.getResultPosition(map.getResult(n)));
    if (!llvm::is_sorted(axes)) {
      SmallVector<int64_t> reversed(llvm::reverse(extents(x.getType())));
      x = TransposeOp::create(b, loc, withExtents(x.getType(), reversed), x);
      std::reverse(axes.begin(), axes.end());
    }
    assert(llvm::is_sorted(axes) && "products have matrices and vectors");
    SmallVector<int64_t> shape(to.getNumResults(), 1);
    for (auto [axis, extent] : llvm::zip_equal(axes, extents(x.getType())))
      shape[axis] = extent;
    return broadcast(reshape(x, shape), out);
  }
  /// The product of an adjoint x and y that adds to out what `maps` say; `out` has a type alone.
  Value contract(Value x, Value y, Type out, ArrayRef<AffineMap> maps) const {
    SmallVector<bool> isKept(maps[2].getNumDims(), false);
    for (unsigned n = 0; n < maps[2].getNumResults(); ++n)
      isKept[maps[2].getDimPosition(n)] = true;
    if (llvm::all_of(isKept, [](bool kept) { return kept; })) { // an outer product: nothing is summed
      Value columns = spread(x, maps[0], out, maps[2]);
      return scale(columns, spread(y, maps[1], out, maps[2]));
    }
    Value empty = tensor::EmptyOp::create(b, loc, extents(out), scalar(out));
    Value init = linalg::FillOp::create(b, loc, number(b.getF32Type(), 0), empty).getResult(0);
    return linalg::ContractOp::create(b, loc, TypeRange(out), ValueRange{x, y}, ValueRange(init),
                                      b.getAffineMapArrayAttr(maps))
        .getResult(0);
  }

  OpBuilder &b;
  Location loc;
};

//===-- Elementwise -------------------------------------------------------------------------------------===//

Value ofNeg(arith::NegFOp, Rows rows, unsigned, Value adjoint) { return rows.neg(adjoint); }
Value ofExp(math::ExpOp op, Rows rows, unsigned, Value adjoint) {
  return rows.scale(adjoint, op.getResult());
}
Value ofLog(math::LogOp op, Rows rows, unsigned, Value adjoint) {
  return rows.unlessZero(adjoint, rows.div(adjoint, op.getOperand()));
}
Value ofLog1p(math::Log1pOp op, Rows rows, unsigned, Value adjoint) {
  Value next = rows.add(op.getOperand(), rows.number(op.getType(), 1));
  return rows.unlessZero(adjoint, rows.div(adjoint, next));
}
Value ofSqrt(math::SqrtOp op, Rows rows, unsigned, Value adjoint) {
  return rows.unlessZero(adjoint, rows.div(rows.mul(adjoint, 0.5), op.getResult()));
}
Value ofAbs(math::AbsFOp op, Rows rows, unsigned, Value adjoint) {
  Value x = op.getOperand(), zero = rows.zero(x);
  Value isAbove = rows.compare(arith::CmpFPredicate::OGT, x, zero);
  Value isBelow = rows.compare(arith::CmpFPredicate::OLT, x, zero);
  return rows.select(isAbove, adjoint, rows.where(isBelow, rows.neg(adjoint)));
}
Value ofSin(math::SinOp op, Rows rows, unsigned, Value adjoint) {
  return rows.scale(adjoint, math::CosOp::create(rows.b, rows.loc, op.getOperand()));
}
Value ofCos(math::CosOp op, Rows rows, unsigned, Value adjoint) {
  return rows.neg(rows.scale(adjoint, math::SinOp::create(rows.b, rows.loc, op.getOperand())));
}
Value ofTanh(math::TanhOp op, Rows rows, unsigned, Value adjoint) {
  Value y = op.getResult();
  Value one = rows.number(op.getType(), 1);
  return rows.scale(adjoint, rows.sub(one, rows.mul(y, y)));
}
Value ofErf(math::ErfOp op, Rows rows, unsigned, Value adjoint) {
  Value x = op.getOperand();
  return rows.scale(adjoint, rows.mul(rows.exp(rows.neg(rows.mul(x, x))), M_2_SQRTPI));
}
Value ofFunction(FunctionOp op, Rows rows, unsigned, Value adjoint) {
  Value x = op.getX(), y = op.getResult();
  switch (op.getKind()) {
  case FunctionKind::Sigmoid:
    return rows.scale(adjoint, rows.mul(y, rows.sub(rows.number(op.getType(), 1), y)));
  case FunctionKind::Relu:
    return rows.where(rows.compare(arith::CmpFPredicate::OGT, x, rows.zero(x)), adjoint);
  case FunctionKind::Gelu: { // x times the normal distribution
    Value erf = math::ErfOp::create(rows.b, rows.loc, rows.mul(x, M_SQRT1_2));
    Value distribution = rows.mul(rows.add(erf, rows.number(op.getType(), 1)), 0.5);
    Value density = rows.mul(rows.exp(rows.mul(rows.mul(x, x), -0.5)), M_2_SQRTPI * M_SQRT1_2 / 2);
    return rows.scale(adjoint, rows.add(distribution, rows.mul(x, density)));
  }
  case FunctionKind::Softplus:
    return rows.scale(adjoint, rows.function(FunctionKind::Sigmoid, x));
  }
  llvm_unreachable("all kinds handled");
}

Value ofAdd(arith::AddFOp, Rows, unsigned, Value adjoint) { return adjoint; }
Value ofSub(arith::SubFOp, Rows rows, unsigned operand, Value adjoint) {
  return operand == 0 ? adjoint : rows.neg(adjoint);
}
Value ofMul(arith::MulFOp op, Rows rows, unsigned operand, Value adjoint) {
  return rows.scale(adjoint, op->getOperand(1 - operand));
}
Value ofDiv(arith::DivFOp op, Rows rows, unsigned operand, Value adjoint) {
  Value quotient = rows.div(adjoint, op.getRhs());
  return rows.unlessZero(adjoint, operand == 0 ? quotient : rows.neg(rows.mul(quotient, op.getResult())));
}
/// All goes to the first of equals.
template <class Op, arith::CmpFPredicate first>
Value ofExtreme(Op op, Rows rows, unsigned operand, Value adjoint) {
  Value isFirst = rows.compare(first, op.getLhs(), op.getRhs());
  return operand == 0 ? rows.where(isFirst, adjoint) : rows.select(isFirst, rows.zero(adjoint), adjoint);
}
/// x^0 is 1 and 0^y is 0 or 1, whatever the other one is.
Value ofPow(math::PowFOp op, Rows rows, unsigned operand, Value adjoint) {
  Value x = op.getLhs(), y = op.getRhs(), zero = rows.zero(x);
  if (operand == 0) {
    Value power = math::PowFOp::create(rows.b, rows.loc, x, rows.sub(y, rows.number(y.getType(), 1)));
    Value depends = rows.compare(arith::CmpFPredicate::UNE, y, zero);
    return rows.where(depends, rows.scale(adjoint, rows.mul(y, power)));
  }
  Value base = rows.compare(arith::CmpFPredicate::OEQ, x, zero);
  Value exponent = rows.compare(arith::CmpFPredicate::OGE, y, zero);
  Value isZero = arith::AndIOp::create(rows.b, rows.loc, base, exponent);
  Value log = math::LogOp::create(rows.b, rows.loc, x);
  return rows.select(isZero, zero, rows.scale(adjoint, rows.mul(op.getResult(), log)));
}
Value ofSelect(arith::SelectOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand == 0 || !scalar(op.getType()).isF32())
    return {};
  return operand == 1 ? rows.where(op.getCondition(), adjoint)
                      : rows.select(op.getCondition(), rows.zero(adjoint), adjoint);
}

/// What was dropped is dropped: the mask is found again.
Value ofDropout(DropoutOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand != 0)
    return {};
  return DropoutOp::create(rows.b, rows.loc, adjoint, op.getInput(), op.getKeys(), op.getRate(),
                           op.getPlace(), op.getOfRun());
}

//===-- Views -------------------------------------------------------------------------------------------===//

Value ofBroadcast(BroadcastOp op, Rows rows, unsigned, Value adjoint) {
  return rows.sumTo(adjoint, op.getX().getType());
}
Value ofTranspose(TransposeOp op, Rows rows, unsigned, Value adjoint) {
  return TransposeOp::create(rows.b, rows.loc, op.getX().getType(), adjoint);
}
Value ofSplat(tensor::SplatOp, Rows rows, unsigned operand, Value adjoint) {
  return operand == 0 ? rows.reduce(ReduceKind::Sum, adjoint, std::nullopt) : Value();
}
Value ofFill(linalg::FillOp, Rows rows, unsigned operand, Value adjoint) {
  return operand == 0 ? rows.reduce(ReduceKind::Sum, adjoint, std::nullopt) : Value();
}
template <class Op> Value ofReshape(Op op, Rows rows, unsigned, Value adjoint) {
  return rows.reshape(adjoint, extents(op.getSrc().getType()));
}
Value ofSlice(tensor::ExtractSliceOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand != 0)
    return {};
  assert(llvm::all_of(op.getStaticStrides(), [](int64_t stride) { return stride == 1; }) &&
         "slices have no gaps");
  ArrayRef<int64_t> source = extents(op.getSource().getType());
  Value x = rows.reshape(adjoint, op.getStaticSizes()); // with the axes that the slice has dropped
  for (auto [axis, extent] : llvm::enumerate(source)) {
    int64_t before = op.getStaticOffsets()[axis];
    x = rows.pad(x, axis, before, extent - before - op.getStaticSizes()[axis]);
  }
  return x;
}
Value ofConcat(tensor::ConcatOp op, Rows rows, unsigned operand, Value adjoint) {
  SmallVector<int64_t> offsets(op.getResultType().getRank(), 0);
  for (Value before : op.getInputs().take_front(operand))
    offsets[op.getDim()] += extents(before.getType())[op.getDim()];
  return rows.slice(adjoint, offsets, extents(op.getInputs()[operand].getType()));
}
Value elementOf(Value x, ArrayRef<int64_t> index, Rows rows) {
  SmallVector<Value> indices;
  for (int64_t i : index)
    indices.push_back(arith::ConstantIndexOp::create(rows.b, rows.loc, i));
  return tensor::ExtractOp::create(rows.b, rows.loc, x, indices);
}
Value ofElements(tensor::FromElementsOp op, Rows rows, unsigned operand, Value adjoint) {
  SmallVector<int64_t> index(op.getType().getRank());
  int64_t rest = operand;
  for (size_t axis = index.size(); axis-- > 0;) {
    index[axis] = rest % op.getType().getDimSize(axis);
    rest /= op.getType().getDimSize(axis);
  }
  return elementOf(adjoint, index, rows);
}
Value ofExtract(tensor::ExtractOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand != 0)
    return {};
  RankedTensorType type = op.getTensor().getType();
  Value x = rows.reshape(adjoint, SmallVector<int64_t>(type.getRank(), 1));
  for (auto [axis, index] : llvm::enumerate(op.getIndices())) {
    APInt at;
    [[maybe_unused]] bool constant = matchPattern(index, m_ConstantInt(&at));
    assert(constant && "what is computed is gathered");
    x = rows.pad(x, axis, at.getSExtValue(), type.getDimSize(axis) - 1 - at.getSExtValue());
  }
  return x;
}
/// Rows that were gathered go back to where they came from: a product with the matrix of ones there.
Value ofGather(GatherOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand != 0)
    return {};
  Type type = op.getTensor().getType();
  ArrayRef<int64_t> shape = extents(type);
  int64_t row = 1;
  for (int64_t extent : shape.drop_front())
    row *= extent;
  auto indexType = dyn_cast<RankedTensorType>(op.getIndex().getType());
  const int64_t count = indexType ? indexType.getNumElements() : 1;
  auto grid = RankedTensorType::get({count, shape[0]}, rows.b.getI32Type());
  Value index = rows.broadcast(rows.reshape(op.getIndex(), {count, 1}), grid);
  auto numbers = RankedTensorType::get({1, shape[0]}, rows.b.getI32Type());
  Value isThere = rows.same(index, rows.broadcast(rows.positions(numbers, 1), grid));
  auto floats = RankedTensorType::get(grid.getShape(), rows.b.getF32Type());
  Value one = rows.number(floats, 1);
  Value ones = rows.select(isThere, one, rows.number(floats, 0));
  AffineExpr k, i, r;
  bindDims(rows.b.getContext(), k, i, r);
  auto map = [&](AffineExpr a, AffineExpr b) { return AffineMap::get(3, 0, {a, b}, rows.b.getContext()); };
  Value sum = rows.contract(ones, rows.reshape(adjoint, {count, row}),
                            RankedTensorType::get({shape[0], row}, rows.b.getF32Type()),
                            {map(k, i), map(k, r), map(i, r)});
  return rows.reshape(sum, shape);
}
/// Each element of the window back to the pixel that it saw.
Value ofPatches(PatchesOp op, Rows rows, unsigned, Value adjoint) {
  return SumPatchesOp::create(rows.b, rows.loc, op.getX().getType(), adjoint, op.getStride(),
                              op.getPadding());
}

//===-- Reductions --------------------------------------------------------------------------------------===//

Value ofReduce(ReduceOp op, Rows rows, unsigned, Value adjoint) {
  Value x = op.getX();
  Type type = x.getType();
  std::optional<int64_t> axis = op.getAxis();
  Value spread = rows.along(adjoint, axis, type);
  switch (op.getKind()) {
  case ReduceKind::Sum:
    return spread;
  case ReduceKind::Mean: {
    int64_t count = axis ? extents(type)[*axis] : cast<RankedTensorType>(type).getNumElements();
    return rows.mul(spread, 1.0 / count);
  }
  case ReduceKind::Max:
  case ReduceKind::Min: { // all to the first of equals
    Value best = rows.reduce(ReduceKind::ArgMax, op.getKind() == ReduceKind::Max ? x : rows.neg(x), axis);
    auto integers = RankedTensorType::get(extents(type), rows.b.getI32Type());
    best = rows.along(best, axis, type);
    if (axis)
      return rows.where(rows.same(best, rows.positions(integers, *axis)), spread);
    auto flat = RankedTensorType::get(integers.getNumElements(), rows.b.getI32Type());
    Value positions = rows.reshape(rows.positions(flat, 0), extents(type));
    return rows.where(rows.same(best, positions), spread);
  }
  case ReduceKind::LogSumExp:
    return rows.scale(spread, rows.exp(rows.sub(x, rows.along(op.getResult(), axis, type))));
  case ReduceKind::Any:
  case ReduceKind::All:
  case ReduceKind::ArgMax:
  case ReduceKind::Pick:
    return {};
  }
  llvm_unreachable("all kinds handled");
}

Value ofSoftmax(SoftmaxOp op, Rows rows, unsigned, Value adjoint) {
  Value y = op.getResult();
  const auto axis = static_cast<int64_t>(op.getAxis());
  Value weights = op.getLog() ? rows.exp(y) : y;
  Value sum = rows.reduce(ReduceKind::Sum, op.getLog() ? adjoint : rows.mul(adjoint, y), axis);
  Value spread = rows.along(sum, axis, y.getType());
  Value amount = op.getLog() ? rows.sub(adjoint, rows.mul(weights, spread))
                             : rows.mul(weights, rows.sub(adjoint, spread));
  return rows.unlessAllZero(adjoint, axis, amount);
}

//===-- Products ----------------------------------------------------------------------------------------===//

Value ofContract(linalg::ContractOp op, Rows rows, unsigned operand, Value adjoint) {
  if (operand == 2)
    return adjoint;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Value other = op->getOperand(1 - operand);
  const bool isOfParam = other.getDefiningOp<GetOp>() || matrixSlice(other);
  if (isOfParam && maps[1 - operand].getNumResults() == 2 && maps[2].getNumResults() == 1 &&
      maps[1 - operand].getResult(0) == maps[2].getResult(0)) {
    // The parameter turned, whose products are made like any other's.
    SmallVector<int64_t> shape(llvm::reverse(extents(other.getType())));
    other = TransposeOp::create(rows.b, rows.loc, Rows::withExtents(other.getType(), shape), other);
    AffineExpr out = maps[1 - operand].getResult(1), sum = maps[1 - operand].getResult(0);
    MLIRContext *c = rows.b.getContext();
    return rows.contract(other, adjoint, op->getOperand(operand).getType(),
                         {AffineMap::get(2, 0, {out, sum}, c), maps[2], maps[operand]});
  }
  Value amount = rows.contract(adjoint, other, op->getOperand(operand).getType(),
                               {maps[2], maps[1 - operand], maps[operand]});
  return isOfParam ? amount : rows.unlessAllZero(adjoint, std::nullopt, amount);
}

//===-- Attachment --------------------------------------------------------------------------------------===//

template <class Op, Value (*rule)(Op, Rows, unsigned, Value)>
struct Derivative : DerivativeOpInterface::ExternalModel<Derivative<Op, rule>, Op> {
  Value buildAdjoint(Operation *op, OpBuilder &b, unsigned operand, Value adjoint) const {
    return rule(cast<Op>(op), Rows(b, op->getLoc()), operand, adjoint);
  }
};

template <class Op, Value (*rule)(Op, Rows, unsigned, Value)> void attach(MLIRContext &context) {
  Op::template attachInterface<Derivative<Op, rule>>(context);
}
} // namespace

void attachDerivatives(MLIRContext &context) {
  attach<arith::NegFOp, ofNeg>(context);
  attach<arith::AddFOp, ofAdd>(context);
  attach<arith::SubFOp, ofSub>(context);
  attach<arith::MulFOp, ofMul>(context);
  attach<arith::DivFOp, ofDiv>(context);
  attach<arith::MaximumFOp, ofExtreme<arith::MaximumFOp, arith::CmpFPredicate::OGE>>(context);
  attach<arith::MinimumFOp, ofExtreme<arith::MinimumFOp, arith::CmpFPredicate::OLE>>(context);
  attach<arith::SelectOp, ofSelect>(context);
  attach<math::ExpOp, ofExp>(context);
  attach<math::LogOp, ofLog>(context);
  attach<math::Log1pOp, ofLog1p>(context);
  attach<math::SqrtOp, ofSqrt>(context);
  attach<math::AbsFOp, ofAbs>(context);
  attach<math::SinOp, ofSin>(context);
  attach<math::CosOp, ofCos>(context);
  attach<math::TanhOp, ofTanh>(context);
  attach<math::ErfOp, ofErf>(context);
  attach<math::PowFOp, ofPow>(context);
  attach<FunctionOp, ofFunction>(context);
  attach<DropoutOp, ofDropout>(context);
  attach<BroadcastOp, ofBroadcast>(context);
  attach<TransposeOp, ofTranspose>(context);
  attach<PatchesOp, ofPatches>(context);
  attach<GatherOp, ofGather>(context);
  attach<ReduceOp, ofReduce>(context);
  attach<SoftmaxOp, ofSoftmax>(context);
  attach<tensor::SplatOp, ofSplat>(context);
  attach<linalg::FillOp, ofFill>(context);
  attach<tensor::CollapseShapeOp, ofReshape<tensor::CollapseShapeOp>>(context);
  attach<tensor::ExpandShapeOp, ofReshape<tensor::ExpandShapeOp>>(context);
  attach<tensor::ExtractSliceOp, ofSlice>(context);
  attach<tensor::ExtractOp, ofExtract>(context);
  attach<tensor::ConcatOp, ofConcat>(context);
  attach<tensor::FromElementsOp, ofElements>(context);
  attach<linalg::ContractOp, ofContract>(context);
}

} // namespace dbc::dyn
