// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Operands.h"

#include <algorithm>

namespace dbc::frontend {

bool Operands::requireNumber(const Expr &expr, const std::string &what) {
  if (expr.type->isError())
    return false;
  if (expr.type->isNumber())
    return true;
  Diagnostic &diagnostic =
      error(expr.range, quote(expr) + " is " + quote(expr.type) + "; " + what + " takes numbers and tensors",
            Coercion::ruleFor(expr.type, expr.type));
  if (expr.type->isList())
    diagnostic.hint("go through the list: `map(x in xs) ..`, or reduce it: `sum(x in xs) ..`");
  if (expr.type->isTuple())
    diagnostic.hint("take one of its components: `" + reporter_.letComponent(expr.type, quote(expr)) + "`");
  if (expr.type->isRecord())
    diagnostic.hint(
        "take one of its fields: `" +
        std::string(expr.type->record->fields.empty() ? "x" : "." + expr.type->record->fields[0].name) + "`");
  return false;
}

bool Operands::requireFloat(Expr &expr, const std::string &what) {
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

std::optional<Scalar> Operands::commonScalar(const std::vector<Expr *> &operands, SourceRange range,
                                             const std::string &what) {
  const Type *common = nullptr;
  const Expr *from = nullptr;
  for (Expr *operand : operands) {
    if (!requireNumber(*operand, what))
      return std::nullopt;
    if (operand->type->scalar == Scalar::Bool) {
      error(operand->range, quote(*operand) + " is " + quote(operand->type) + "; " + what + " takes numbers",
            "T4")
          .hint("write `f32(c)` or `int(c)`, which are 0 or 1");
      return std::nullopt;
    }
    const Type *scalar = types_.number(operand->type->scalar, {}, operand->type->bound);
    if (!common) {
      common = scalar;
      from = operand;
      continue;
    }
    auto both = TypeRules::unifyScalars(common, scalar);
    if (!both) {
      const Expr *whole =
          common->scalar == Scalar::F32 || common->scalar == Scalar::FloatLiteral ? operand : from;
      coercion_.defaultLiterals(*operand);
      Diagnostic &diagnostic = error(range,
                                     what + " meets " + quote(rules_.defaulted(common)) + " and " +
                                         quote(rules_.defaulted(scalar)) + "; nothing converts by itself",
                                     "T4");
      reporter_.noteOperands(diagnostic, {from, operand});
      std::string text = quote(*whole);
      diagnostic.hint("write `f32(" +
                      (text.find(" ..`") == std::string::npos ? text.substr(1, text.size() - 2) : "..") +
                      ")`");
      return std::nullopt;
    }
    common = types_.number(both->first, {}, both->second);
    if (!TypeRules::hasLiteral(scalar) && from->type && TypeRules::hasLiteral(from->type))
      from = operand;
  }
  Scalar scalar = common->scalar == Scalar::Index ? Scalar::Int : common->scalar;
  for (Expr *operand : operands)
    if (TypeRules::hasLiteral(operand->type) && scalar != operand->type->scalar)
      coercion_.push(*operand, rules_.withScalar(operand->type, scalar));
  return scalar;
}

std::optional<std::vector<Shape>> Operands::broadcast(const std::vector<Expr *> &operands, SourceRange range,
                                                      const std::string &what) {
  std::vector<Shape> result;
  for (Expr *operand : operands) {
    std::vector<Shape> extents = operand->type->extents;
    // Aligned at the last axis; an axis stretches only if it is missing or literally 1 (T2).
    size_t rank = std::max(result.size(), extents.size());
    result.insert(result.begin(), rank - result.size(), Shape(1));
    extents.insert(extents.begin(), rank - extents.size(), Shape(1));
    for (size_t i = 0; i < rank; ++i) {
      if (result[i] == extents[i] || extents[i].isOne())
        continue;
      if (result[i].isOne()) {
        result[i] = extents[i];
        continue;
      }
      std::vector<const Expr *> all(operands.begin(), operands.end());
      reporter_.noteOperands(
          error(range,
                "shapes differ in " + what + ": `" + result[i].str() + "` and `" + extents[i].str() + "`",
                "T2"),
          all);
      return std::nullopt;
    }
  }
  return result;
}

void Operands::inferArguments(CallExpr &expr) {
  for (ExprPtr &arg : expr.args)
    value(*arg);
  if (expr.axis)
    value(*expr.axis);
  for (NamedArg &setting : expr.settings)
    value(*setting.value);
}

bool Operands::refuseSettings(CallExpr &expr, const std::string &what, const std::string &rule) {
  for (NamedArg &setting : expr.settings) {
    value(*setting.value);
    error(setting.range, what + " takes no `" + setting.name.text + "`", rule);
  }
  return expr.settings.empty();
}

std::optional<int> Operands::axisOf(CallExpr &expr, const Type *tensor, int otherwise) {
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

std::optional<std::vector<Shape>> Operands::shapeArguments(CallExpr &expr, size_t first) {
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

const Type *Operands::wrongArgument(const Expr &expr, const BuiltinInfo &info, const std::string &takes) {
  Diagnostic &diagnostic = error(expr.range,
                                 std::string("`") + info.name + "` takes " + takes + ", but " + quote(expr) +
                                     " is " + quote(expr.type),
                                 info.rule);
  if (expr.type->isList() && info.typing != Typing::Nodes)
    diagnostic.hint("go through the list: `map(x in xs) " + std::string(info.name) + "(..)`");
  return fail();
}

} // namespace dbc::frontend
