// `conv2d(x, K, stride = s, padding = p)` (T2).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>

namespace dbc::frontend {

std::optional<std::array<Shape, 2>> Checker::forBothAxes(CallExpr &expr, const std::string &name,
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

const Type *Checker::typeConv2d(CallExpr &expr, Call &call) {
  Expr &x = *expr.args[0], &K = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Conv2d);
  if (!requireFloat(x, "`conv2d`") || !requireFloat(K, "`conv2d`"))
    return fail();
  if (x.type->rank() != 3)
    return wrongArgument(x, info, "a picture `f32[channels, rows, columns]`");
  if (K.type->rank() != 4)
    return wrongArgument(K, info, "windows `f32[out, channels, rows, columns]`");
  const std::vector<Shape> &picture = x.type->extents, &window = K.type->extents;
  if (picture[0] != window[1]) {
    noteOperands(error(expr.callee->range,
                       "shapes differ in `conv2d`: the picture has `" + picture[0].str() +
                           "` channels, the windows take `" + window[1].str() + "`",
                       "T2"),
                 {&x, &K});
    return fail();
  }
  auto stride = forBothAxes(expr, "stride", Shape(1)), padding = forBothAxes(expr, "padding", Shape());
  if (!stride || !padding)
    return fail();
  std::vector<Shape> extents = {window[0]};
  for (size_t axis = 0; axis < 2; ++axis) {
    std::optional<int64_t> step = (*stride)[axis].constant();
    if (!step || *step < 1) {
      error(expr.range, "a `stride` is a number from 1 on, not `" + (*stride)[axis].str() + "`", "T2");
      return fail();
    }
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
    if (!steps) {
      noteOperands(error(expr.range,
                         "`" + room.str() + "` does not divide by the stride " + std::to_string(*step) +
                             " at every size",
                         "T1"),
                   {&x, &K})
          .hint("make the whole of its part: `dim part, whole = " + std::to_string(*step) + " * part;`");
      return fail();
    }
    extents.push_back(*steps + Shape(1));
    call.stride[axis] = *step;
    call.padding[axis] = beside;
  }
  return types_.f32(std::move(extents));
}

} // namespace dbc::frontend
