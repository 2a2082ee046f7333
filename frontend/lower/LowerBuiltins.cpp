// Calls of built-in functions (the manual's "Built-in functions").
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/lower/LowerImpl.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dbc::frontend {

namespace arith = mlir::arith;
namespace math = mlir::math;

Values Lowering::builtin(const CallExpr &expr, const Call &call) {
  mlir::Location at = location(expr.range);
  switch (call.builtin) {
  case Builtin::Sum:
  case Builtin::Mean:
  case Builtin::Max:
  case Builtin::Min:
  case Builtin::LogSumExp:
  case Builtin::ArgMax:
  case Builtin::Any:
  case Builtin::All:
    return {reduction(expr, call)};
  case Builtin::Softmax:
  case Builtin::LogSoftmax: {
    mlir::Value x = lowerOne(*expr.args[0]);
    if (llvm::isa<dyn::ListType>(x.getType()))
      return {dyn::SoftmaxListOp::create(builder_, at, x)};
    bool log = call.builtin == Builtin::LogSoftmax;
    return {dyn::SoftmaxOp::create(builder_, at, x.getType(), x, static_cast<uint64_t>(call.axis), log)};
  }
  case Builtin::Split:
    return split(expr, call);
  case Builtin::Transpose: {
    mlir::Value x = lowerOne(*expr.args[0]);
    llvm::SmallVector<int64_t> extents(llvm::reverse(dyn::extents(x.getType())));
    return {dyn::TransposeOp::create(builder_, at, withExtents(x.getType(), extents), x)};
  }
  case Builtin::Reshape: {
    mlir::Value x = lowerOne(*expr.args[0]);
    return {reshape(at, x, dyn::extents(numberType(expr.type, expr.range)))};
  }
  case Builtin::Zeros:
  case Builtin::Ones:
  case Builtin::Fill:
  case Builtin::Iota:
    return {filled(expr, call.builtin)};
  case Builtin::Dropout:
    return {dropout(expr)};
  case Builtin::Put:
    return {put(expr)};
  case Builtin::Slice:
    return {movingSlice(expr)};
  case Builtin::TopK:
    return topK(expr);
  case Builtin::Conv2d:
    return {convolution(expr, call)};
  case Builtin::CrossEntropy:
    return {crossEntropy(expr)};
  case Builtin::BinaryCrossEntropy:
    return {binaryCrossEntropy(expr)};
  case Builtin::Len:
    return {length(at, lower(*expr.args[0]).front())};
  case Builtin::Zip:
    return zip(expr);
  case Builtin::Reverse: {
    Values results;
    for (mlir::Value list : lower(*expr.args[0]))
      results.push_back(dyn::ReverseOp::create(builder_, at, list));
    return results;
  }
  case Builtin::Nodes: {
    mlir::Value node = lowerOne(*expr.args[0]);
    return {dyn::NodesOp::create(builder_, at, dyn::ListType::get(node.getType()), node)};
  }
  case Builtin::Every:
    return every(expr);
  default:
    return {elementwise(expr, call.builtin)};
  }
}

//===--------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------===//

mlir::Value Lowering::function(mlir::Location at, dyn::FunctionKind kind, mlir::Value x) {
  return dyn::FunctionOp::create(builder_, at, x.getType(), kind, x);
}

mlir::Value Lowering::elementwise(const CallExpr &expr, Builtin builtin) {
  mlir::Location at = location(expr.range);
  mlir::Type type = numberType(expr.type, expr.range);
  bool real = dyn::scalar(type).isF32();
  llvm::SmallVector<mlir::Value> x;
  for (const ExprPtr &arg : expr.args) {
    x.push_back(stretch(at, lowerOne(*arg), dyn::extents(type)));
  }
  auto largest = [&](mlir::Value a, mlir::Value b) -> mlir::Value {
    return real ? arith::MaximumFOp::create(builder_, at, a, b).getResult()
                : integer(at, dyn::IntKind::Max, a, b);
  };
  auto smallest = [&](mlir::Value a, mlir::Value b) -> mlir::Value {
    return real ? arith::MinimumFOp::create(builder_, at, a, b).getResult()
                : integer(at, dyn::IntKind::Min, a, b);
  };
  switch (builtin) {
  case Builtin::Exp:
    return math::ExpOp::create(builder_, at, x[0]);
  case Builtin::Log:
    return math::LogOp::create(builder_, at, x[0]);
  case Builtin::Sqrt:
    return math::SqrtOp::create(builder_, at, x[0]);
  case Builtin::Sin:
    return math::SinOp::create(builder_, at, x[0]);
  case Builtin::Cos:
    return math::CosOp::create(builder_, at, x[0]);
  case Builtin::Tanh:
    return math::TanhOp::create(builder_, at, x[0]);
  case Builtin::Pow:
    return math::PowFOp::create(builder_, at, x[0], x[1]);
  case Builtin::Abs:
    if (real)
      return math::AbsFOp::create(builder_, at, x[0]);
    return largest(x[0], integer(at, dyn::IntKind::Sub, constant(at, 0, type), x[0]));
  case Builtin::Square:
    return real ? arith::MulFOp::create(builder_, at, x[0], x[0]).getResult()
                : integer(at, dyn::IntKind::Mul, x[0], x[0]);
  case Builtin::Maximum:
    return largest(x[0], x[1]);
  case Builtin::Minimum:
    return smallest(x[0], x[1]);
  case Builtin::Clip:
    return smallest(largest(x[0], x[1]), x[2]);
  case Builtin::Select:
    return arith::SelectOp::create(builder_, at, x[0], x[1], x[2]);
  case Builtin::Detach:
    return dyn::scalar(x[0].getType()).isF32() ? dyn::DetachOp::create(builder_, at, x[0]).getResult() : x[0];
  case Builtin::Div:
    return integer(at, dyn::IntKind::Div, x[0], x[1]);
  default: // those that math lacks have their names
    if (auto kind = dyn::symbolizeFunctionKind(builtinInfo(builtin).name))
      return function(at, *kind, x[0]);
    llvm_unreachable("every elementwise function is handled");
  }
}

//===--------------------------------------------------------------------===//
// Reductions and tensors
//===--------------------------------------------------------------------===//

dyn::ReduceKind Lowering::reduceKind(Builtin builtin) {
  switch (builtin) {
  case Builtin::Mean:
    return dyn::ReduceKind::Mean;
  case Builtin::Max:
    return dyn::ReduceKind::Max;
  case Builtin::Min:
    return dyn::ReduceKind::Min;
  case Builtin::LogSumExp:
    return dyn::ReduceKind::LogSumExp;
  case Builtin::ArgMax:
    return dyn::ReduceKind::ArgMax;
  case Builtin::Any:
    return dyn::ReduceKind::Any;
  case Builtin::All:
    return dyn::ReduceKind::All;
  default:
    return dyn::ReduceKind::Sum;
  }
}

mlir::Value Lowering::reduction(const CallExpr &expr, const Call &call) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]);
  if (llvm::isa<dyn::ListType>(x.getType()))
    return reduceList(at, call.builtin, x);
  mlir::IntegerAttr axis;
  // Over the only axis is over all elements.
  if (call.axis != Call::kNoAxis && dyn::extents(x.getType()).size() > 1)
    axis = builder_.getI64IntegerAttr(call.axis);
  return harmless(dyn::ReduceOp::create(builder_, at, numberType(expr.type, expr.range),
                                        reduceKind(call.builtin), x, axis));
}

