// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/TensorTyper.h"

#include <algorithm>

namespace dbc::frontend {

const Type *TensorTyper::typeSplit(CallExpr &expr, Call &call) {
  constexpr int64_t kMostSlices = 1024;
  Expr &arg = *expr.args[0];
  const BuiltinInfo &info = builtinInfo(Builtin::Split);
  coercion_.defaultLiterals(arg);
  std::optional<int64_t> count;
  if (expr.args.size() == 2) {
    coercion_.defaultLiterals(*expr.args[1]);
    std::optional<Shape> shape = CheckedProgram::asShape(*expr.args[1]);
    count = shape ? shape->constant() : std::nullopt;
    if (!count || *count < 1 || *count > kMostSlices)
      return refuse(expr.args[1]->range,
                    "the number of slices is a number from 1 to " + std::to_string(kMostSlices) + ", not " +
                        quote(*expr.args[1]),
                    "T3");
  } else if (size_t slices = inference_.slicesAsked(expr)) {
    count = static_cast<int64_t>(slices);
  }
  if (!arg.type->isTensor())
    return operands_.wrongArgument(arg, info, "a tensor");
  if (!count)
    return refuse(expr.range, "into how many slices `split` cuts is not said", "T3",
                  "write `let (a, b) = split(x);`, or `split(x, 2)`");
  std::optional<int> axis = operands_.axisOf(expr, arg.type, 0);
  if (!axis)
    return fail();
  call.axis = *axis;
  Shape whole = arg.type->extents[*axis];
  std::optional<Shape> slice = whole.dividedBy(Shape(*count));
  if (!slice) {
    const DimVar *dim = whole.singleDim();
    return refuseOperands(
        {&arg}, expr.range,
        "`" + whole.str() + "` does not divide by " + std::to_string(*count) + " at every size", "T1",
        "make the whole of its part: `dim part, " + (dim ? dim->name : std::string("whole")) + " = " +
            std::to_string(*count) + " * part;`");
  }
  std::vector<Shape> extents = arg.type->extents;
  extents[*axis] = *slice;
  const Type *piece = types_.number(arg.type->scalar, std::move(extents), arg.type->bound);
  if (*count == 1)
    return piece;
  return types_.tuple(std::vector<const Type *>(*count, piece));
}

const Type *TensorTyper::typeTranspose(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  if (!arg.type->isTensor() || arg.type->rank() < 2)
    return operands_.wrongArgument(arg, builtinInfo(Builtin::Transpose), "a tensor of two axes or more");
  std::vector<Shape> extents(arg.type->extents.rbegin(), arg.type->extents.rend());
  return types_.number(arg.type->scalar, std::move(extents), arg.type->bound);
}

const Type *TensorTyper::typeReshape(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  if (!operands_.requireNumber(arg, "`reshape`"))
    return fail();
  auto shapes = operands_.shapeArguments(expr, 1);
  if (!shapes)
    return fail();
  Shape before(1), after(1);
  for (const Shape &extent : arg.type->extents)
    before = before * extent;
  for (const Shape &extent : *shapes)
    after = after * extent;
  if (before.overflowed() || after.overflowed())
    return refuseOperands(
        {&arg}, expr.range,
        "the number of elements of `reshape` " + (before.overflowed() ? before : after).excess(), "T1");
  if (before != after)
    return refuseOperands({&arg}, expr.range,
                          "`reshape` keeps the number of elements: there are `" + before.str() +
                              "`, the new shape holds `" + after.str() + "`",
                          "T1");
  return types_.number(arg.type->scalar, std::move(*shapes), arg.type->bound);
}

const Type *TensorTyper::typeFilled(CallExpr &expr, const BuiltinInfo &info) {
  bool fill = info.typing == Typing::Fill;
  auto shapes = operands_.shapeArguments(expr, fill ? 1 : 0);
  if (!shapes)
    return fail();
  if (!fill)
    return types_.f32(std::move(*shapes));
  const Type *value = expr.args[0]->type;
  if (!value->isScalar()) {
    coercion_.defaultLiterals(*expr.args[0]);
    return operands_.wrongArgument(*expr.args[0], info, "a scalar first, then the extents");
  }
  return types_.number(value->scalar, std::move(*shapes), value->bound);
}

const Type *TensorTyper::typeIota(CallExpr &expr) {
  auto shapes = operands_.shapeArguments(expr, 0);
  if (!shapes)
    return fail();
  return types_.index((*shapes)[0], {(*shapes)[0]});
}

const Type *TensorTyper::typePut(CallExpr &expr) {
  Expr &x = *expr.args[0], &index = *expr.args[1], &row = *expr.args[2];
  const BuiltinInfo &info = builtinInfo(Builtin::Put);
  if (!x.type->isTensor())
    return operands_.wrongArgument(x, info, "a tensor first");
  Subscripts::Axis axis;
  if (!subscripts_.indexInto(index, x.type->extents[0], axis))
    return fail();
  if (!index.type->isScalar())
    return operands_.wrongArgument(index, info, "the index of one row");
  std::optional<Scalar> scalar = operands_.commonScalar({&x, &row}, expr.callee->range, "`put`");
  if (!scalar)
    return fail();
  std::vector<Shape> extents(x.type->extents.begin() + 1, x.type->extents.end());
  coercion_.defaultLiterals(row);
  if (row.type->extents != extents) {
    const Type *wanted = types_.number(x.type->scalar, extents, x.type->bound);
    return refuseOperands({&x}, row.range,
                          "`put` replaces a row of " + quote(x) + ", which is " + quote(wanted) + ", but " +
                              quote(row) + " is " + quote(row.type),
                          "T3");
  }
  return types_.number(*scalar == Scalar::Index ? Scalar::Int : *scalar, x.type->extents);
}

const Type *TensorTyper::typeSlice(CallExpr &expr) {
  Expr &x = *expr.args[0], &start = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Slice);
  if (!x.type->isTensor())
    return operands_.wrongArgument(x, info, "a tensor first");
  if (!coercion_.require(start, types_.integer(), "a slice starts at"))
    return fail();
  auto shapes = operands_.shapeArguments(expr, 2);
  if (!shapes)
    return fail();
  Shape whole = x.type->extents[0];
  if (!shapes_.requireNonNegative(
          whole - (*shapes)[0], expr.args[2]->range,
          "the slice has extent `" + (*shapes)[0].str() + "`, the axis only `" + whole.str() + "`", "T3"))
    return fail();
  if (std::optional<Shape> fixed = CheckedProgram::asShape(start);
      fixed && !shapes_.requireNonNegative(
                   whole - (*shapes)[0] - *fixed, start.range,
                   "the slice ends behind the axis, which has extent `" + whole.str() + "`", "T3"))
    return fail();
  std::vector<Shape> extents = x.type->extents;
  extents[0] = (*shapes)[0];
  return types_.number(x.type->scalar, std::move(extents), x.type->bound);
}

