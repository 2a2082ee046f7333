// Types as written; which type fits where; how numbers take the type that their place asks (T4).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/CheckImpl.h"

namespace dbc::frontend {

//===--------------------------------------------------------------------===//
// Types as written
//===--------------------------------------------------------------------===//

std::optional<Shape> Checker::resolveShape(Expr &expr) {
  std::optional<Shape> shape = resolveShapeParts(expr);
  if (!shape || !shape->overflowed())
    return shape;
  error(expr.range, quote(expr) + " does not fit 64 bits", "T1");
  return std::nullopt;
}

std::optional<Shape> Checker::resolveShapeParts(Expr &expr) {
  expr.type = types_.integer();
  if (auto *number = expr.as<NumberExpr>()) {
    if (number->isInteger)
      return Shape(number->integer);
    error(expr.range, quote(expr) + " is no whole number; extents are", "T1");
    return std::nullopt;
  }
  if (auto *name = expr.as<NameExpr>()) {
    Binding *binding = lookup(name->name);
    if (!binding) {
      unknownName(expr.range, name->name);
      return std::nullopt;
    }
    name->resolved = binding;
    if (binding->kind == Binding::Kind::Dim) {
      if (binding->decl)
        resolveDim(*binding);
      return binding->shape;
    }
    if (std::optional<Shape> shape = CheckedProgram::asShape(expr))
      return shape;
    Diagnostic &diagnostic = error(
        expr.range,
        "`" + name->name + "` is no dim; extents are made of dims, whole number consts and numbers", "T1");
    if (binding->range.valid())
      diagnostic.note(binding->range, "`" + name->name + "` is declared here");
    return std::nullopt;
  }
  if (auto *unary = expr.as<UnaryExpr>(); unary && unary->op == UnaryExpr::Op::Minus) {
    std::optional<Shape> operand = resolveShape(*unary->operand);
    return operand ? std::optional<Shape>(Shape() - *operand) : std::nullopt;
  }
  if (auto *binary = expr.as<BinaryExpr>()) {
    using Op = BinaryExpr::Op;
    Op op = binary->op;
    if (op == Op::Add || op == Op::Sub || op == Op::Mul || op == Op::Div) {
      std::optional<Shape> lhs = resolveShape(*binary->lhs), rhs = resolveShape(*binary->rhs);
      if (!lhs || !rhs)
        return std::nullopt;
      if (op != Op::Div)
        return CheckedProgram::asShape(expr);
      if (std::optional<Shape> quotient = lhs->dividedBy(*rhs))
        return quotient;
      error(expr.range, "`" + lhs->str() + "` does not divide by `" + rhs->str() + "` at every size", "T1")
          .hint("make the whole of its part: `dim part, whole = " + rhs->str() + " * part;`");
      return std::nullopt;
    }
  }
  error(expr.range,
        quote(expr) + " is no shape; extents are made of dims, whole number consts and numbers by + - * /",
        "T1");
  return std::nullopt;
}

const Type *Checker::resolveType(TypeExpr &expr, TypePlace place) {
  const Type *result = types_.error();
  switch (expr.kind) {
  case TypeExpr::Kind::F32:
  case TypeExpr::Kind::Int:
  case TypeExpr::Kind::Bool:
  case TypeExpr::Kind::Index: {
    Scalar scalar = expr.kind == TypeExpr::Kind::F32    ? Scalar::F32
                    : expr.kind == TypeExpr::Kind::Int  ? Scalar::Int
                    : expr.kind == TypeExpr::Kind::Bool ? Scalar::Bool
                                                        : Scalar::Index;
    std::optional<Shape> bound = Shape();
    if (expr.bound)
      bound = resolveShape(*expr.bound);
    std::vector<Shape> extents;
    for (ExprPtr &part : expr.shape) {
      std::optional<Shape> extent = resolveShape(*part);
      if (!extent) {
        bound = std::nullopt;
        continue;
      }
      if (extent->constant() && *extent->constant() < 1)
        error(part->range, "this extent is " + extent->str() + "; every extent is at least 1", "T1");
      extents.push_back(*extent);
    }
    if (bound)
      result = types_.number(scalar, std::move(extents), *bound);
    if ((place == TypePlace::Param || place == TypePlace::Const) && scalar != Scalar::F32)
      error(expr.range,
            std::string("a ") + (place == TypePlace::Param ? "param" : "tensor const") +
                " holds `f32`, not " + quote(expr.range),
            "N4");
    break;
  }
  case TypeExpr::Kind::Named:
    result = resolveNamed(expr, place);
    break;
  case TypeExpr::Kind::List: {
    const Type *element =
        resolveType(*expr.elements[0], place == TypePlace::Field ? place : TypePlace::Other);
    if (!element->isError())
      result = types_.list(element);
    if (holdsList(element))
      notSupported(expr.range, "a list of lists is", "D2");
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not a list", "N4")
          .hint("a table of n layers is `[L; n]`, a tensor has its number in front: `f32[n, m]`");
      result = types_.error();
    }
    break;
  }
  case TypeExpr::Kind::Table:
    if (place == TypePlace::Param) {
      const Type *element = resolveType(*expr.elements[0], place);
      std::optional<Shape> count = resolveShape(*expr.count);
      if (!element->isError() && !element->isLayer())
        error(expr.elements[0]->range, "a table holds layers, not " + quote(element), "N3")
            .hint("a tensor has its number in front: `f32[n, m]`");
      else if (!element->isError() && count &&
               requireNonNegative(*count - Shape(1), expr.count->range,
                                  "a table of " + quote(*expr.count) + " layers is empty", "N3"))
        result = types_.table(element, *count);
    } else {
      error(expr.range, "a table of layers is the type of a param only", "N3");
    }
    break;
  case TypeExpr::Kind::Tuple: {
    std::vector<const Type *> parts;
    bool fine = place != TypePlace::Field && place != TypePlace::Param && place != TypePlace::Const;
    if (!fine)
      error(expr.range,
            place == TypePlace::Field
                ? "a field holds nodes, numbers, tensors and lists of these, not a tuple"
                : "a param is a tensor of `f32` or a layer, not a tuple",
            place == TypePlace::Field ? "D2" : "N4");
    for (TypeExprPtr &element : expr.elements) {
      parts.push_back(resolveType(*element, TypePlace::Other));
      fine &= !parts.back()->isError();
    }
    if (fine)
      result = types_.tuple(std::move(parts));
    break;
  }
  }
  return expr.type = result;
}

