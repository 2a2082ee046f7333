// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/ShapeResolver.h"

namespace dbc::frontend {

void ShapeResolver::resolveDim(Binding &dim) {
  State &state = states_[&dim];
  if (state == State::Done)
    return;
  auto *decl = static_cast<const DimDecl *>(dim.decl);
  if (state == State::Open) {
    error(decl->name.range, "dim `" + dim.name + "` is made of itself", "N5");
    return;
  }
  state = State::Open;
  // Whatever goes wrong below, the name stands for some extent.
  DimVar *own = scopes_.newDim(decl->name);
  dim.shape = Shape(own);
  if (decl->value) {
    std::optional<Shape> value = resolveShape(*decl->value);
    std::optional<int64_t> number = value ? value->constant() : std::nullopt;
    if (number && *number < 1)
      error(decl->value->range,
            "dim `" + dim.name + "` is " + std::to_string(*number) + "; every dim is at least 1", "T1");
    if (number)
      own->defaultValue = *number;
    else if (value && value->substitute({{own, Shape()}}) == *value) // else it is made of itself
      dim.shape = *value;
  }
  states_[&dim] = State::Done;
}

std::optional<Shape> ShapeResolver::resolveShape(Expr &expr) {
  std::optional<Shape> shape = resolveShapeUnchecked(expr);
  if (!shape || !shape->overflowed())
    return shape;
  error(expr.range, quote(expr) + " " + shape->excess(), "T1");
  return std::nullopt;
}

std::optional<Shape> ShapeResolver::resolveShapeUnchecked(Expr &expr) {
  expr.type = types_.integer();
  if (auto *number = expr.as<NumberExpr>()) {
    if (number->isInteger)
      return Shape(number->integer);
    error(expr.range, quote(expr) + " is no integer; extents are", "T1");
    return std::nullopt;
  }
  if (auto *name = expr.as<NameExpr>())
    return resolveShapeName(*name);
  if (auto *unary = expr.as<UnaryExpr>(); unary && unary->op == UnaryExpr::Op::Minus) {
    std::optional<Shape> operand = resolveShape(*unary->operand);
    return operand ? std::optional<Shape>(Shape() - *operand) : std::nullopt;
  }
  if (auto *binary = expr.as<BinaryExpr>(); binary && isShapeOp(binary->op)) {
    using Op = BinaryExpr::Op;
    Op op = binary->op;
    std::optional<Shape> lhs = resolveShape(*binary->lhs), rhs = resolveShape(*binary->rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    if (op != Op::Div)
      return op == Op::Add ? *lhs + *rhs : op == Op::Sub ? *lhs - *rhs : *lhs * *rhs;
    if (std::optional<Shape> quotient = lhs->dividedBy(*rhs))
      return quotient;
    error(expr.range, "`" + lhs->str() + "` does not divide by `" + rhs->str() + "` at every size", "T1")
        .hint("make the whole of its part: `dim part, whole = " + rhs->str() + " * part;`");
    return std::nullopt;
  }
  error(expr.range,
        quote(expr) + " is no shape; extents are made of dims, integer consts and numbers by + - * /", "T1");
  return std::nullopt;
}

std::optional<Shape> ShapeResolver::resolveShapeName(NameExpr &expr) {
  Binding *binding = scopes_.lookup(expr.name);
  if (!binding) {
    scopes_.unknownName(expr.range, expr.name);
    return std::nullopt;
  }
  expr.resolved = binding;
  if (binding->kind == Binding::Kind::Dim) {
    if (binding->decl)
      resolveDim(*binding);
    return binding->shape;
  }
  if (std::optional<Shape> shape = CheckedProgram::asShape(expr))
    return shape;
  Diagnostic &diagnostic =
      error(expr.range, "`" + expr.name + "` is no dim; extents are made of dims, integer consts and numbers",
            "T1");
  if (binding->range.valid())
    diagnostic.note(binding->range, "`" + expr.name + "` is declared here");
  return std::nullopt;
}

bool ShapeResolver::isShapeOp(BinaryExpr::Op op) {
  using Op = BinaryExpr::Op;
  return op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div;
}

bool ShapeResolver::madeOfDims(const Expr &expr) {
  if (auto *unary = expr.as<UnaryExpr>())
    return unary->op == UnaryExpr::Op::Minus && madeOfDims(*unary->operand);
  auto *binary = expr.as<BinaryExpr>();
  if (!binary)
    return CheckedProgram::asShape(expr).has_value();
  return isShapeOp(binary->op) && madeOfDims(*binary->lhs) && madeOfDims(*binary->rhs);
}

bool ShapeResolver::requireNonNegative(const Shape &shape, SourceRange range, const std::string &message,
                                       const std::string &rule) {
  if (shape.provenNonNegative())
    return true;
  // A number below 0, or a polynomial that is negative at every size, or one that no size makes a number.
  Shape negated = Shape() - shape - Shape(1);
  if (negated.provenNonNegative() || shape.overflowed()) {
    error(range, message, rule);
    return false;
  }
  if (scopes_.function() && !reporter_.isTrying())
    scopes_.function()->sizeChecks.push_back({range, shape, message, rule});
  return true;
}

} // namespace dbc::frontend
