// Calls of built-in functions (LANGUAGE.md section 10).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>

namespace dbc::frontend {

const Type *Checker::wrongArgument(const Expr &expr, const BuiltinInfo &info, const std::string &takes) {
  Diagnostic &diagnostic = error(expr.range,
                                 std::string("`") + info.name + "` takes " + takes + ", but " + quote(expr) +
                                     " is " + quote(expr.type),
                                 info.rule);
  if (expr.type->isList() && info.typing != Typing::Nodes)
    diagnostic.hint("go through the list: `map(x in xs) " + std::string(info.name) + "(..)`");
  return fail();
}

bool Checker::requireFloat(Expr &expr, const std::string &what) {
  if (expr.type->isNumber() && TypeRules::hasLiteral(expr.type))
    coercion_.push(expr, rules_.withScalar(expr.type, Scalar::F32));
  if (!requireNumber(expr, what))
    return false;
  if (expr.type->scalar == Scalar::F32)
    return true;
  std::string hint = coercion_.hintFor(expr, expr.type, rules_.withScalar(expr.type, Scalar::F32));
  error(expr.range, what + " takes `f32`, but " + quote(expr) + " is " + quote(expr.type), "T4").hint(hint);
  return false;
}

const Type *Checker::callBuiltin(CallExpr &expr, const BuiltinInfo &info) {
  std::string name = std::string("`") + info.name + "`";
  if (info.typing == Typing::Conversion && info.id != Builtin::Index)
    return convert(expr, info.id, std::nullopt);

  // Arguments that are shapes are not values: they are looked at by the typing functions.
  size_t values = expr.args.size();
  if (info.typing == Typing::Reshape || info.typing == Typing::Fill || info.typing == Typing::TopK)
    values = std::min<size_t>(values, 1);
  else if (info.typing == Typing::Slice)
    values = std::min<size_t>(values, 2);
  else if (info.typing == Typing::Filled || info.typing == Typing::Iota)
    values = 0;
  bool fine = true;
  for (size_t i = 0; i < values; ++i)
    fine &= !infer(*expr.args[i])->isError();
  auto give = [&](const Type *type) {
    for (size_t i = 0; i < values; ++i)
      coercion_.settle(*expr.args[i]);
    return type;
  };
  if (info.id == Builtin::Index) {
    error(expr.callee->range, "`index` is called with its extent: `index[n](i)`", "T4");
    return give(fail());
  }
  if (info.typing == Typing::Binder) {
    error(expr.callee->range, name + " is written as `" + info.usage + "`", info.rule);
    return give(fail());
  }
  int count = static_cast<int>(expr.args.size());
  if (count < info.minArgs || (info.maxArgs >= 0 && count > info.maxArgs)) {
    std::string wanted = info.minArgs == info.maxArgs ? std::to_string(info.minArgs)
                         : info.maxArgs < 0
                             ? "at least " + std::to_string(info.minArgs)
                             : std::to_string(info.minArgs) + " or " + std::to_string(info.maxArgs);
    bool extremum = (info.id == Builtin::Max || info.id == Builtin::Min) && count == 2;
    bool axis = info.takesAxis && !extremum && count == info.maxArgs + 1;
    error(expr.range,
          name + " takes " + wanted + (info.maxArgs == 1 ? " argument" : " arguments") + ", not " +
              std::to_string(count),
          info.rule)
        .hint(extremum ? std::string("of two numbers it is `") + info.name + "imum(a, b)`"
              : axis ? std::string("an axis is named, and counted from 0: `") + info.name + "(.., axis = ..)`"
                     : std::string("it is written `") + info.usage + "`");
    return give(fail());
  }
  if (expr.axis && !info.takesAxis) {
    value(*expr.axis);
    error(expr.axisRange, name + " takes no `axis`", info.rule);
    return give(fail());
  }
  if (info.typing != Typing::Conv2d && !refuseSettings(expr, name, info.rule))
    return give(fail());
  if (!fine)
    return give(fail());
  auto owned = std::make_unique<Call>();
  Call &call = *owned;
  call.kind = Binding::Kind::Call;
  call.name = info.name;
  call.target = Call::Target::Builtin;
  call.builtin = info.id;
  expr.resolved = &call;
  out_.bindings.push_back(std::move(owned));
  const Type *type = typeBuiltin(expr, info, call);
  return type->isError() ? give(type) : type;
}

const Type *Checker::typeBuiltin(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  switch (info.typing) {
  case Typing::FloatUnary:
  case Typing::FloatBinary:
  case Typing::Arithmetic:
  case Typing::Same:
    return typeElementwise(expr, info);
  case Typing::Select:
    return typeSelect(expr, info);
  case Typing::Reduction:
  case Typing::ArgMax:
  case Typing::Logical:
    return typeReduction(expr, info, call);
  case Typing::Softmax:
    return typeSoftmax(expr, info, call);
  case Typing::Split:
    return typeSplit(expr, call);
  case Typing::Transpose:
    return typeTranspose(expr);
  case Typing::Reshape:
    return typeReshape(expr);
  case Typing::Filled:
  case Typing::Fill:
    return typeFilled(expr, info);
  case Typing::Iota:
    return typeIota(expr);
  case Typing::Dropout:
    return typeDropout(expr);
  case Typing::Put:
    return typePut(expr);
  case Typing::Slice:
    return typeSlice(expr);
  case Typing::TopK:
    return typeTopK(expr);
  case Typing::Every:
    return typeEvery(expr);
  case Typing::Conv2d:
    return typeConv2d(expr, call);
  case Typing::CrossEntropy:
    return typeCrossEntropy(expr);
  case Typing::Len:
  case Typing::Zip:
  case Typing::Reverse:
  case Typing::Nodes:
    return typeList(expr, info);
  case Typing::Div:
    return typeDiv(expr);
  case Typing::Conversion:
  case Typing::Binder:
    break; // callBuiltin has dealt with them
  }
  return fail();
}

//===--------------------------------------------------------------------===//
// Elementwise
//===--------------------------------------------------------------------===//

const Type *Checker::typeElementwise(CallExpr &expr, const BuiltinInfo &info) {
  std::string what = std::string("`") + info.name + "`";
  std::vector<Expr *> args;
  for (ExprPtr &arg : expr.args)
    args.push_back(arg.get());
  if (info.typing == Typing::Same)
    return requireNumber(*args[0], what) ? args[0]->type : fail();
  std::optional<Scalar> scalar = Scalar::F32;
  if (info.typing == Typing::Arithmetic) {
    scalar = commonScalar(args, expr.callee->range, what);
    if (!scalar)
      return fail();
  } else {
    for (Expr *arg : args)
      if (!requireFloat(*arg, what))
        return fail();
  }
  auto extents = broadcast(args, expr.callee->range, what);
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *Checker::typeSelect(CallExpr &expr, const BuiltinInfo &info) {
  Expr &condition = *expr.args[0];
  if (!condition.type->isNumber() || condition.type->scalar != Scalar::Bool) {
    coercion_.settle(condition);
    return wrongArgument(condition, info, "a `bool` or a tensor of it first");
  }
  std::vector<Expr *> choices = {expr.args[1].get(), expr.args[2].get()};
  std::optional<Scalar> scalar = commonScalar(choices, expr.callee->range, "`select`");
  if (!scalar)
    return fail();
  auto extents = broadcast({&condition, choices[0], choices[1]}, expr.callee->range, "`select`");
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *Checker::typeDropout(CallExpr &expr) {
  Expr &x = *expr.args[0], &rate = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Dropout);
  if (!requireFloat(x, "`dropout`") || !requireFloat(rate, "the rate of `dropout`"))
    return fail();
  if (!rate.type->isScalar())
    return wrongArgument(rate, info, "a rate that is one number");
  if (auto *number = rate.as<NumberExpr>(); number && !(number->value < 1)) {
    error(rate.range, "`dropout` divides by 1 - p: the rate p is at least 0 and below 1", "G2");
    return fail();
  }
  return x.type;
}

const Type *Checker::typeDiv(CallExpr &expr) {
  std::vector<Expr *> args = {expr.args[0].get(), expr.args[1].get()};
  std::optional<Scalar> scalar = commonScalar(args, expr.callee->range, "`div`");
  if (!scalar)
    return fail();
  for (Expr *arg : args)
    coercion_.settle(*arg);
  for (Expr *arg : args)
    if (arg->type->scalar == Scalar::F32) {
      error(arg->range, "`div` takes ints, but " + quote(*arg) + " is " + quote(arg->type), "T4")
          .hint("numbers with a point are divided by `/`");
      return fail();
    }
  auto extents = broadcast(args, expr.callee->range, "`div`");
  return extents ? types_.integer(*extents) : fail();
}

//===--------------------------------------------------------------------===//
// Reductions
//===--------------------------------------------------------------------===//

std::optional<int> Checker::axisOf(CallExpr &expr, const Type *tensor, int otherwise) {
  if (!expr.axis)
    return otherwise;
  Expr &axis = *expr.axis;
  value(axis);
  std::optional<Shape> shape = CheckedProgram::asShape(axis);
  std::optional<int64_t> number = shape ? shape->constant() : std::nullopt;
  int64_t rank = static_cast<int64_t>(tensor->rank());
  if (!number) {
    error(axis.range, "an axis is a number, not " + quote(axis), "T2");
    return std::nullopt;
  }
  if (*number < -rank || *number >= rank) {
    error(axis.range,
          "there is no axis " + std::to_string(*number) + ": " + quote(*expr.args[0]) + " is " +
              quote(tensor),
          "T2");
    return std::nullopt;
  }
  return static_cast<int>(*number < 0 ? *number + rank : *number);
}

const Type *Checker::typeListReduction(CallExpr &expr, const BuiltinInfo &info) {
  Expr &arg = *expr.args[0];
  if (expr.axis) {
    value(*expr.axis);
    error(expr.axisRange, quote(arg) + " is a list, which has no axes", "L1")
        .hint("`" + std::string(info.name) + "` of a list takes its elements together; leave `axis` out");
    return fail();
  }
  return reduceElement(info.id, arg.type->element, arg.range, "an element of " + quote(arg));
}

const Type *Checker::typeReduction(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  Expr &arg = *expr.args[0];
  std::string name = std::string("`") + info.name + "`";
  // The result of these has the type of what is reduced, which may be literals still.
  bool untyped = arg.type->isList() && arg.type->element->isUnknown();
  if ((info.id != Builtin::Sum && info.id != Builtin::Max && info.id != Builtin::Min) || untyped)
    coercion_.settle(arg);
  if (arg.type->isError())
    return fail();
  if (arg.type->isList())
    return typeListReduction(expr, info);
  if (!arg.type->isTensor())
    return wrongArgument(arg, info, "a list or a tensor");
  if (info.typing == Typing::Logical && arg.type->scalar != Scalar::Bool)
    return wrongArgument(arg, info, "a tensor or list of `bool`");
  if (info.typing != Typing::Logical && arg.type->scalar == Scalar::Bool) {
    commonScalar({&arg}, arg.range, name); // reports
    return fail();
  }
  if ((info.id == Builtin::Mean || info.id == Builtin::LogSumExp) && !requireFloat(arg, name))
    return fail();
  // Written for a sum over parts where a sum over all elements is what comes out (E1).
  bool single = info.id == Builtin::Sum || info.id == Builtin::Mean || info.id == Builtin::Max ||
                info.id == Builtin::Min;
  if (single && !expr.axis && arg.as<JoinExpr>()) {
    std::string hint = info.id == Builtin::Sum    ? "add the parts by `+`"
                       : info.id == Builtin::Mean ? "add the parts by `+` and divide"
                       : info.id == Builtin::Max  ? "elementwise is `maximum(a, b)`"
                                                  : "elementwise is `minimum(a, b)`";
    error(arg.range, name + " directly of a join goes over all elements of all its parts", "E1")
        .hint(hint + "; if all elements are meant, write `axis = 0`, or name the join with `let`");
    return fail();
  }
  if (info.id == Builtin::ArgMax && !expr.axis && arg.type->rank() != 1) {
    error(arg.range, "`argmax` without an axis takes one axis, but " + quote(arg) + " is " + quote(arg.type),
          "L1")
        .hint("write `argmax(x, axis = 0)`");
    return fail();
  }
  std::optional<int> axis = axisOf(expr, arg.type, info.id == Builtin::ArgMax ? 0 : Call::kNoAxis);
  if (!axis)
    return fail();
  call.axis = *axis;
  std::vector<Shape> extents;
  if (*axis != Call::kNoAxis) {
    extents = arg.type->extents;
    extents.erase(extents.begin() + *axis);
  }
  if (info.id == Builtin::ArgMax)
    return types_.index(arg.type->extents[*axis], std::move(extents));
  Scalar scalar = arg.type->scalar == Scalar::Index ? Scalar::Int : arg.type->scalar;
  return types_.number(scalar, std::move(extents));
}

const Type *Checker::typeSoftmax(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  Expr &arg = *expr.args[0];
  coercion_.settle(arg);
  if (arg.type->isList() && info.id == Builtin::Softmax)
    return typeListReduction(expr, info);
  if (!arg.type->isTensor())
    return wrongArgument(arg, info, info.id == Builtin::Softmax ? "a list or a tensor" : "a tensor");
  if (!requireFloat(arg, std::string("`") + info.name + "`"))
    return fail();
  std::optional<int> axis = axisOf(expr, arg.type, static_cast<int>(arg.type->rank()) - 1);
  if (!axis)
    return fail();
  call.axis = *axis;
  return arg.type;
}

//===--------------------------------------------------------------------===//
// Tensors
//===--------------------------------------------------------------------===//

const Type *Checker::typeSplit(CallExpr &expr, Call &call) {
  constexpr int64_t kMostParts = 1024;
  Expr &arg = *expr.args[0];
  const BuiltinInfo &info = builtinInfo(Builtin::Split);
  coercion_.settle(arg);
  std::optional<int64_t> count;
  if (expr.args.size() == 2) {
    coercion_.settle(*expr.args[1]);
    std::optional<Shape> shape = CheckedProgram::asShape(*expr.args[1]);
    count = shape ? shape->constant() : std::nullopt;
    if (!count || *count < 1 || *count > kMostParts) {
      error(expr.args[1]->range,
            "the number of parts is a number from 1 to 1024, not " + quote(*expr.args[1]), "T3");
      return fail();
    }
  } else if (splitCall_ == &expr) {
    count = static_cast<int64_t>(splitCount_);
  }
  if (!arg.type->isTensor())
    return wrongArgument(arg, info, "a tensor");
  if (!count) {
    error(expr.range, "into how many parts `split` cuts is not said", "T3")
        .hint("write `let (a, b) = split(x);`, or `split(x, 2)`");
    return fail();
  }
  std::optional<int> axis = axisOf(expr, arg.type, 0);
  if (!axis)
    return fail();
  call.axis = *axis;
  Shape whole = arg.type->extents[*axis];
  std::optional<Shape> part = whole.dividedBy(Shape(*count));
  if (!part) {
    const DimVar *dim = whole.singleDim();
    Diagnostic &diagnostic =
        error(expr.range,
              "`" + whole.str() + "` does not divide by " + std::to_string(*count) + " at every size", "T1");
    diagnostic.note(arg.range, quote(arg) + " is " + quote(arg.type));
    diagnostic.hint("make the whole of its part: `dim part, " + (dim ? dim->name : std::string("whole")) +
                    " = " + std::to_string(*count) + " * part;`");
    return fail();
  }
  std::vector<Shape> extents = arg.type->extents;
  extents[*axis] = *part;
  const Type *piece = types_.number(arg.type->scalar, std::move(extents), arg.type->bound);
  if (*count == 1)
    return piece;
  return types_.tuple(std::vector<const Type *>(*count, piece));
}

const Type *Checker::typeTranspose(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  if (!arg.type->isTensor() || arg.type->rank() < 2)
    return wrongArgument(arg, builtinInfo(Builtin::Transpose), "a tensor of two axes or more");
  std::vector<Shape> extents(arg.type->extents.rbegin(), arg.type->extents.rend());
  return types_.number(arg.type->scalar, std::move(extents), arg.type->bound);
}

std::optional<std::vector<Shape>> Checker::shapeArguments(CallExpr &expr, size_t first) {
  std::vector<Shape> shapes;
  bool fine = true;
  for (size_t i = first; i < expr.args.size(); ++i) {
    std::optional<Shape> shape = shapes_.resolveShape(*expr.args[i]);
    fine &= shape.has_value();
    if (!shape)
      continue;
    fine &= shapes_.requireNonNegative(
        *shape - Shape(1), expr.args[i]->range,
        "extent " + quote(*expr.args[i]) + " is below 1; every extent is at least 1", "T1");
    shapes.push_back(*shape);
  }
  if (!fine)
    return std::nullopt;
  return shapes;
}

const Type *Checker::typeReshape(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  if (!requireNumber(arg, "`reshape`"))
    return fail();
  auto shapes = shapeArguments(expr, 1);
  if (!shapes)
    return fail();
  Shape before(1), after(1);
  for (const Shape &extent : arg.type->extents)
    before = before * extent;
  for (const Shape &extent : *shapes)
    after = after * extent;
  if (before.overflowed() || after.overflowed()) {
    error(expr.range,
          "the number of elements of `reshape` " + (before.overflowed() ? before : after).excess(), "T1")
        .note(arg.range, quote(arg) + " is " + quote(arg.type));
    return fail();
  }
  if (before != after) {
    error(expr.range,
          "`reshape` keeps the number of elements: there are `" + before.str() + "`, the new shape holds `" +
              after.str() + "`",
          "T1")
        .note(arg.range, quote(arg) + " is " + quote(arg.type));
    return fail();
  }
  return types_.number(arg.type->scalar, std::move(*shapes), arg.type->bound);
}

const Type *Checker::typeFilled(CallExpr &expr, const BuiltinInfo &info) {
  bool fill = info.typing == Typing::Fill;
  auto shapes = shapeArguments(expr, fill ? 1 : 0);
  if (!shapes)
    return fail();
  if (!fill)
    return types_.f32(std::move(*shapes));
  const Type *value = expr.args[0]->type;
  if (!value->isScalar()) {
    coercion_.settle(*expr.args[0]);
    return wrongArgument(*expr.args[0], info, "a scalar first, then the extents");
  }
  return types_.number(value->scalar, std::move(*shapes), value->bound);
}

const Type *Checker::typeIota(CallExpr &expr) {
  auto shapes = shapeArguments(expr, 0);
  if (!shapes)
    return fail();
  return types_.index((*shapes)[0], {(*shapes)[0]});
}

const Type *Checker::typePut(CallExpr &expr) {
  Expr &x = *expr.args[0], &index = *expr.args[1], &row = *expr.args[2];
  const BuiltinInfo &info = builtinInfo(Builtin::Put);
  if (!x.type->isTensor())
    return wrongArgument(x, info, "a tensor first");
  Subscripts::Part part;
  if (!indexInto(index, x.type->extents[0], part))
    return fail();
  if (!index.type->isScalar())
    return wrongArgument(index, info, "the index of one row");
  std::optional<Scalar> scalar = commonScalar({&x, &row}, expr.callee->range, "`put`");
  if (!scalar)
    return fail();
  std::vector<Shape> extents(x.type->extents.begin() + 1, x.type->extents.end());
  coercion_.settle(row);
  if (row.type->extents != extents) {
    const Type *wanted = types_.number(x.type->scalar, extents, x.type->bound);
    noteOperands(error(row.range,
                       "`put` replaces a row of " + quote(x) + ", which is " + quote(wanted) + ", but " +
                           quote(row) + " is " + quote(row.type),
                       "T3"),
                 {&x});
    return fail();
  }
  return types_.number(*scalar == Scalar::Index ? Scalar::Int : *scalar, x.type->extents);
}

const Type *Checker::typeSlice(CallExpr &expr) {
  Expr &x = *expr.args[0], &start = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Slice);
  if (!x.type->isTensor())
    return wrongArgument(x, info, "a tensor first");
  if (!coercion_.require(start, types_.integer(), "a slice starts at"))
    return fail();
  auto shapes = shapeArguments(expr, 2);
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

const Type *Checker::typeTopK(CallExpr &expr) {
  Expr &x = *expr.args[0];
  const BuiltinInfo &info = builtinInfo(Builtin::TopK);
  coercion_.settle(x);
  if (!x.type->isTensor() || x.type->scalar == Scalar::Bool)
    return wrongArgument(x, info, "a tensor of numbers");
  auto shapes = shapeArguments(expr, 1);
  if (!shapes)
    return fail();
  Shape all(1), k = (*shapes)[0];
  for (const Shape &extent : x.type->extents)
    all = all * extent;
  if (!shapes_.requireNonNegative(all - k, expr.args[1]->range,
                                  "`topk` takes `" + k.str() + "` of only `" + all.str() + "` elements",
                                  "T1"))
    return fail();
  std::vector<const Type *> parts = {types_.number(x.type->scalar, {k}, x.type->bound)};
  for (const Shape &extent : x.type->extents)
    parts.push_back(types_.index(extent, {k}));
  return types_.tuple(std::move(parts));
}

//===--------------------------------------------------------------------===//
// Losses, lists
//===--------------------------------------------------------------------===//

const Type *Checker::typeCrossEntropy(CallExpr &expr) {
  Expr &logits = *expr.args[0], &label = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::CrossEntropy);
  coercion_.settle(logits);
  if (!logits.type->isTensor() || logits.type->rank() != 1) {
    coercion_.settle(label);
    return wrongArgument(logits, info, "logits with one axis");
  }
  if (!requireFloat(logits, "`cross_entropy`"))
    return fail();
  Shape classes = logits.type->extents[0];
  if (TypeRules::hasLiteral(label.type) && label.type->isScalar(Scalar::IntLiteral)) {
    coercion_.push(label, types_.index(classes));
    return types_.f32();
  }
  coercion_.settle(label);
  const Type *type = label.type;
  if (type->isScalar(Scalar::Int))
    return types_.f32();
  auto mismatch = [&](const Shape &other) {
    noteOperands(
        error(expr.callee->range,
              "`cross_entropy` of `" + classes.str() + "` logits and a label of `" + other.str() + "`", "T1"),
        {&logits, &label});
    return fail();
  };
  if (type->isScalar(Scalar::Index))
    return (classes - type->bound).noNegativeTerm() ? types_.f32() : mismatch(type->bound);
  if (type->isTensor() && type->rank() == 1 && type->scalar == Scalar::F32)
    return type->extents[0] == classes ? types_.f32() : mismatch(type->extents[0]);
  return wrongArgument(
      label, info, "a label `index[" + classes.str() + "]` or a distribution `f32[" + classes.str() + "]`");
}

} // namespace dbc::frontend