const Type *Checker::resolveNamed(TypeExpr &expr, TypePlace place) {
  std::vector<Shape> arguments;
  bool fine = true;
  for (ExprPtr &argument : expr.shape) {
    std::optional<Shape> shape = resolveShape(*argument);
    fine &= shape.has_value();
    arguments.push_back(shape.value_or(Shape()));
  }
  Binding *binding = expr.module ? lookupIn(expr.module, expr.name) : lookup(expr.name.text);
  if (!binding && !expr.module) {
    std::string idiom = idiomFor(expr.name.text);
    Diagnostic &diagnostic = error(expr.name.range, "there is no type `" + expr.name.text + "`", "N1");
    std::vector<std::string> types = {"f32", "int", "bool", "index"};
    if (file_)
      for (auto &[name, candidate] : file_->names)
        if (candidate->kind == Binding::Kind::Data || candidate->kind == Binding::Kind::Record ||
            candidate->kind == Binding::Kind::Layer)
          types.push_back(name);
    std::string near = didYouMean(expr.name.text, types);
    if (expr.name.text == "float" || expr.name.text == "float32" || expr.name.text == "f64")
      diagnostic.hint("numbers with a point are `f32`");
    else if (!near.empty())
      diagnostic.hint(near);
  }
  if (!binding)
    return types_.error();
  expr.resolved = binding;

  size_t wanted = 0;
  switch (binding->kind) {
  case Binding::Kind::Data:
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not data", "N4");
      return types_.error();
    }
    break;
  case Binding::Kind::Record:
    wanted = binding->record->dims.size();
    if (place == TypePlace::Field) {
      error(expr.range, "a field holds nodes, numbers, tensors and lists of these, not a record", "D2");
      return types_.error();
    }
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not a record", "N4");
      return types_.error();
    }
    break;
  case Binding::Kind::Layer:
    wanted = binding->layer->dims.size();
    if (place != TypePlace::Param) {
      error(expr.range, "`" + expr.name.text + "` is a layer; a layer is the type of a param only", "N3");
      return types_.error();
    }
    break;
  default: {
    Diagnostic &diagnostic = error(expr.range, quote(expr.range) + " is no type", "N1");
    if (binding->range.valid())
      diagnostic.note(binding->range, "`" + binding->name + "` is declared here");
    return types_.error();
  }
  }
  if (arguments.size() != wanted) {
    auto count = [](size_t n) { return std::to_string(n) + (n == 1 ? " dim" : " dims"); };
    error(expr.range,
          "`" + expr.name.text + "` has " + count(wanted) + ", but " + std::to_string(arguments.size()) +
              (arguments.size() == 1 ? " is" : " are") + " given",
          binding->kind == Binding::Kind::Layer ? "N3" : "T5")
        .note(binding->range, "`" + expr.name.text + "` is declared here");
    return types_.error();
  }
  if (!fine)
    return types_.error();
  if (binding->kind == Binding::Kind::Data)
    return binding->type;
  if (binding->kind == Binding::Kind::Record)
    return types_.record(binding->record, std::move(arguments));
  return types_.layer(binding->layer, std::move(arguments));
}

//===--------------------------------------------------------------------===//
// What fits where
//===--------------------------------------------------------------------===//

bool Checker::hasLiteral(const Type *type) {
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
  if (from == to || from->isError() || to->isError())
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
  if (a == b || b->isError())
    return a;
  if (a->isError())
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
    return number->value == 0
               ? "write `zeros(" + extents + ")`"
               : "write `fill(" + std::string(diags_->sources().text(expr.range)) + ", " + extents + ")`";
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
  if (func_ && !trying_)
    func_->sizeChecks.push_back({range, shape, message, rule});
  return true;
}

} // namespace dbc::frontend
