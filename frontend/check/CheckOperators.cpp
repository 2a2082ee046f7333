// Operators, broadcasting, joins.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>

namespace dbc::frontend {

bool Checker::requireNumber(const Expr &expr, const std::string &what) {
  if (expr.type->isError())
    return false;
  if (expr.type->isNumber())
    return true;
  Diagnostic &diagnostic =
      error(expr.range, quote(expr) + " is " + quote(expr.type) + "; " + what + " takes numbers and tensors",
            Coercion::ruleFor(expr.type, expr.type));
  if (expr.type->isList())
    diagnostic.hint("go through the list: `map(x in xs) ..`, or reduce it: `sum(x in xs) ..`");
  if (expr.type->isRecord())
    diagnostic.hint(
        "take one of its parts: `" +
        std::string(expr.type->record->fields.empty() ? "x" : "." + expr.type->record->fields[0].name) + "`");
  return false;
}

std::optional<Scalar> Checker::commonScalar(const std::vector<Expr *> &operands, SourceRange range,
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
      coercion_.settle(*operand);
      Diagnostic &diagnostic = error(range,
                                     what + " meets " + quote(rules_.defaulted(common)) + " and " +
                                         quote(rules_.defaulted(scalar)) + "; nothing converts by itself",
                                     "T4");
      noteOperands(diagnostic, {from, operand});
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

std::optional<std::vector<Shape>> Checker::broadcast(const std::vector<Expr *> &operands, SourceRange range,
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
      noteOperands(
          error(range,
                "shapes differ in " + what + ": `" + result[i].str() + "` and `" + extents[i].str() + "`",
                "T2"),
          all);
      return std::nullopt;
    }
  }
  return result;
}

//===--------------------------------------------------------------------===//
// Operators
//===--------------------------------------------------------------------===//

const Type *Checker::inferUnary(UnaryExpr &expr) {
  const Type *operand = infer(*expr.operand);
  if (operand->isError())
    return fail();
  if (expr.op == UnaryExpr::Op::Not) {
    if (operand->isNumber() && operand->scalar == Scalar::Bool)
      return operand;
    coercion_.require(*expr.operand, types_.boolean(), "`!` takes");
    return fail();
  }
  std::optional<Scalar> scalar = commonScalar({expr.operand.get()}, expr.range, "`-`");
  return scalar ? rules_.withScalar(expr.operand->type, *scalar) : fail();
}

const Type *Checker::inferBinary(BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  infer(*expr.lhs);
  infer(*expr.rhs);
  if (expr.lhs->type->isError() || expr.rhs->type->isError()) {
    coercion_.settle(*expr.lhs);
    coercion_.settle(*expr.rhs);
    return fail();
  }
  switch (expr.op) {
  case Op::Or:
  case Op::And:
    return inferLogical(expr);
  case Op::Eq:
  case Op::Ne:
  case Op::Lt:
  case Op::Le:
  case Op::Gt:
  case Op::Ge:
    return inferComparison(expr);
  case Op::MatMul:
    return inferMatMul(expr);
  case Op::Append:
    return inferAppend(expr);
  default:
    return inferArithmetic(expr);
  }
}

const Type *Checker::inferLogical(BinaryExpr &expr) {
  std::string what = std::string("`") + spelling(expr.op) + "`";
  for (Expr *operand : {expr.lhs.get(), expr.rhs.get()})
    if (!operand->type->isNumber() || operand->type->scalar != Scalar::Bool) {
      coercion_.require(*operand, types_.boolean(), what + " takes");
      return fail();
    }
  auto extents = broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.boolean(*extents) : fail();
}

