// Which type fits where; how numbers take the type that their place asks (T4).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

namespace dbc::frontend {

//===--------------------------------------------------------------------===//
// What fits where
//===--------------------------------------------------------------------===//

bool Checker::hasLiteral(const Type *type) {
  if (type->isUnknown())
    return true;
  if (type->isNumber())
    return type->scalar == Scalar::IntLiteral || type->scalar == Scalar::FloatLiteral;
  if (type->isList())
    return hasLiteral(type->element);
  for (const Type *part : type->parts)
    if (hasLiteral(part))
      return true;
  return false;
}

const Type *Checker::withScalar(const Type *type, Scalar scalar, const Shape &bound) {
  return types_.number(scalar, type->extents, bound);
}

const Type *Checker::defaulted(const Type *type) {
  if (!hasLiteral(type))
    return type;
  if (type->isUnknown())
    return types_.error();
  if (type->isNumber())
    return withScalar(type, type->scalar == Scalar::IntLiteral ? Scalar::Int : Scalar::F32);
  if (type->isList())
    return types_.list(defaulted(type->element));
  std::vector<const Type *> parts;
  for (const Type *part : type->parts)
    parts.push_back(defaulted(part));
  return types_.tuple(std::move(parts));
}

bool Checker::assignable(const Type *from, const Type *to) const {
  if (from == to || from->isError() || to->isError() || from->isUnknown())
    return true;
  if (from->kind != to->kind)
    return false;
  switch (from->kind) {
  case Type::Kind::Number:
    if (from->extents != to->extents)
      return false;
    if (from->scalar == to->scalar)
      return from->scalar != Scalar::Index || (to->bound - from->bound).noNegativeTerm();
    if (from->scalar == Scalar::IntLiteral)
      return to->scalar != Scalar::Bool && (to->scalar != Scalar::Index || to->isScalar());
    if (from->scalar == Scalar::FloatLiteral)
      return to->scalar == Scalar::F32;
    return from->scalar == Scalar::Index && to->scalar == Scalar::Int;
  case Type::Kind::List:
    return assignable(from->element, to->element);
  case Type::Kind::Tuple: {
    if (from->parts.size() != to->parts.size())
      return false;
    for (size_t i = 0; i < from->parts.size(); ++i)
      if (!assignable(from->parts[i], to->parts[i]))
        return false;
    return true;
  }
  default:
    return false;
  }
}

std::optional<std::pair<Scalar, Shape>> Checker::unifyScalars(const Type *a, const Type *b) {
  if (a->scalar == b->scalar) {
    if (a->scalar != Scalar::Index || a->bound == b->bound)
      return std::make_pair(a->scalar, a->bound);
    if ((a->bound - b->bound).noNegativeTerm())
      return std::make_pair(Scalar::Index, a->bound);
    if ((b->bound - a->bound).noNegativeTerm())
      return std::make_pair(Scalar::Index, b->bound);
    return std::make_pair(Scalar::Int, Shape());
  }
  if (a->scalar == Scalar::Bool || b->scalar == Scalar::Bool)
    return std::nullopt;
  if (b->scalar == Scalar::IntLiteral)
    std::swap(a, b);
  if (a->scalar == Scalar::IntLiteral)
    return std::make_pair(b->scalar, b->bound);
  if (b->scalar == Scalar::FloatLiteral)
    std::swap(a, b);
  if (a->scalar == Scalar::FloatLiteral)
    return b->scalar == Scalar::F32 ? std::optional(std::make_pair(Scalar::F32, Shape())) : std::nullopt;
  if (a->scalar == Scalar::F32 || b->scalar == Scalar::F32)
    return std::nullopt;
  return std::make_pair(Scalar::Int, Shape());
}

const Type *Checker::unify(const Type *a, const Type *b) {
  if (a == b || b->isError() || b->isUnknown())
    return a;
  if (a->isError() || a->isUnknown())
    return b;
  if (a->kind != b->kind)
    return nullptr;
  if (a->isNumber()) {
    if (a->extents != b->extents)
      return nullptr;
    auto scalar = unifyScalars(a, b);
    return scalar ? types_.number(scalar->first, a->extents, scalar->second) : nullptr;
  }
  if (a->isList()) {
    const Type *element = unify(a->element, b->element);
    return element ? types_.list(element) : nullptr;
  }
  if (a->isTuple() && a->parts.size() == b->parts.size()) {
    std::vector<const Type *> parts;
    for (size_t i = 0; i < a->parts.size(); ++i) {
      const Type *part = unify(a->parts[i], b->parts[i]);
      if (!part)
        return nullptr;
      parts.push_back(part);
    }
    return types_.tuple(std::move(parts));
  }
  return nullptr;
}

//===--------------------------------------------------------------------===//
// Literals take the type that their place asks
//===--------------------------------------------------------------------===//

void Checker::pushBlock(Block &block, const Type *type) { push(*block.result, type); }

void Checker::pushIndex(Expr &expr, const Type *type) {
  std::optional<Shape> value = CheckedProgram::asShape(expr);
  std::string message = quote(expr) + " does not fit " + quote(type);
  if (!value) {
    error(expr.range, quote(expr) + " is `int`, but its place asks for " + quote(type), "T4")
        .hint("write `" + type->str() + "(..)`, which is checked");
    return;
  }
  if (!requireNonNegative(*value, expr.range, message, "T4"))
    return;
  requireNonNegative(type->bound - *value - Shape(1), expr.range, message, "T4");
}

void Checker::push(Expr &expr, const Type *type) {
  if (!expr.type || !hasLiteral(expr.type) || type->isError())
    return;
  const Type *old = expr.type;
  expr.type = type;
  auto scalarOf = [&](Expr &child) { push(child, withScalar(child.type, type->scalar, type->bound)); };
  bool index = type->isNumber() && type->scalar == Scalar::Index;
  switch (expr.kind) {
  case Expr::Kind::Number: {
    auto &number = static_cast<NumberExpr &>(expr);
    if (index)
      return pushIndex(expr, type);
    if (type->scalar == Scalar::Int && (number.integer > INT32_MAX))
      error(expr.range, quote(expr) + " does not fit an `int`, which has 32 bits", "T4");
    return;
  }
  case Expr::Kind::Name:
  case Expr::Kind::Member: { // a const of a module or layer
    if (index)
      return pushIndex(expr, type);
    std::optional<Shape> value = CheckedProgram::asShape(expr);
    if (type->scalar == Scalar::Int && value && value->constant() && *value->constant() > INT32_MAX)
      error(expr.range, quote(expr) + " does not fit an `int`, which has 32 bits", "T4");
    return;
  }
  case Expr::Kind::Unary: {
    auto &unary = static_cast<UnaryExpr &>(expr);
    if (index) {
      pushIndex(expr, type);
      return push(*unary.operand, types_.integer());
    }
    // The least int, whose digits alone are none.
    auto *number = unary.operand->as<NumberExpr>();
    if (number && unary.op == UnaryExpr::Op::Minus && type->scalar == Scalar::Int &&
        number->integer == int64_t(INT32_MAX) + 1) {
      unary.operand->type = withScalar(unary.operand->type, Scalar::Int);
      return;
    }
    return scalarOf(*unary.operand);
  }
  case Expr::Kind::Binary: {
    auto &binary = static_cast<BinaryExpr &>(expr);
    if (binary.op == BinaryExpr::Op::Append) {
      push(*binary.lhs, type);
      return push(*binary.rhs, type);
    }
    if (index)
      pushIndex(expr, type);
    bool whole = index || type->scalar == Scalar::Int;
    if (binary.op == BinaryExpr::Op::Div && whole && !CheckedProgram::asShape(expr)) {
      std::optional<Shape> lhs = CheckedProgram::asShape(*binary.lhs),
                           rhs = CheckedProgram::asShape(*binary.rhs);
      if (madeOfDims(expr) && !(lhs && rhs && lhs->constant() && rhs->constant()))
        resolveShape(expr); // reports
      else
        error(binary.opRange, "`/` on ints", "T4").hint("`div(a, b)` floors; `f32(a) / f32(b)` divides");
    }
    for (Expr *operand : {binary.lhs.get(), binary.rhs.get()})
      if (hasLiteral(operand->type))
        push(*operand, withScalar(operand->type, index ? Scalar::Int : type->scalar));
    return;
  }
  case Expr::Kind::If: {
    auto &conditional = static_cast<IfExpr &>(expr);
    pushBlock(conditional.thenBlock, type);
    return pushBlock(conditional.elseBlock, type);
  }
  case Expr::Kind::Match:
    for (MatchArm &arm : static_cast<MatchExpr &>(expr).arms)
      pushBlock(arm.body, type);
    return;
  case Expr::Kind::Tuple: {
    auto &tuple = static_cast<TupleExpr &>(expr);
    for (size_t i = 0; i < tuple.elements.size(); ++i)
      push(*tuple.elements[i], type->parts[i]);
    return;
  }
  case Expr::Kind::Join:
    for (ExprPtr &element : static_cast<JoinExpr &>(expr).elements)
      scalarOf(*element);
    if (type->isList() && type->element->isError())
      untypedList(expr);
    return;
  case Expr::Kind::Binder: {
    auto &binder = static_cast<BinderExpr &>(expr);
    return pushBlock(binder.body, old->isList() ? type->element : type);
  }
  case Expr::Kind::Subscript: {
    auto &subscript = static_cast<SubscriptExpr &>(expr);
    Expr &base = *subscript.base;
    if (!base.type->isList())
      return scalarOf(base);
    return push(base, subscript.subs[0].isSlice ? type : types_.list(type));
  }
  case Expr::Kind::Call: {
    auto &call = static_cast<CallExpr &>(expr);
    Builtin builtin = call.resolved ? call.resolved->builtin : Builtin::None;
    if (builtin == Builtin::Reverse)
      return push(*call.args[0], type);
    if (builtin == Builtin::Zip) {
      for (size_t i = 0; i < call.args.size(); ++i)
        push(*call.args[i], types_.list(type->element->parts[i]));
      return;
    }
    for (ExprPtr &arg : call.args) {
      if (!arg->type || !hasLiteral(arg->type))
        continue;
      if (arg->type->isNumber() && type->isNumber())
        push(*arg, withScalar(arg->type, index ? Scalar::Int : type->scalar));
      else if (arg->type->isList() && arg->type->element->isNumber() && type->isNumber()) // a reduction
        push(*arg, types_.list(withScalar(arg->type->element, type->scalar)));
      else
        push(*arg, defaulted(arg->type));
    }
    return;
  }
  default:
    return;
  }
}

void Checker::untypedList(Expr &expr) {
  error(expr.range, "nothing says of what `[]` is the empty list", "L3")
      .hint("give it a name with a type: `let xs: [f32] = [];`");
  expr.type = fail();
}

void Checker::settle(Expr &expr) {
  if (expr.type && hasLiteral(expr.type))
    push(expr, defaulted(expr.type));
}

const Type *Checker::value(Expr &expr) {
  infer(expr);
  settle(expr);
  return expr.type;
}

bool Checker::madeOfDims(const Expr &expr) {
  if (auto *unary = expr.as<UnaryExpr>())
    return unary->op == UnaryExpr::Op::Minus && madeOfDims(*unary->operand);
  auto *binary = expr.as<BinaryExpr>();
  if (!binary)
    return CheckedProgram::asShape(expr).has_value();
  using Op = BinaryExpr::Op;
  bool fits =
      binary->op == Op::Add || binary->op == Op::Sub || binary->op == Op::Mul || binary->op == Op::Div;
  return fits && madeOfDims(*binary->lhs) && madeOfDims(*binary->rhs);
}

bool Checker::coerce(Expr &expr, const Type *type) {
  if (!expr.type || !type || !assignable(expr.type, type))
    return false;
  if (type->isError())
    settle(expr);
  else
    push(expr, type);
  return true;
}

bool Checker::require(Expr &expr, const Type *type, const std::string &place, SourceRange declared) {
  if (coerce(expr, type))
    return true;
  settle(expr);
  Diagnostic &diagnostic = reportMismatch(expr, type, place);
  if (declared.valid())
    diagnostic.note(declared, "declared here");
  return false;
}

//===--------------------------------------------------------------------===//
// Words
//===--------------------------------------------------------------------===//

std::string Checker::ruleFor(const Type *a, const Type *b) {
  for (const Type *t : {a, b}) {
    if (t->isTuple() || t->isRecord())
      return "T5";
    if (t->isNode())
      return "D1";
    if (t->isList())
      return "L1";
  }
  return a->extents != b->extents ? "T1" : "T4";
}

std::string Checker::hintFor(const Expr &expr, const Type *from, const Type *to) const {
  if (from->isList() && to->isTensor())
    return "a list is no tensor: reduce it (`sum(x in xs) ..`), or take one element";
  if (from->isTensor() && to->isList())
    return "`[a, b]` joins tensors; lists come from fields, `map` and scans";
  if (from->isList() && from->element == to)
    return "go through the list: `map(x in xs) ..`, or take one element: `xs[0]`";
  if (!from->isNumber() || !to->isNumber())
    return "";
  if (from->extents != to->extents) {
    const auto *number = expr.as<NumberExpr>();
    if (!number || !to->isTensor())
      return "";
    std::string extents;
    for (const Shape &extent : to->extents)
      extents += (extents.empty() ? "" : ", ") + extent.str();
    return number->value == 0 ? "write `zeros(" + extents + ")`"
                              : "write `fill(" + reporter_.text(expr.range) + ", " + extents + ")`";
  }
  std::string source = quote(expr);
  std::string inner = source.find("..`") == std::string::npos ? source.substr(1, source.size() - 2) : "..";
  auto whole = [](Scalar s) { return s == Scalar::Int || s == Scalar::Index; };
  if (to->scalar == Scalar::F32)
    return "write `f32(" + inner + ")`";
  if (to->scalar == Scalar::Index && whole(from->scalar) && to->isScalar())
    return "write `index[" + to->bound.str() + "](" + inner + ")`, which is checked";
  if (to->scalar == Scalar::Int)
    return "write `int(" + inner + ")`" + (from->scalar == Scalar::F32 ? ", which drops the fraction" : "");
  if (to->scalar == Scalar::Bool)
    return "write `bool(" + inner + ")`, which is `" + inner + " != 0`";
  return "";
}

Diagnostic &Checker::reportMismatch(const Expr &expr, const Type *type, const std::string &place) {
  Diagnostic &diagnostic = error(expr.range,
                                 quote(expr) + " is " + quote(expr.type ? expr.type : types_.error()) +
                                     ", but " + place + " " + quote(type),
                                 ruleFor(expr.type, type));
  reporter_.noteNamesakes(diagnostic, expr.type, type);
  diagnostic.hint(hintFor(expr, expr.type, type));
  return diagnostic;
}

bool Checker::requireNonNegative(const Shape &shape, SourceRange range, const std::string &message,
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