Values Lowering::split(const CallExpr &expr, const Call &call) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]);
  size_t count = expr.type->isTuple() ? expr.type->elements.size() : 1;
  llvm::SmallVector<int64_t> sizes(dyn::extents(x.getType())), offsets(sizes.size(), 0);
  sizes[call.axis] /= static_cast<int64_t>(count);
  Values slices;
  for (size_t i = 0; i < count; ++i) {
    offsets[call.axis] = static_cast<int64_t>(i) * sizes[call.axis];
    slices.push_back(cut(at, x, offsets, sizes, sizes));
  }
  return slices;
}

mlir::Value Lowering::filled(const CallExpr &expr, Builtin builtin) {
  mlir::Location at = location(expr.range);
  mlir::Type type = numberType(expr.type, expr.range);
  if (builtin == Builtin::Fill)
    return stretch(at, lowerOne(*expr.args[0]), dyn::extents(type));
  if (builtin != Builtin::Iota)
    return constant(at, builtin == Builtin::Ones ? 1 : 0, type);
  return positions(expr, dyn::extents(type));
}

mlir::Value Lowering::positions(const CallExpr &expr, llvm::ArrayRef<int64_t> extents) {
  mlir::Location at = location(expr.range);
  // They are numbers in the generated code.
  constexpr int64_t most = 1 << 20;
  if (extents[0] > most) {
    diags_.error(expr.range,
                 "this counts " + std::to_string(extents[0]) + " rows at these sizes, and may count 2^20",
                 "T1");
    return constant(at, 0, tensorOf(extents, builder_.getI32Type()));
  }
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(extents[0])));
  return arith::ConstantOp::create(builder_, at,
                                   mlir::DenseElementsAttr::get(tensorOf(extents, builder_.getI32Type()),
                                                                llvm::ArrayRef<int32_t>(numbers)));
}

