// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Coercion.h"

namespace dbc::frontend {

void Coercion::defaultLiterals(Expr &expr) {
  if (expr.type && TypeRules::hasLiteral(expr.type))
    push(expr, rules_.defaulted(expr.type));
}

bool Coercion::coerce(Expr &expr, const Type *type) {
  if (!expr.type || !type || !TypeRules::assignable(expr.type, type))
    return false;
  if (type->isError())
    defaultLiterals(expr);
  else
    push(expr, type);
  return true;
}

bool Coercion::require(Expr &expr, const Type *type, const std::string &asker, SourceRange declared) {
  if (coerce(expr, type))
    return true;
  defaultLiterals(expr);
  Diagnostic &diagnostic = reportMismatch(expr, type, asker);
  if (declared.valid())
    diagnostic.note(declared, "declared here");
  return false;
}

static bool isIndex(const Type *type) { return type->isNumber() && type->scalar == Scalar::Index; }

void Coercion::push(Expr &expr, const Type *type) {
  if (!expr.type || !TypeRules::hasLiteral(expr.type) || type->isError())
    return;
  const Type *old = expr.type;
  expr.type = type;
  switch (expr.kind) {
  case Expr::Kind::Number:
    if (isIndex(type))
      return pushIndex(expr, type);
    if (type->scalar == Scalar::Int && static_cast<NumberExpr &>(expr).integer > INT32_MAX)
      error(expr.range, quote(expr) + " does not fit an `int`, which has 32 bits", "T4");
    return;
  case Expr::Kind::Name:
  case Expr::Kind::Member: { // a const of a module or layer
    if (isIndex(type))
      return pushIndex(expr, type);
    std::optional<Shape> value = CheckedProgram::asShape(expr);
    if (type->scalar == Scalar::Int && value && value->constant() && *value->constant() > INT32_MAX)
      error(expr.range, quote(expr) + " does not fit an `int`, which has 32 bits", "T4");
    return;
  }
  case Expr::Kind::Unary:
    return pushUnary(static_cast<UnaryExpr &>(expr), type);
  case Expr::Kind::Binary:
    return pushBinary(static_cast<BinaryExpr &>(expr), type);
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
      push(*tuple.elements[i], type->elements[i]);
    return;
  }
  case Expr::Kind::Join:
    for (ExprPtr &element : static_cast<JoinExpr &>(expr).elements)
      pushScalar(*element, type);
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
      return pushScalar(base, type);
    return push(base, subscript.subs[0].isSlice ? type : types_.list(type));
  }
  case Expr::Kind::Call:
    return pushCall(static_cast<CallExpr &>(expr), type);
  default:
    return;
  }
}

void Coercion::pushScalar(Expr &operand, const Type *whole) {
  push(operand, rules_.withScalar(operand.type, whole->scalar, whole->bound));
}

void Coercion::pushUnary(UnaryExpr &expr, const Type *type) {
  if (isIndex(type)) {
    pushIndex(expr, type);
    return push(*expr.operand, types_.integer());
  }
  // The least int, whose digits alone are none.
  auto *number = expr.operand->as<NumberExpr>();
  if (number && expr.op == UnaryExpr::Op::Minus && type->scalar == Scalar::Int &&
      number->integer == int64_t(INT32_MAX) + 1) {
    expr.operand->type = rules_.withScalar(expr.operand->type, Scalar::Int);
    return;
  }
  pushScalar(*expr.operand, type);
}

void Coercion::pushBinary(BinaryExpr &expr, const Type *type) {
  if (expr.op == BinaryExpr::Op::Append) {
    push(*expr.lhs, type);
    return push(*expr.rhs, type);
  }
  bool index = isIndex(type);
  if (index)
    pushIndex(expr, type);
  bool whole = index || type->scalar == Scalar::Int;
  if (expr.op == BinaryExpr::Op::Div && whole && !CheckedProgram::asShape(expr)) {
    std::optional<Shape> lhs = CheckedProgram::asShape(*expr.lhs), rhs = CheckedProgram::asShape(*expr.rhs);
    if (ShapeResolver::madeOfDims(expr) && !(lhs && rhs && lhs->constant() && rhs->constant()))
      shapes_.resolveShape(expr); // reports
    else
      error(expr.opRange, "`/` on ints", "T4").hint("`div(a, b)` floors; `f32(a) / f32(b)` divides");
  }
  for (Expr *operand : {expr.lhs.get(), expr.rhs.get()})
    if (TypeRules::hasLiteral(operand->type))
      push(*operand, rules_.withScalar(operand->type, index ? Scalar::Int : type->scalar));
}

