// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Scalar expressions: one element of a row-level value.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/lower/StageToKernel.h"

using namespace mlir;

namespace dbc::passes {

Value StageToKernel::element(Value value, ValueRange at, bool cached) {
  bool here = cached && caching && llvm::equal(cacheAt, at);
  if (here)
    if (Value known = cache.lookup(value))
      return known;
  if (plan.productOf(value) && !plan.isMaterialised(value)) {
    assert(caching && llvm::equal(cacheAt, at) &&
           "a gate that is not materialised is used in its tile alone");
    return cache[value] = gateElement(value);
  }
  if (plan.isMaterialised(value)) {
    SmallVector<Value> indices{i()};
    llvm::append_range(indices, at);
    return kernel::ReadOp::create(b, value.getLoc(), dyn::scalar(value.getType()), localOf(value), indices);
  }
  Value scalar = expression(value.getDefiningOp(), value, at);
  if (here)
    cache[value] = scalar;
  return scalar;
}

/// Row-major: the indices of a shape at a linear position.
static SmallVector<Value> delinearise(OpBuilder &b, Location loc, Value linear, ArrayRef<int64_t> shape) {
  SmallVector<Value> at(shape.size());
  for (int64_t axis = shape.size(); axis-- > 0;) {
    Value extent = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(shape[axis]));
    at[axis] = axis ? arith::RemSIOp::create(b, loc, linear, extent).getResult() : linear;
    if (axis)
      linear = arith::DivSIOp::create(b, loc, linear, extent);
  }
  return at;
}

Value StageToKernel::expression(Operation *op, Value value, ValueRange at) {
  auto loaded = [&](StringRef array, Value first, ValueRange rest) -> Value {
    SmallVector<Value> indices;
    if (first)
      indices.push_back(first);
    llvm::append_range(indices, rest);
    return kernel::LoadOp::create(b, op->getLoc(), dyn::scalar(value.getType()), array, StringAttr(),
                                  indices);
  };
  if (auto read = dyn_cast<batch::ReadOp>(op)) {
    return loaded(read.getBuffer(),
                  ofModel(read.getBufferAttr()) ? integer(0) : inMemory(read.getBuffer(), row()), at);
  }
  if (auto gather = dyn_cast<batch::GatherOp>(op))
    return loaded(gather.getArray(),
                  inMemory(gather.getArray(), column(columnOf(gather)), gather.getAgo().value_or(0)), at);
  if (auto get = dyn_cast<dyn::GetOp>(op))
    return loaded(get.getParam(), Value(), at);
  if (auto col = dyn_cast<batch::ColumnOp>(op)) {
    Value v = column(col.getColumn());
    if (col.getType().isInteger(1))
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, integer(0));
    return v;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return b.clone(*op)->getResult(0);
    if (dense.isSplat())
      return arith::ConstantOp::create(b, op->getLoc(), dense.getSplatValue<TypedAttr>()).getResult();
    return constantElement(dense, at);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto dropped = slice.getDroppedDims();
    SmallVector<Value> source;
    unsigned n = 0;
    for (auto [axis, offset] : llvm::enumerate(slice.getStaticOffsets()))
      source.push_back(dropped.test(axis) ? integer(offset) : addInt(at[n++], integer(offset)));
    return element(slice.getSource(), source);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> source;
    for (Value index : extract.getIndices()) {
      APInt constant;
      [[maybe_unused]] bool known = matchPattern(index, m_ConstantInt(&constant));
      assert(known && "elements are extracted at constants; dyn.take does the rest");
      source.push_back(integer(constant.getSExtValue()));
    }
    return element(extract.getTensor(), source);
  }
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return element(splat.getInput(), {});
  if (auto fill = dyn_cast<linalg::FillOp>(op))
    return element(fill.getInputs()[0], {});
  if (auto broadcast = dyn_cast<dyn::BroadcastOp>(op)) {
    auto from = dyn::extents(broadcast.getX().getType());
    SmallVector<Value> source;
    for (auto [axis, extent] : llvm::enumerate(from))
      source.push_back(extent == 1 ? integer(0) : at[at.size() - from.size() + axis]);
    return element(broadcast.getX(), source);
  }
  if (auto transpose = dyn_cast<dyn::TransposeOp>(op))
    return element(transpose.getX(), llvm::to_vector_of<Value>(llvm::reverse(at)));
  if (auto patches = dyn_cast<dyn::PatchesOp>(op))
    return patch(patches, at);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(op)) {
    auto from = dyn::extents(op->getOperand(0).getType()), to = dyn::extents(value.getType());
    Value linear = integer(0);
    for (auto [index, extent] : llvm::zip(at, to))
      linear = addInt(mulInt(linear, extent), index);
    return element(op->getOperand(0), delinearise(b, loc, linear, from));
  }
  if (auto take = dyn_cast<dyn::TakeOp>(op)) {
    size_t rank = dyn::extents(take.getIndex().getType()).size();
    SmallVector<Value> source{element(take.getIndex(), at.take_front(rank), rank == at.size())};
    llvm::append_range(source, at.drop_front(rank));
    return element(take.getTensor(), source);
  }
  if (auto function = dyn_cast<dyn::FunctionOp>(op))
    return kernel::FunctionOp::create(b, op->getLoc(), function.getKind(), element(function.getX(), at));
  if (auto integers = dyn_cast<dyn::IntOp>(op)) {
    Value x = element(integers.getA(), at), y = element(integers.getB(), at);
    if (integers.getKind() == dyn::IntKind::Max)
      return arith::MaxSIOp::create(b, loc, x, y);
    if (integers.getKind() == dyn::IntKind::Min)
      return arith::MinSIOp::create(b, loc, x, y);
    return checkedInt(integers.getKind(), x, y, op->getLoc());
  }
  if (auto narrow = dyn_cast<dyn::NarrowOp>(op)) {
    Value x = element(narrow.getValue(), at), bound = integer(narrow.getBound());
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, x, integer(0));
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, bound);
    return checked(op->getLoc(), kernel::Fault::Index, arith::AndIOp::create(b, loc, low, high), x,
                   {x, bound});
  }
  if (auto whole = dyn_cast<arith::FPToSIOp>(op)) {
    Value x = element(whole.getIn(), dyn::extents(whole.getIn().getType()).empty() ? ValueRange() : at);
    Value low = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, real(-2147483648.0));
    Value high = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, real(2147483648.0));
    Value fits =
        checked(op->getLoc(), kernel::Fault::Conversion, arith::AndIOp::create(b, loc, low, high), x, {});
    return arith::FPToSIOp::create(b, loc, b.getI32Type(), fits);
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
    // Elementwise: the same op on scalars.
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(element(operand, dyn::extents(operand.getType()).empty() ? ValueRange() : at));
    OperationState state(op->getLoc(), op->getName(), operands, {dyn::scalar(value.getType())},
                         op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }
  emitError(op->getLoc(), "`") << op->getName().stripDialect() << "` has no kernel";
  failed_ = true;
  return dyn::scalar(value.getType()).isF32() ? real(0) : integer(0);
}

