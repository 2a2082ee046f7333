// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageExpressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dbc::passes {

Value StageExpressions::element(Value value, ValueRange at, bool cached) {
  bool here = cached && caching && llvm::equal(cacheAt, at);
  if (here)
    if (Value known = cache.lookup(value))
      return known;
  if (plan.isMaterialised(value))
    return locals.read(value, at);
  if (plan.productOf(value)) {
    assert(caching && llvm::equal(cacheAt, at) &&
           "a gate that is not materialised is used in its tile alone");
    return gate(value);
  }
  Value scalar = expression(value.getDefiningOp(), value, at);
  if (here)
    cache[value] = scalar;
  return scalar;
}

void StageExpressions::begin(ValueRange at, ArrayRef<batch::SegmentOp> sums) {
  wanted.assign(sums.begin(), sums.end());
  cache.clear();
  cacheAt.assign(at.begin(), at.end());
  caching = true;
}

void StageExpressions::end() {
  cache.clear();
  caching = false;
}

Value StageExpressions::computed(Value value, ValueRange at) {
  Value scalar = cache.lookup(value);
  if (!scalar)
    scalar = expression(value.getDefiningOp(), value, at);
  return cache[value] = scalar;
}

Value StageExpressions::gate(Value value) { return cache[value] = locals.readGate(value); }

Value StageExpressions::expression(Operation *op, Value value, ValueRange at) {
  if (auto sum = dyn_cast<batch::SegmentOp>(op))
    return summed(sum, at);
  if (Value scalar = loaded(op, value, at))
    return scalar;
  if (Value scalar = viewed(op, value, at))
    return scalar;
  if (Value scalar = arithmetic(op, value, at))
    return scalar;
  emitError(op->getLoc(), "`") << op->getName().stripDialect() << "` has no kernel";
  failed = true;
  return w.zero(dyn::scalar(value.getType()));
}

/// Row-major: the linear position of an element of a shape.
static Value linearise(LoopWriter &w, ValueRange at, ArrayRef<int64_t> shape) {
  Value linear = w.integer(0);
  for (auto [index, extent] : llvm::zip(at, shape))
    linear = w.addInt(w.mulInt(linear, extent), index);
  return linear;
}

/// The indices of a shape at a linear position.
static SmallVector<Value> delinearise(LoopWriter &w, Value linear, ArrayRef<int64_t> shape) {
  SmallVector<Value> at(shape.size());
  for (int64_t axis = shape.size(); axis-- > 0;) {
    Value extent = w.integer(shape[axis]);
    at[axis] = axis ? arith::RemSIOp::create(w.b, w.loc, linear, extent).getResult() : linear;
    if (axis)
      linear = arith::DivSIOp::create(w.b, w.loc, linear, extent);
  }
  return at;
}

/// Numbers that are first + step * position: among all elements, or along one axis.
struct Progression {
  double first, step;
  std::optional<size_t> axis;
};

/// The numbers as a progression, if they are one; of floats every one must come out exactly.
static std::optional<Progression> progression(DenseElementsAttr dense) {
  SmallVector<double> values;
  const bool integers = dense.getElementType().isInteger(32);
  if (integers)
    for (const APInt &v : dense.getValues<APInt>())
      values.push_back(v.getSExtValue());
  else if (dense.getElementType().isF32())
    for (const APFloat &v : dense.getValues<APFloat>())
      values.push_back(v.convertToFloat());
  else
    return std::nullopt;
  // Elements that lie one behind the other are `stride` apart, and start again after `extent` of them.
  auto found = [&](size_t stride, size_t extent, std::optional<size_t> axis) -> std::optional<Progression> {
    double first = values[0], step = extent > 1 ? values[stride] - first : 0;
    for (auto [n, v] : llvm::enumerate(values)) {
      auto position = static_cast<double>(n / stride % extent);
      double exact = first + step * position;
      if (exact != v || (!integers && double(float(position) * float(step) + float(first)) != v))
        return std::nullopt;
    }
    return Progression{first, step, axis};
  };
  if (auto all = found(1, values.size(), std::nullopt))
    return all;
  size_t stride = 1;
  auto shape = dense.getType().getShape();
  for (size_t axis = shape.size(); axis-- > 0; stride *= shape[axis])
    if (auto along = found(stride, shape[axis], axis))
      return along;
  return std::nullopt;
}