/// A choice by position: row i of x is the new one where i is the index.
mlir::Value Lowering::put(const CallExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]), index = lowerOne(*expr.args[1]), row = lowerOne(*expr.args[2]);
  llvm::ArrayRef<int64_t> extents = dyn::extents(x.getType());
  auto *minus = expr.args[1]->as<UnaryExpr>();
  if (minus && minus->operand->as<NumberExpr>()) // counts from the end (T3)
    index = integer(at, dyn::IntKind::Add, intConstant(at, extents[0]), index);
  index = narrow(at, index, extents[0]);
  llvm::SmallVector<int64_t> along(extents.size(), 1);
  along[0] = extents[0];
  mlir::Value rows = stretch(at, positions(expr, along), extents);
  mlir::Value here =
      arith::CmpIOp::create(builder_, at, arith::CmpIPredicate::eq, rows, stretch(at, index, extents));
  return arith::SelectOp::create(builder_, at, here, stretch(at, row, extents), x);
}

/// The rows from `start` on, which must be so many.
mlir::Value Lowering::movingSlice(const CallExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]), start = lowerOne(*expr.args[1]);
  int64_t whole = dyn::extents(x.getType())[0], size = dyn::extents(numberType(expr.type, expr.range))[0];
  if (size > whole) // reported where sizes are bound
    return constant(at, 0, numberType(expr.type, expr.range));
  start = narrow(at, start, whole - size + 1);
  mlir::Value rows = positions(expr, {size});
  mlir::Value indices = integer(at, dyn::IntKind::Add, rows, stretch(at, start, {size}));
  return gather(at, x, indices, /*checked=*/false);
}

/// The largest elements in order, and their position along each axis.
Values Lowering::topK(const CallExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]);
  llvm::SmallVector<int64_t> extents(dyn::extents(x.getType()));
  int64_t rest = 1;
  for (int64_t extent : extents)
    rest *= extent;
  llvm::SmallVector<mlir::Type> types = flatTypes(expr.type, expr.range);
  if (dyn::extents(types[0])[0] > rest) // reported where sizes are bound
    return llvm::map_to_vector(types, [&](mlir::Type type) { return constant(at, 0, type); });
  mlir::Value flat = reshape(at, x, {rest});
  mlir::Value indices = dyn::TopKOp::create(builder_, at, types[1], flat);
  Values results{gather(at, flat, indices, /*checked=*/false)};
  for (int64_t extent : extents) {
    rest /= extent;
    mlir::Value along = indices;
    if (rest > 1)
      along = integer(at, dyn::IntKind::Div, along, constant(at, rest, along.getType()));
    if (extents.size() > 1)
      along = integer(at, dyn::IntKind::Rem, along, constant(at, extent, along.getType()));
    results.push_back(along);
  }
  return results;
}