void Coercion::pushCall(CallExpr &expr, const Type *type) {
  Builtin builtin = expr.resolved ? expr.resolved->builtin : Builtin::None;
  if (builtin == Builtin::Reverse)
    return push(*expr.args[0], type);
  if (builtin == Builtin::Zip) {
    for (size_t i = 0; i < expr.args.size(); ++i)
      push(*expr.args[i], types_.list(type->element->elements[i]));
    return;
  }
  for (ExprPtr &arg : expr.args) {
    if (!arg->type || !TypeRules::hasLiteral(arg->type))
      continue;
    if (arg->type->isNumber() && type->isNumber())
      push(*arg, rules_.withScalar(arg->type, isIndex(type) ? Scalar::Int : type->scalar));
    else if (arg->type->isList() && arg->type->element->isNumber() && type->isNumber()) // a reduction
      push(*arg, types_.list(rules_.withScalar(arg->type->element, type->scalar)));
    else
      push(*arg, rules_.defaulted(arg->type));
  }
}

void Coercion::pushIndex(Expr &expr, const Type *type) {
  std::optional<Shape> value = CheckedProgram::asShape(expr);
  std::string message = quote(expr) + " does not fit " + quote(type);
  if (!value) {
    error(expr.range, quote(expr) + " is `int`, but its context asks for " + quote(type), "T4")
        .hint("write `" + type->str() + "(..)`, which is checked");
    return;
  }
  if (!shapes_.requireNonNegative(*value, expr.range, message, "T4"))
    return;
  shapes_.requireNonNegative(type->bound - *value - Shape(1), expr.range, message, "T4");
}

void Coercion::untypedList(Expr &expr) {
  error(expr.range, "nothing says of what `[]` is the empty list", "L3")
      .hint("give it a name with a type: `let xs: [f32] = [];`");
  expr.type = fail();
}

Diagnostic &Coercion::reportMismatch(const Expr &expr, const Type *type, const std::string &asker) {
  Diagnostic &diagnostic = error(expr.range,
                                 quote(expr) + " is " + quote(expr.type ? expr.type : types_.error()) +
                                     ", but " + asker + " " + quote(type),
                                 ruleFor(expr.type, type));
  reporter_.noteNamesakes(diagnostic, expr.type, type);
  diagnostic.hint(hintFor(expr, expr.type, type));
  return diagnostic;
}

std::string Coercion::ruleFor(const Type *a, const Type *b) {
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

/// Where two shapes are the same by the defaults of dims alone: that these are no numbers to go by. Else "".
static std::string hintForDefaults(const std::vector<Shape> &from, const std::vector<Shape> &to) {
  if (from.size() != to.size())
    return "";
  DimValues defaults;
  std::string name;
  for (size_t i = 0; i < from.size(); ++i) {
    for (const Shape *shape : {&from[i], &to[i]})
      for (const Shape::Term &term : shape->terms())
        for (const DimVar *dim : term.dims)
          if (dim->defaultValue)
            defaults[dim] = *dim->defaultValue;
    if (from[i] == to[i])
      continue;
    const std::optional<int64_t> a = from[i].evaluate(defaults), b = to[i].evaluate(defaults);
    if (!a || a != b)
      return "";
    for (const Shape *shape : {&from[i], &to[i]})
      for (const Shape::Term &term : shape->terms())
        if (name.empty() && !term.dims.empty())
          name = term.dims[0]->name + "` is " + std::to_string(*term.dims[0]->defaultValue);
  }
  return "`" + name + " only by default: write what has to fit it by that name";
}

std::string Coercion::hintFor(const Expr &expr, const Type *from, const Type *to) const {
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
      return hintForDefaults(from->extents, to->extents);
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

bool Coercion::refuseLayer(const Expr &expr) {
  if (!holdsLayer(expr.type))
    return true;
  error(expr.range,
        quote(expr) +
            (expr.type->isLayer()   ? " is a layer"
             : expr.type->isTable() ? " is a table of layers"
                                    : " holds layers") +
            ", which is no value",
        "N3")
      .hint("call its functions where they are needed");
  return false;
}

} // namespace dbc::frontend