/// An element of a constant tensor that is not the same everywhere: a progression is computed, others are
/// chosen one by one.
static Value constantElement(LoopWriter &w, DenseElementsAttr dense, ValueRange at) {
  OpBuilder &b = w.b;
  Location loc = w.loc;
  Type type = dense.getElementType();
  auto known = progression(dense);
  Value position = known && known->axis ? at[*known->axis] : linearise(w, at, dense.getType().getShape());
  if (known) {
    if (type.isInteger(32)) {
      Value scaled = w.mulInt(position, known->step);
      return w.addInt(scaled, w.integer(known->first));
    }
    Value index = arith::SIToFPOp::create(b, loc, type, position);
    Value scaled = arith::MulFOp::create(b, loc, index, w.real(known->step));
    return arith::AddFOp::create(b, loc, scaled, w.real(known->first));
  }
  SmallVector<TypedAttr> values;
  for (TypedAttr v : dense.getValues<TypedAttr>())
    values.push_back(v);
  Value chosen = arith::ConstantOp::create(b, loc, values.back());
  for (int64_t n = values.size() - 2; n >= 0; --n) {
    Value is = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, position, w.integer(n));
    Value candidate = arith::ConstantOp::create(b, loc, values[n]);
    chosen = arith::SelectOp::create(b, loc, is, candidate, chosen);
  }
  return chosen;
}

/// What lies in memory, and constants.
Value StageExpressions::loaded(Operation *op, Value value, ValueRange at) {
  auto load = [&](StringRef array, Value first, ValueRange rest) -> Value {
    SmallVector<Value> indices;
    if (first)
      indices.push_back(first);
    llvm::append_range(indices, rest);
    return kernel::LoadOp::create(b, op->getLoc(), dyn::scalar(value.getType()), array, StringAttr(),
                                  indices);
  };
  if (auto read = dyn_cast<batch::ReadOp>(op)) {
    return load(read.getBuffer(),
                w.hasOneRow(read.getBufferAttr()) ? w.integer(0) : w.inMemory(read.getBuffer(), w.row()), at);
  }
  if (auto gather = dyn_cast<batch::GatherOp>(op))
    return load(gather.getArray(),
                w.inMemory(gather.getArray(), w.index(w.indexArrayOf(gather)), gather.getAgo().value_or(0)),
                at);
  if (auto get = dyn_cast<dyn::GetOp>(op))
    return load(get.getParam(), Value(), at);
  if (auto index = dyn_cast<batch::ReadIndexOp>(op)) {
    Value v = w.index(index.getIndexArray());
    if (index.getType().isInteger(1))
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v, w.integer(0));
    return v;
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (!dense)
      return b.clone(*op)->getResult(0);
    if (dense.isSplat())
      return arith::ConstantOp::create(b, op->getLoc(), dense.getSplatValue<TypedAttr>()).getResult();
    return constantElement(w, dense, at);
  }
  return {};
}

/// An element of the sum, or the mean, of a list's rows, in their order; with those of the other sums over
/// the list that the loop body wants.
Value StageExpressions::summed(batch::SegmentOp op, ValueRange at) {
  Location where = op.getLoc();
  const bool here = caching && llvm::equal(cacheAt, at);
  SmallVector<batch::SegmentOp> alike{op};
  if (here)
    for (batch::SegmentOp other : wanted)
      if (other != op && other.getList() == op.getList() && other.getAtAttr() == op.getAtAttr() &&
          other.getViaAttr() == op.getViaAttr() &&
          dyn::extents(other.getType()) == dyn::extents(op.getType()) && !cache.contains(other))
        alike.push_back(other);
  auto [first, length] = w.listOfRow(op);
  SmallVector<Reduction> folds;
  SmallVector<Value> start;
  for (batch::SegmentOp sum : alike) {
    folds.emplace_back(b, where, sum.getKind(), w.elementTypeOf(sum.getArray()), Reduction::AddInts());
    start.push_back(folds.back().start());
  }
  auto add = [&, first = first](Value k, ValueRange soFar) {
    SmallVector<Value> next;
    for (auto [sum, fold, before] : llvm::zip(alike, folds, soFar)) {
      SmallVector<Value> indices{w.rowOfList(sum, first, k)};
      llvm::append_range(indices, at);
      next.push_back(fold.next(before, kernel::LoadOp::create(b, where, w.elementTypeOf(sum.getArray()),
                                                              sum.getArray(), StringAttr(), indices)));
    }
    return next;
  };
  SmallVector<Value> sums = w.counted(0, length, "e", start, add);
  for (auto [sum, fold, whole] : llvm::zip(alike, folds, sums)) {
    whole = fold.finish(whole, [&, length = length] {
      return arith::SIToFPOp::create(b, where, b.getF32Type(), length).getResult();
    });
    if (here)
      cache[sum] = whole;
  }
  return sums.front();
}

