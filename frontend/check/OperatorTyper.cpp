// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/OperatorTyper.h"

#include <algorithm>

namespace dbc::frontend {

const Type *OperatorTyper::inferUnary(UnaryExpr &expr) {
  const Type *operand = infer(*expr.operand);
  if (operand->isError())
    return fail();
  if (expr.op == UnaryExpr::Op::Not) {
    if (operand->isNumber() && operand->scalar == Scalar::Bool)
      return operand;
    coercion_.require(*expr.operand, types_.boolean(), "`!` takes");
    return fail();
  }
  std::optional<Scalar> scalar = operands_.commonScalar({expr.operand.get()}, expr.range, "`-`");
  return scalar ? rules_.withScalar(expr.operand->type, *scalar) : fail();
}

const Type *OperatorTyper::inferBinary(BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  infer(*expr.lhs);
  infer(*expr.rhs);
  if (expr.lhs->type->isError() || expr.rhs->type->isError()) {
    coercion_.defaultLiterals(*expr.lhs);
    coercion_.defaultLiterals(*expr.rhs);
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

const Type *OperatorTyper::inferLogical(BinaryExpr &expr) {
  std::string what = std::string("`") + spelling(expr.op) + "`";
  for (Expr *operand : {expr.lhs.get(), expr.rhs.get()})
    if (!operand->type->isNumber() || operand->type->scalar != Scalar::Bool) {
      coercion_.require(*operand, types_.boolean(), what + " takes");
      return fail();
    }
  auto extents = operands_.broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.boolean(*extents) : fail();
}

const Type *OperatorTyper::inferComparison(BinaryExpr &expr) {
  std::string what = std::string("`") + spelling(expr.op) + "`";
  bool equality = expr.op == BinaryExpr::Op::Eq || expr.op == BinaryExpr::Op::Ne;
  const Type *lhs = expr.lhs->type, *rhs = expr.rhs->type;
  if (equality && lhs->isNode() && rhs->isNode()) {
    if (lhs == rhs)
      return types_.boolean();
    return refuseOperands({expr.lhs.get(), expr.rhs.get()}, expr.opRange,
                          what + " compares nodes of two types, which are never the same", "S1");
  }
  bool bools = equality && lhs->isNumber() && rhs->isNumber() && lhs->scalar == Scalar::Bool &&
               rhs->scalar == Scalar::Bool;
  if (!bools && !operands_.commonScalar({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what))
    return fail();
  coercion_.defaultLiterals(*expr.lhs);
  coercion_.defaultLiterals(*expr.rhs);
  auto extents = operands_.broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.boolean(*extents) : fail();
}

const Type *OperatorTyper::inferArithmetic(BinaryExpr &expr) {
  using Op = BinaryExpr::Op;
  std::string what = std::string("`") + spelling(expr.op) + "`";
  std::optional<Scalar> scalar = operands_.commonScalar({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  if (!scalar)
    return fail();
  if (expr.op == Op::Div && *scalar == Scalar::Int) {
    coercion_.defaultLiterals(*expr.lhs);
    coercion_.defaultLiterals(*expr.rhs);
    return refuseOperands({expr.lhs.get(), expr.rhs.get()}, expr.opRange, "`/` on ints", "T4",
                          "`div(a, b)` floors; `f32(a) / f32(b)` divides");
  }
  if (expr.op == Op::Mod && (*scalar == Scalar::F32 || *scalar == Scalar::FloatLiteral)) {
    coercion_.defaultLiterals(*expr.lhs);
    coercion_.defaultLiterals(*expr.rhs);
    return refuseOperands({expr.lhs.get(), expr.rhs.get()}, expr.opRange, "`%` takes ints", "T4");
  }
  auto extents = operands_.broadcast({expr.lhs.get(), expr.rhs.get()}, expr.opRange, what);
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *OperatorTyper::inferAppend(BinaryExpr &expr) {
  Expr *operands[] = {expr.lhs.get(), expr.rhs.get()};
  auto defaultBoth = [&] {
    for (Expr *operand : operands)
      coercion_.defaultLiterals(*operand);
  };
  for (Expr *operand : operands) {
    if (operand->type->isList())
      continue;
    defaultBoth();
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
    defaultBoth();
    return refuseOperands({operands[0], operands[1]}, expr.opRange,
                          "`++` joins lists of one type, but these are " + quote(operands[0]->type) +
                              " and " + quote(operands[1]->type),
                          "L3");
  }
  for (Expr *operand : operands)
    coercion_.push(*operand, type);
  return type;
}

const Type *OperatorTyper::inferMatMul(BinaryExpr &expr) {
  Expr *operands[] = {expr.lhs.get(), expr.rhs.get()};
  for (Expr *operand : operands) {
    coercion_.defaultLiterals(*operand);
    if (!operands_.requireNumber(*operand, "`@`"))
      return fail();
    if (!operand->type->isTensor())
      return refuseOperands({operands[0], operands[1]}, expr.opRange,
                            "`@` takes tensors; " + quote(*operand) + " is a scalar", "T2",
                            "a scalar is multiplied by `*`");
    if (operand->type->scalar != Scalar::F32)
      return refuseOperands({operands[0], operands[1]}, expr.opRange,
                            "`@` takes `f32`, but " + quote(*operand) + " is " + quote(operand->type), "T4",
                            "write `f32(..)`");
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
    return refuseOperands({operands[0], operands[1]}, expr.opRange,
                          "shapes differ in `@`: the last axis on the left is `" + inner.str() + "`, " +
                              axis + " on the right is `" + other.str() + "`",
                          "T2");
  }
  std::vector<Shape> left(a.begin(), a.end() - 2), right(b.begin(), b.end() - 2);
  size_t rank = std::max(left.size(), right.size());
  left.insert(left.begin(), rank - left.size(), Shape(1));
  right.insert(right.begin(), rank - right.size(), Shape(1));
  std::vector<Shape> result;
  for (size_t i = 0; i < rank; ++i) {
    if (left[i] != right[i] && !left[i].isOne() && !right[i].isOne())
      return refuseOperands({operands[0], operands[1]}, expr.opRange,
                            "shapes differ in `@`: the leading axes `" + left[i].str() + "` and `" +
                                right[i].str() + "`",
                            "T2");
    result.push_back(left[i].isOne() ? right[i] : left[i]);
  }
  if (!vectorLeft)
    result.push_back(a[a.size() - 2]);
  if (!vectorRight)
    result.push_back(b.back());
  return types_.f32(std::move(result));
}

const Type *OperatorTyper::inferJoin(JoinExpr &expr) {
  if (expr.elements.empty())
    return types_.list(types_.unknown());
  bool fine = true;
  for (ExprPtr &element : expr.elements) {
    const Type *type = infer(*element);
    if (type->isError()) {
      fine = false;
    } else if (!type->isNumber()) {
      coercion_.defaultLiterals(*element);
      return refuse(element->range, "`[..]` joins tensors, but " + quote(*element) + " is " + quote(type),
                    "T3",
                    type->isList() ? "`xs ++ ys` joins lists"
                                   : "there is no list literal but `[]`: lists come from fields, ranges, "
                                     "`map` and scans; that of this "
                                     "element alone is `map(_ in 0..1) { .. }`");
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
      coercion_.defaultLiterals(*expr.elements[0]);
      coercion_.defaultLiterals(*element);
      return refuseOperands({expr.elements[0].get(), element.get()}, element->range,
                            "`[..]` joins " + quote(rules_.defaulted(common)) + " and " +
                                quote(types_.number(element->type->scalar, {}, type->bound)) +
                                "; nothing converts by itself",
                            "T4", "write `f32(..)`");
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
    bool agrees = element->type->rank() == rank && first.type->rank() == rank &&
                  std::equal(element->type->extents.begin() + 1, element->type->extents.end(),
                             first.type->extents.begin() + 1);
    if (!agrees)
      return refuseOperands({&first, element.get()}, element->range,
                            "`[..]` joins along axis 0: all other axes must agree, but these are " +
                                quote(first.type) + " and " + quote(element->type),
                            "T3");
    length = length + element->type->extents[0];
  }
  std::vector<Shape> extents = first.type->extents;
  extents[0] = length;
  return types_.number(common->scalar, std::move(extents), common->bound);
}

const Type *OperatorTyper::inferJoinRank1(JoinExpr &expr, const Type *element) {
  Shape length;
  for (ExprPtr &operand : expr.elements)
    length = length + (operand->type->isScalar() ? Shape(1) : operand->type->extents[0]);
  return types_.number(element->scalar, {length}, element->bound);
}

} // namespace dbc::frontend
