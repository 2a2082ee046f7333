// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/ReductionTyper.h"

namespace dbc::frontend {

const Type *ReductionTyper::typeReduction(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  Expr &arg = *expr.args[0];
  std::string name = std::string("`") + info.name + "`";
  // The result of these has the type of what is reduced, which may be literals still.
  bool untyped = arg.type->isList() && arg.type->element->isUnknown();
  if ((info.id != Builtin::Sum && info.id != Builtin::Max && info.id != Builtin::Min) || untyped)
    coercion_.defaultLiterals(arg);
  if (arg.type->isError())
    return fail();
  if (arg.type->isList())
    return typeListReduction(expr, info);
  if (!arg.type->isTensor())
    return operands_.wrongArgument(arg, info, "a list or a tensor");
  if (info.typing == Typing::Logical && arg.type->scalar != Scalar::Bool)
    return operands_.wrongArgument(arg, info, "a tensor or list of `bool`");
  if (info.typing != Typing::Logical && arg.type->scalar == Scalar::Bool) {
    operands_.commonScalar({&arg}, arg.range, name); // reports
    return fail();
  }
  if ((info.id == Builtin::Mean || info.id == Builtin::LogSumExp) && !operands_.requireFloat(arg, name))
    return fail();
  // Written for a sum over operands where a sum over all elements is what comes out (E1).
  bool single = info.id == Builtin::Sum || info.id == Builtin::Mean || info.id == Builtin::Max ||
                info.id == Builtin::Min;
  if (single && !expr.axis && arg.as<JoinExpr>()) {
    std::string hint = info.id == Builtin::Sum    ? "add the operands by `+`"
                       : info.id == Builtin::Mean ? "add the operands by `+` and divide"
                       : info.id == Builtin::Max  ? "elementwise is `maximum(a, b)`"
                                                  : "elementwise is `minimum(a, b)`";
    return refuse(arg.range, name + " directly of a join goes over all elements of all its operands", "E1",
                  hint + "; if all elements are meant, write `axis = 0`, or name the join with `let`");
  }
  if (info.id == Builtin::ArgMax && !expr.axis && arg.type->rank() != 1)
    return refuse(arg.range,
                  "`argmax` without an axis takes one axis, but " + quote(arg) + " is " + quote(arg.type),
                  "L1", "write `argmax(x, axis = 0)`");
  std::optional<int> axis = operands_.axisOf(expr, arg.type, info.id == Builtin::ArgMax ? 0 : Call::kNoAxis);
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

const Type *ReductionTyper::typeSoftmax(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  Expr &arg = *expr.args[0];
  coercion_.defaultLiterals(arg);
  if (arg.type->isList() && info.id == Builtin::Softmax)
    return typeListReduction(expr, info);
  if (!arg.type->isTensor())
    return operands_.wrongArgument(arg, info,
                                   info.id == Builtin::Softmax ? "a list or a tensor" : "a tensor");
  if (!operands_.requireFloat(arg, std::string("`") + info.name + "`"))
    return fail();
  std::optional<int> axis = operands_.axisOf(expr, arg.type, static_cast<int>(arg.type->rank()) - 1);
  if (!axis)
    return fail();
  call.axis = *axis;
  return arg.type;
}

const Type *ReductionTyper::typeListReduction(CallExpr &expr, const BuiltinInfo &info) {
  Expr &arg = *expr.args[0];
  if (expr.axis) {
    value(*expr.axis);
    return refuse(expr.axisRange, quote(arg) + " is a list, which has no axes", "L1",
                  "`" + std::string(info.name) + "` of a list takes its elements together; leave `axis` out");
  }
  return reduceElement(info.id, arg.type->element, arg.range, "an element of " + quote(arg));
}

const Type *ReductionTyper::reduceElement(Builtin builtin, const Type *element, SourceRange range,
                                          const std::string &what) {
  std::string name = std::string("`") + builtinInfo(builtin).name + "`";
  auto refuse = [&](const std::string &takes) {
    Diagnostic &diagnostic = error(range,
                                   name + " of a list takes " + takes + ", but " + what + " is " +
                                       quote(rules_.defaulted(element)),
                                   element->isNumber() ? "T4" : "L1");
    if (element->isNumber() && element->scalar != Scalar::F32 && builtin != Builtin::Any &&
        builtin != Builtin::All)
      diagnostic.hint(element->scalar == Scalar::Bool ? "write `f32(c)` or `int(c)`, which are 0 or 1"
                                                      : "write `f32(i)`");
    if (element->isTuple()) {
      const bool isBody = what[0] == '`';
      const std::string let = reporter_.letComponent(element, isBody ? what : "`x`");
      const std::string head = isBody ? "" : std::string(builtinInfo(builtin).name) + "(x in xs) ";
      diagnostic.hint("take one of its components: `" + head + "{ " + let + " a }`");
    }
    if (element->isRecord() && !element->record->fields.empty())
      diagnostic.hint("take one of its fields: `." + element->record->fields[0].name + "`");
    return fail();
  };
  bool number = element->isNumber() && element->scalar != Scalar::Bool;
  bool real = number && (element->scalar == Scalar::F32 || TypeRules::hasLiteral(element));
  switch (builtin) {
  case Builtin::Sum:
  case Builtin::Max:
  case Builtin::Min:
    if (!number)
      return refuse("numbers or tensors of one shape");
    return element->scalar == Scalar::Index ? rules_.withScalar(element, Scalar::Int) : element;
  case Builtin::Mean:
  case Builtin::LogSumExp:
  case Builtin::Softmax: {
    if (!real)
      return refuse("`f32`, or tensors of it");
    const Type *type = rules_.withScalar(element, Scalar::F32);
    return builtin == Builtin::Softmax ? types_.list(type) : type;
  }
  case Builtin::ArgMax:
    if (!number || !element->isScalar())
      return refuse("scalars");
    return types_.integer();
  default: // any, all
    if (!element->isScalar(Scalar::Bool))
      return refuse("`bool`");
    return element;
  }
}

} // namespace dbc::frontend