const Type *TensorTyper::typeTopK(CallExpr &expr) {
  Expr &x = *expr.args[0];
  const BuiltinInfo &info = builtinInfo(Builtin::TopK);
  coercion_.defaultLiterals(x);
  if (!x.type->isTensor() || x.type->scalar == Scalar::Bool)
    return operands_.wrongArgument(x, info, "a tensor of numbers");
  auto shapes = operands_.shapeArguments(expr, 1);
  if (!shapes)
    return fail();
  Shape all(1), k = (*shapes)[0];
  for (const Shape &extent : x.type->extents)
    all = all * extent;
  if (!shapes_.requireNonNegative(all - k, expr.args[1]->range,
                                  "`topk` takes `" + k.str() + "` of only `" + all.str() + "` elements",
                                  "T1"))
    return fail();
  std::vector<const Type *> elements = {types_.number(x.type->scalar, {k}, x.type->bound)};
  for (const Shape &extent : x.type->extents)
    elements.push_back(types_.index(extent, {k}));
  return types_.tuple(std::move(elements));
}

const Type *TensorTyper::typeConv2d(CallExpr &expr, Call &call) {
  Expr &x = *expr.args[0], &K = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Conv2d);
  if (!operands_.requireFloat(x, "`conv2d`") || !operands_.requireFloat(K, "`conv2d`"))
    return fail();
  if (x.type->rank() != 3)
    return operands_.wrongArgument(x, info, "a picture `f32[channels, rows, columns]`");
  if (K.type->rank() != 4)
    return operands_.wrongArgument(K, info, "windows `f32[out, channels, rows, columns]`");
  const std::vector<Shape> &picture = x.type->extents, &window = K.type->extents;
  if (picture[0] != window[1])
    return refuseOperands({&x, &K}, expr.callee->range,
                          "shapes differ in `conv2d`: the picture has `" + picture[0].str() +
                              "` channels, the windows take `" + window[1].str() + "`",
                          "T2");
  auto stride = forBothAxes(expr, "stride", Shape(1)), padding = forBothAxes(expr, "padding", Shape());
  if (!stride || !padding)
    return fail();
  std::vector<Shape> extents = {window[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    std::optional<int64_t> step = (*stride)[axis].constant();
    if (!step || *step < 1)
      return refuse(expr.range, "a `stride` is a number from 1 on, not `" + (*stride)[axis].str() + "`",
                    "T2");
    const Shape &beside = (*padding)[axis];
    Shape room = picture[1 + axis] + beside + beside - window[2 + axis];
    if (!shapes_.requireNonNegative(beside, expr.range, "`padding` is below 0: `" + beside.str() + "`",
                                    "T2") ||
        !shapes_.requireNonNegative(room, expr.range,
                                    "the window, `" + window[2 + axis].str() +
                                        "`, is larger than the picture, `" +
                                        (picture[1 + axis] + beside + beside).str() + "` with its padding",
                                    "T2"))
      return fail();
    std::optional<Shape> steps = room.flooredBy(*step);
    if (!steps)
      return refuseOperands(
          {&x, &K}, expr.range,
          "`" + room.str() + "` does not divide by the stride " + std::to_string(*step) + " at every size",
          "T1", "make the whole of its part: `dim part, whole = " + std::to_string(*step) + " * part;`");
    extents.push_back(*steps + Shape(1));
    call.stride[axis] = *step;
    call.padding[axis] = beside;
  }
  return types_.f32(std::move(extents));
}

std::optional<std::array<Shape, 2>> TensorTyper::forBothAxes(CallExpr &expr, const std::string &name,
                                                             Shape otherwise) {
  auto given = std::find_if(expr.settings.begin(), expr.settings.end(),
                            [&](const NamedArg &setting) { return setting.name.text == name; });
  std::array<Shape, 2> both = {otherwise, otherwise};
  if (given == expr.settings.end())
    return both;
  auto *pair = given->value->as<TupleExpr>();
  if (pair && pair->elements.size() != 2) {
    error(given->range, "`" + name + "` is a number, or two: `(rows, columns)`", "T2");
    return std::nullopt;
  }
  for (size_t axis = 0; axis < 2; ++axis) {
    std::optional<Shape> shape = shapes_.resolveShape(pair ? *pair->elements[axis] : *given->value);
    if (!shape)
      return std::nullopt;
    both[axis] = *shape;
    if (!pair) {
      both[1] = *shape;
      break;
    }
  }
  return both;
}

} // namespace dbc::frontend