/// An element of the picture, or 0 beside it, where nothing is read.
Value StageToKernel::patch(dyn::PatchesOp op, ValueRange at) {
  auto picture = dyn::extents(op.getX().getType());
  SmallVector<Value> source{at[0]};
  Value inside;
  for (unsigned axis = 0; axis < 2; ++axis) {
    Value window = addInt(mulInt(at[3 + axis], op.getStride()[axis]), at[1 + axis]);
    source.push_back(addInt(window, integer(-op.getPadding()[axis])));
    if (op.getPadding()[axis] == 0)
      continue;
    Value &place = source.back();
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, place, integer(0));
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, place, integer(picture[1 + axis]));
    Value there = arith::AndIOp::create(b, loc, low, high);
    inside = inside ? arith::AndIOp::create(b, loc, inside, there).getResult() : there;
    place = arith::MaxSIOp::create(b, loc, place, integer(0));
    place = arith::MinSIOp::create(b, loc, place, integer(picture[1 + axis] - 1));
  }
  Value x = element(op.getX(), source);
  return inside ? arith::SelectOp::create(b, loc, inside, x, real(0)).getResult() : x;
}

/// Numbers as first + step * place, if they are; of floats every one must come out exactly.
static std::optional<std::pair<double, double>> progression(DenseElementsAttr dense) {
  SmallVector<double> values;
  if (dense.getElementType().isInteger(32))
    for (const APInt &v : dense.getValues<APInt>())
      values.push_back(v.getSExtValue());
  else if (dense.getElementType().isF32())
    for (const APFloat &v : dense.getValues<APFloat>())
      values.push_back(v.convertToFloat());
  else
    return std::nullopt;
  double first = values[0], step = values.size() > 1 ? values[1] - first : 0;
  for (auto [n, v] : llvm::enumerate(values))
    if (double(float(float(n) * float(step)) + float(first)) != v && !dense.getElementType().isInteger(32))
      return std::nullopt;
    else if (first + step * n != v)
      return std::nullopt;
  return std::make_pair(first, step);
}

/// An element of a constant tensor that is not the same everywhere: a progression is computed, others are
/// chosen one by one.
Value StageToKernel::constantElement(DenseElementsAttr dense, ValueRange at) {
  Type type = dense.getElementType();
  Value linear = integer(0);
  for (auto [index, extent] : llvm::zip(at, dense.getType().getShape()))
    linear = addInt(mulInt(linear, extent), index);
  if (auto known = progression(dense)) {
    auto [first, step] = *known;
    if (type.isInteger(32))
      return addInt(mulInt(linear, step), integer(first));
    Value place = arith::SIToFPOp::create(b, loc, type, linear);
    return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, place, real(step)), real(first));
  }
  SmallVector<TypedAttr> values;
  for (TypedAttr v : dense.getValues<TypedAttr>())
    values.push_back(v);
  Value chosen = arith::ConstantOp::create(b, loc, values.back());
  for (int64_t n = values.size() - 2; n >= 0; --n) {
    Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, linear, integer(n));
    Value candidate = arith::ConstantOp::create(b, loc, values[n]);
    chosen = arith::SelectOp::create(b, loc, is, candidate, chosen);
  }
  return chosen;
}

} // namespace dbc::passes