/// The windows, one a row, times what each position shows of the picture, one a column.
mlir::Value Lowering::convolution(const CallExpr &expr, const Call &call) {
  mlir::Location at = location(expr.range);
  mlir::Value x = lowerOne(*expr.args[0]), windows = lowerOne(*expr.args[1]);
  llvm::ArrayRef<int64_t> window = dyn::extents(windows.getType());
  mlir::Type type = numberType(expr.type, expr.range);
  llvm::SmallVector<int64_t> extents(dyn::extents(type)), shown(window.drop_front()), padding;
  shown.append(extents.begin() + 1, extents.end());
  for (unsigned axis = 0; axis < 2; ++axis) {
    padding.push_back(number(call.padding[axis], expr.range));
    int64_t room = dyn::extents(x.getType())[1 + axis] + 2 * padding[axis] - window[2 + axis];
    if (room < 0 || padding[axis] < 0) // reported where sizes are bound
      return constant(at, 0, type);
  }
  double patches = 1;
  for (int64_t extent : shown)
    patches *= static_cast<double>(extent);
  if (patches >= 2147483648.0) {
    diags_.error(expr.range, "`conv2d` looks at more than 2^31 elements at these sizes", "T1");
    return constant(at, 0, type);
  }
  int64_t terms = window[1] * window[2] * window[3], positionCount = extents[1] * extents[2];
  mlir::Value seen =
      dyn::PatchesOp::create(builder_, at, withExtents(x.getType(), shown), x, call.stride, padding);
  mlir::Value weights = reshape(at, windows, {window[0], terms});
  return reshape(at, product(at, weights, reshape(at, seen, {terms, positionCount})), extents);
}

//===--------------------------------------------------------------------===//
// Losses
//===--------------------------------------------------------------------===//

/// -log_softmax(z)[i], or for a distribution p: -sum(p * log_softmax(z)). Not as a difference of logsumexp(z)
/// and z[i], which loses all digits where the logits are large.
mlir::Value Lowering::crossEntropy(const CallExpr &expr) {
  mlir::Location at = location(expr.range);
  mlir::Value z = lowerOne(*expr.args[0]), label = lowerOne(*expr.args[1]);
  mlir::Value log = dyn::SoftmaxOp::create(builder_, at, z.getType(), z, /*axis=*/0, /*log=*/true);
  mlir::Value sum;
  if (dyn::scalar(label.getType()).isInteger(32)) {
    sum = gatherAt(at, log, 0, label, expr.args[1]->type->scalar == Scalar::Int);
  } else {
    mlir::Value weighted = arith::MulFOp::create(builder_, at, label, log);
    sum = dyn::ReduceOp::create(builder_, at, builder_.getF32Type(), dyn::ReduceKind::Sum, weighted,
                                mlir::IntegerAttr());
  }
  return arith::NegFOp::create(builder_, at, sum);
}

/// softplus(z) - z * y.
mlir::Value Lowering::binaryCrossEntropy(const CallExpr &expr) {
  mlir::Location at = location(expr.range);
  llvm::ArrayRef<int64_t> extents = dyn::extents(numberType(expr.type, expr.range));
  mlir::Value z = stretch(at, lowerOne(*expr.args[0]), extents),
              y = stretch(at, lowerOne(*expr.args[1]), extents);
  mlir::Value product = arith::MulFOp::create(builder_, at, z, y);
  return arith::SubFOp::create(builder_, at, function(at, dyn::FunctionKind::Softplus, z), product);
}

} // namespace dbc::frontend