/// What has the elements of another value at other positions.
Value StageExpressions::viewed(Operation *op, Value value, ValueRange at) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto dropped = slice.getDroppedDims();
    SmallVector<Value> source;
    unsigned n = 0;
    for (auto [axis, offset] : llvm::enumerate(slice.getStaticOffsets()))
      source.push_back(dropped.test(axis) ? w.integer(offset) : w.addInt(at[n++], w.integer(offset)));
    return element(slice.getSource(), source);
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> source;
    for (Value index : extract.getIndices()) {
      APInt constant;
      [[maybe_unused]] bool known = matchPattern(index, m_ConstantInt(&constant));
      assert(known && "elements are extracted at constants; dyn.gather does the rest");
      source.push_back(w.integer(constant.getSExtValue()));
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
      source.push_back(extent == 1 ? w.integer(0) : at[at.size() - from.size() + axis]);
    return element(broadcast.getX(), source);
  }
  if (auto transpose = dyn_cast<dyn::TransposeOp>(op))
    return element(transpose.getX(), llvm::to_vector_of<Value>(llvm::reverse(at)));
  if (auto patches = dyn_cast<dyn::PatchesOp>(op))
    return patch(patches, at);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::ReshapeOp>(op)) {
    auto from = dyn::extents(op->getOperand(0).getType()), to = dyn::extents(value.getType());
    Value linear = linearise(w, at, to);
    return element(op->getOperand(0), delinearise(w, linear, from));
  }
  if (auto gather = dyn_cast<dyn::GatherOp>(op)) {
    size_t rank = dyn::extents(gather.getIndex().getType()).size();
    SmallVector<Value> source{element(gather.getIndex(), at.take_front(rank), rank == at.size())};
    llvm::append_range(source, at.drop_front(rank));
    return element(gather.getTensor(), source);
  }
  return {};
}

Value StageExpressions::arithmetic(Operation *op, Value value, ValueRange at) {
  if (auto detach = dyn_cast<dyn::DetachOp>(op))
    return element(detach.getX(), at);
  if (auto dropout = dyn_cast<dyn::DropoutOp>(op)) {
    SmallVector<Value> keys;
    for (Value key : dropout.getKeys())
      keys.push_back(element(key, {}));
    Value x = element(dropout.getX(), at), input = dropout.getInput();
    Value position = linearise(w, at, dyn::extents(dropout.getType()));
    if (input)
      input = element(input, {});
    return kernel::DropoutOp::create(b, op->getLoc(), x, position, input, keys, dropout.getRateAttr(),
                                     dropout.getPlaceAttr());
  }
  if (auto function = dyn_cast<dyn::FunctionOp>(op))
    return kernel::FunctionOp::create(b, op->getLoc(), function.getKind(), element(function.getX(), at));
  if (auto integers = dyn_cast<dyn::IntOp>(op)) {
    Value x = element(integers.getA(), at), y = element(integers.getB(), at);
    if (integers.getKind() == dyn::IntKind::Max)
      return arith::MaxSIOp::create(b, loc, x, y);
    if (integers.getKind() == dyn::IntKind::Min)
      return arith::MinSIOp::create(b, loc, x, y);
    return w.checkedInt(integers.getKind(), x, y, op->getLoc());
  }
  if (auto narrow = dyn_cast<dyn::NarrowOp>(op)) {
    Value x = element(narrow.getValue(), at), bound = w.integer(narrow.getBound());
    Value low = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, x, w.integer(0));
    Value high = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, bound);
    return w.checked(op->getLoc(), kernel::ErrorKind::Index, arith::AndIOp::create(b, loc, low, high), x,
                     {x, bound});
  }
  if (auto whole = dyn_cast<arith::FPToSIOp>(op)) {
    Value x = element(whole.getIn(), dyn::extents(whole.getIn().getType()).empty() ? ValueRange() : at);
    Value low = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, x, w.real(-2147483648.0));
    Value high = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, w.real(2147483648.0));
    Value fits = w.checked(op->getLoc(), kernel::ErrorKind::Conversion,
                           arith::AndIOp::create(b, loc, low, high), x, {});
    return arith::FPToSIOp::create(b, loc, b.getI32Type(), fits);
  }
  if (dyn::isRowOp(op, dyn::RowKind::Elementwise)) {
    // Elementwise: the same op on scalars.
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(element(operand, dyn::extents(operand.getType()).empty() ? ValueRange() : at));
    OperationState state(op->getLoc(), op->getName(), operands, {dyn::scalar(value.getType())},
                         op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    return b.create(state)->getResult(0);
  }
  return {};
}

/// An element of the picture, or 0 beside it, where nothing is read.
Value StageExpressions::patch(dyn::PatchesOp op, ValueRange at) {
  auto picture = dyn::extents(op.getX().getType());
  SmallVector<Value> source{at[0]};
  Value inside;
  for (unsigned axis = 0; axis < 2; ++axis) {
    Value window = w.addInt(w.mulInt(at[3 + axis], op.getStride()[axis]), at[1 + axis]);
    source.push_back(w.addInt(window, w.integer(-op.getPadding()[axis])));
    if (op.getPadding()[axis] == 0)
      continue;
    auto [position, there] = w.nearest(source.back(), picture[1 + axis]);
    source.back() = position;
    inside = inside ? arith::AndIOp::create(b, loc, inside, there).getResult() : there;
  }
  Value x = element(op.getX(), source);
  return inside ? arith::SelectOp::create(b, loc, inside, x, w.real(0)).getResult() : x;
}

} // namespace dbc::passes