const Type *Checker::inferComparison(BinaryExpr &expr) {
  std::string what = std::string("`") + spelling(expr.op) + "`";
  bool equality = expr.op == BinaryExpr::Op::Eq || expr.op == BinaryExpr::Op::Ne;
  const Type *lhs = expr.lhs->type, *rhs = expr.rhs->type;
  if (equality && lhs->isNode() && rhs->isNode()) {
    if (lhs == rhs)
      return types_.boolean();
    noteOperands(error(expr.opRange, what + " compares nodes of two types, which are never the same", "S1"),
                 {expr.lhs.get(), expr.rhs.get()});
    return fail();
  }
  bool bools = equality && lhs->isNumber() && rhs->isNumber() && lhs->scalar == Scalar::Bool &&
               rhs->scalar == Scalar::Bool;
  if (!bools && !commonScalar({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what))
    return fail();
  coercion_.settle(*expr.lhs);
  coercion_.settle(*expr.rhs);
  auto extents = broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.boolean(*extents) : fail();
}

const Type *Checker::inferArithmetic(BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  std::string what = std::string("`") + spelling(expr.op) + "`";
  std::optional<Scalar> scalar = commonScalar({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  if (!scalar)
    return fail();
  if (expr.op == Op::Div && *scalar == Scalar::Int) {
    coercion_.settle(*expr.lhs);
    coercion_.settle(*expr.rhs);
    noteOperands(error(expr.opRange, "`/` on ints", "T4"), {expr.lhs.get(), expr.rhs.get()})
        .hint("`div(a, b)` floors; `f32(a) / f32(b)` divides");
    return fail();
  }
  if (expr.op == Op::Mod && (*scalar == Scalar::F32 || *scalar == Scalar::FloatLiteral)) {
    coercion_.settle(*expr.lhs);
    coercion_.settle(*expr.rhs);
    noteOperands(error(expr.opRange, "`%` takes ints", "T4"), {expr.lhs.get(), expr.rhs.get()});
    return fail();
  }
  auto extents = broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *Checker::inferAppend(BinaryExpr &expr) {
  Expr *operands[] = {expr.lhs.get(), expr.rhs.get()};
  auto settleBoth = [&] {
    for (Expr *operand : operands)
      coercion_.settle(*operand);
  };
  for (Expr *operand : operands) {
    if (operand->type->isList())
      continue;
    settleBoth();
    Diagnostic &diagnostic = error(
        operand->range, "`++` joins lists, but " + quote(*operand) + " is " + quote(operand->type), "L3");
    if (operand->type->isNumber())
      diagnostic.hint("`[a, b]` joins tensors; a list of x alone is `map(_ in 0..1) x`");
    return fail();
  }
  if (!coercion_.refuseLayer(*operands[0]) || !coercion_.refuseLayer(*operands[1]))
    return fail();
  const Type *type = rules_.unify(operands[0]->type, operands[1]->type);
  if (!type) {
    settleBoth();
    noteOperands(error(expr.opRange,
                       "`++` joins lists of one type, but these are " + quote(operands[0]->type) + " and " +
                           quote(operands[1]->type),
                       "L3"),
                 {operands[0], operands[1]});
    return fail();
  }
  for (Expr *operand : operands)
    coercion_.push(*operand, type);
  return type;
}

const Type *Checker::inferMatMul(BinaryExpr &expr) {
  Expr *operands[] = {expr.lhs.get(), expr.rhs.get()};
  for (Expr *operand : operands) {
    coercion_.settle(*operand);
    if (!requireNumber(*operand, "`@`"))
      return fail();
    if (!operand->type->isTensor()) {
      noteOperands(error(expr.opRange, "`@` takes tensors; " + quote(*operand) + " is a scalar", "T2"),
                   {operands[0], operands[1]})
          .hint("a scalar is multiplied by `*`");
      return fail();
    }
    if (operand->type->scalar != Scalar::F32) {
      noteOperands(error(expr.opRange,
                         "`@` takes `f32`, but " + quote(*operand) + " is " + quote(operand->type), "T4"),
                   {operands[0], operands[1]})
          .hint("write `f32(..)`");
      return fail();
    }
  }
  std::vector<Shape> a = operands[0]->type->extents, b = operands[1]->type->extents;
  bool vectorLeft = a.size() == 1, vectorRight = b.size() == 1;
  if (vectorLeft)
    a.insert(a.begin(), Shape(1));
  if (vectorRight)
    b.push_back(Shape(1));
  Shape inner = a.back(), other = b[b.size() - 2];
  if (inner != other) {
    std::string axis = vectorRight || b.size() == 2 ? "axis 0" : "the last axis but one";
    noteOperands(error(expr.opRange,
                       "shapes differ in `@`: the last axis on the left is `" + inner.str() + "`, " + axis +
                           " on the right is `" + other.str() + "`",
                       "T2"),
                 {operands[0], operands[1]});
    return fail();
  }
  std::vector<Shape> left(a.begin(), a.end() - 2), right(b.begin(), b.end() - 2);
  size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), Shape(1));
  right.insert(right.begin(), rank - right.size(), Shape(1));
  std::vector<Shape> result;
  for (size_t i = 0; i < rank; ++i) {
    if (left[i] != right[i] && !left[i].isOne() && !right[i].isOne()) {
      noteOperands(
          error(expr.opRange,
                "shapes differ in `@`: the leading axes `" + left[i].str() + "` and `" + right[i].str() + "`",
                "T2"),
          {operands[0], operands[1]});
      return fail();
    }
    result.push_back(left[i].isOne() ? right[i] : left[i]);
  }
  if (!vectorLeft)
    result.push_back(a[a.size() - 2]);
  if (!vectorRight)
    result.push_back(b.back());
  return types_.f32(std::move(result));
}

//===--------------------------------------------------------------------===//
// Joins
//===--------------------------------------------------------------------===//

const Type *Checker::inferJoin(JoinExpr &expr) {
  if (expr.elements.empty())
    return types_.list(types_.unknown());
  bool fine = true;
  for (ExprPtr &element : expr.elements) {
    const Type *type = infer(*element);
    if (type->isError()) {
      fine = false;
    } else if (!type->isNumber()) {
      coercion_.settle(*element);
      error(element->range, "`[..]` joins tensors, but " + quote(*element) + " is " + quote(type), "T3")
          .hint(type->isList()
                    ? "`xs ++ ys` joins lists"
                    : "there is no list literal but `[]`: lists come from fields, ranges, `map` and scans");
      return fail();
    }
  }
  if (!fine)
    return fail();
  const Type *common = types_.number(expr.elements[0]->type->scalar, {}, expr.elements[0]->type->bound);
  size_t rank = 1;
  for (ExprPtr &element : expr.elements) {
    const Type *type = element->type;
    auto both = TypeRules::unifyScalars(common, types_.number(type->scalar, {}, type->bound));
    if (!both) {
      coercion_.settle(*expr.elements[0]);
      coercion_.settle(*element);
      noteOperands(error(element->range,
                         "`[..]` joins " + quote(rules_.defaulted(common)) + " and " +
                             quote(types_.number(element->type->scalar, {}, type->bound)) +
                             "; nothing converts by itself",
                         "T4"),
                   {expr.elements[0].get(), element.get()})
          .hint("write `f32(..)`");
      return fail();
    }
    common = types_.number(both->first, {}, both->second);
    rank = std::max(rank, type->rank());
  }
  for (ExprPtr &element : expr.elements)
    coercion_.push(*element, rules_.withScalar(element->type, common->scalar, common->bound));
  if (rank == 1)
    return inferJoinRank1(expr, common);

  const Expr &first = *expr.elements[0];
  Shape length;
  for (ExprPtr &element : expr.elements) {
    bool fits = element->type->rank() == rank && first.type->rank() == rank &&
                std::equal(element->type->extents.begin() + 1, element->type->extents.end(),
                           first.type->extents.begin() + 1);
    if (!fits) {
      noteOperands(error(element->range,
                         "`[..]` joins along axis 0: all other axes must agree, but these are " +
                             quote(first.type) + " and " + quote(element->type),
                         "T3"),
                   {&first, element.get()});
      return fail();
    }
    length = length + element->type->extents[0];
  }
  std::vector<Shape> extents = first.type->extents;
  extents[0] = length;
  return types_.number(common->scalar, std::move(extents), common->bound);
}

const Type *Checker::inferJoinRank1(JoinExpr &expr, const Type *element) {
  Shape length;
  for (ExprPtr &part : expr.elements)
    length = length + (part->type->isScalar() ? Shape(1) : part->type->extents[0]);
  return types_.number(element->scalar, {length}, element->bound);
}

} // namespace dbc::frontend
