// `x[i, a..b]` on tensors, `xs[i]` and `xs[a..b]` on lists (T3, T4).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dbc::frontend {

Values Lowering::subscript(const SubscriptExpr &expr) {
  const auto &info = static_cast<const Subscripts &>(*expr.resolved);
  if (expr.base->type->isList())
    return subscriptList(expr, info);
  return {subscriptTensor(expr, info)};
}

Values Lowering::subscriptList(const SubscriptExpr &expr, const Subscripts &info) {
  Values lists = lower(*expr.base), results;
  const Sub &sub = expr.subs[0];
  const Subscripts::Axis &axis = info.axes[0];
  mlir::Location at = location(expr.range);
  auto bound = [&](const Expr &bound, bool fromEnd) -> mlir::Value {
    if (!fromEnd)
      return lowerOne(bound);
    const NumberExpr &back = *bound.as<UnaryExpr>()->operand->as<NumberExpr>();
    mlir::Value count = length(at, lists.front());
    return integer(at, dyn::IntKind::Sub, count, intConstant(at, back.integer));
  };
  if (!sub.isSlice) {
    mlir::Value index = bound(*sub.index, axis.indexFromEnd);
    for (mlir::Value list : lists)
      results.push_back(harmless(
          dyn::AtOp::create(builder_, at, llvm::cast<dyn::ListType>(list.getType()).getElement(), list, index,
                            /*when=*/mlir::Value())));
    return results;
  }
  mlir::Value low = sub.low ? bound(*sub.low, axis.lowFromEnd) : intConstant(at, 0);
  mlir::Value high = sub.high ? bound(*sub.high, axis.highFromEnd) : length(at, lists.front());
  for (mlir::Value list : lists)
    results.push_back(dyn::SliceOp::create(builder_, at, list.getType(), list, low, high));
  return results;
}

/// Rows along axis 0.
mlir::Value Lowering::gather(mlir::Location at, mlir::Value tensor, mlir::Value index, bool checked) {
  llvm::SmallVector<int64_t> shape(dyn::extents(index.getType()));
  llvm::append_range(shape, dyn::extents(tensor.getType()).drop_front());
  return dyn::GatherOp::create(builder_, at, withExtents(tensor.getType(), shape), tensor, index, checked);
}

/// One position along any axis: with the axes before it as one with it, position i becomes n * r + i for each
/// r of them.
mlir::Value Lowering::gatherAt(mlir::Location at, mlir::Value tensor, size_t axis, mlir::Value index,
                               bool checked) {
  if (checked && !dyn::isStructural(index)) {
    index = narrow(at, index, dyn::extents(tensor.getType())[axis]);
    checked = false;
  }
  if (axis == 0)
    return gather(at, tensor, index, checked);
  llvm::SmallVector<int64_t> shape(dyn::extents(tensor.getType()));
  int64_t before = 1, n = shape[axis];
  for (size_t i = 0; i < axis; ++i)
    before *= shape[i];
  llvm::SmallVector<int64_t> joined{before * n};
  joined.append(shape.begin() + axis + 1, shape.end());
  if (checked)
    index = dyn::NarrowOp::create(builder_, at, index, static_cast<uint64_t>(n));
  llvm::SmallVector<int32_t> starts;
  for (int64_t r = 0; r < before; ++r)
    starts.push_back(static_cast<int32_t>(r * n));
  auto type = tensorOf({before}, builder_.getI32Type());
  mlir::Value first = mlir::arith::ConstantOp::create(
      builder_, at, mlir::DenseElementsAttr::get(type, llvm::ArrayRef<int32_t>(starts)));
  mlir::Value positions = integer(at, dyn::IntKind::Add, first, stretch(at, index, {before}));
  mlir::Value rows = gather(at, reshape(at, tensor, joined), positions, false);
  shape.erase(shape.begin() + axis);
  return reshape(at, rows, shape);
}

mlir::Value Lowering::subscriptTensor(const SubscriptExpr &expr, const Subscripts &info) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.base);
  // What stands still is cut out at once, the axes of other indices being left whole.
  llvm::ArrayRef<int64_t> extents = dyn::extents(x.getType());
  llvm::SmallVector<int64_t> offsets(extents.size(), 0), sizes(extents), kept;
  bool fits = true;
  for (size_t i = 0; i < extents.size(); ++i) {
    bool given = i < expr.subs.size() && info.axes[i].isStatic;
    if (given) {
      offsets[i] = number(info.axes[i].begin, expr.subs[i].range);
      sizes[i] = expr.subs[i].isSlice ? extent(info.axes[i].extent, expr.subs[i].range) : 1;
      fits &= offsets[i] >= 0 && offsets[i] + sizes[i] <= extents[i]; // else checkSizes has reported it
    }
    if (!given || expr.subs[i].isSlice)
      kept.push_back(sizes[i]);
  }
  if (!fits)
    return constant(at, 0, numberType(expr.type, expr.range));
  x = cut(at, x, offsets, sizes, kept);
  size_t axis = 0;
  for (size_t i = 0; i < expr.subs.size(); ++i) {
    if (expr.subs[i].isSlice) {
      ++axis;
      continue;
    }
    if (info.axes[i].isStatic)
      continue;
    const Expr &index = *expr.subs[i].index;
    x = gatherAt(at, x, axis, lowerOne(index), info.axes[i].checked);
    axis += index.type->rank();
  }
  return x;
}

} // namespace dbc::frontend
