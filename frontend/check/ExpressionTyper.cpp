// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/ExpressionTyper.h"

namespace dbc::frontend {

ExpressionTyper::ExpressionTyper(const TypingContext &context, TypeResolver &resolver, Sizes &sizes)
    : Typer(context, *this), resolver_(resolver), sizes_(sizes), operands_(context, *this),
      names_(context, *this), operators_(context, *this, operands_), subscripts_(context, *this),
      branches_(context, *this), reductions_(context, *this, operands_),
      binders_(context, *this, reductions_), builtins_(context, *this, operands_, reductions_, subscripts_),
      functionCalls_(context, *this, operands_, names_, builtins_) {}

const Type *ExpressionTyper::infer(Expr &expr) {
  calls_.enterExpression();
  expr.type = inferKind(expr);
  calls_.leaveExpression();
  if (!sizes_.isBounded(expr.type, expr.range))
    expr.type = fail();
  return expr.type;
}

const Type *ExpressionTyper::inferKind(Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Number:
    return types_.number(static_cast<NumberExpr &>(expr).isInteger ? Scalar::IntLiteral
                                                                   : Scalar::FloatLiteral);
  case Expr::Kind::Bool:
    return types_.boolean();
  case Expr::Kind::Name:
    return names_.inferName(static_cast<NameExpr &>(expr));
  case Expr::Kind::Tuple:
    return inferTuple(static_cast<TupleExpr &>(expr));
  case Expr::Kind::Join:
    return operators_.inferJoin(static_cast<JoinExpr &>(expr));
  case Expr::Kind::If:
    return branches_.inferIf(static_cast<IfExpr &>(expr));
  case Expr::Kind::Match:
    return branches_.inferMatch(static_cast<MatchExpr &>(expr));
  case Expr::Kind::Binder:
    return binders_.inferBinder(static_cast<BinderExpr &>(expr));
  case Expr::Kind::Unary:
    return operators_.inferUnary(static_cast<UnaryExpr &>(expr));
  case Expr::Kind::Binary:
    return operators_.inferBinary(static_cast<BinaryExpr &>(expr));
  case Expr::Kind::Range:
    return binders_.inferRange(static_cast<RangeExpr &>(expr));
  case Expr::Kind::Member:
    return names_.inferMember(static_cast<MemberExpr &>(expr));
  case Expr::Kind::Call:
    return functionCalls_.inferCall(static_cast<CallExpr &>(expr));
  case Expr::Kind::Subscript:
    return subscripts_.inferSubscript(static_cast<SubscriptExpr &>(expr));
  case Expr::Kind::Record:
    return names_.inferRecord(static_cast<RecordExpr &>(expr));
  }
  return fail();
}

const Type *ExpressionTyper::inferTuple(TupleExpr &expr) {
  std::vector<const Type *> elements;
  bool fine = true;
  for (ExprPtr &element : expr.elements) {
    elements.push_back(infer(*element));
    fine &= coercion_.refuseLayer(*element) && !elements.back()->isError();
  }
  return fine ? types_.tuple(std::move(elements)) : fail();
}

const Type *ExpressionTyper::inferBlock(CodeBlock &block) {
  size_t mark = scopes_.mark();
  for (Let &let : block.lets)
    inferLet(let);
  const Type *type = infer(*block.result);
  scopes_.leave(mark);
  return type;
}

static void collectNames(const Pattern &pattern, std::vector<const Ident *> &names) {
  if (pattern.kind == Pattern::Kind::Name)
    names.push_back(&pattern.name);
  for (const PatternPtr &element : pattern.elements)
    collectNames(*element, names);
}

void ExpressionTyper::inferLet(Let &let) {
  const Expr *outerValue = std::exchange(splitValue_, nullptr);
  size_t outerSlices = std::exchange(splitSlices_, 0);
  if (let.pattern->kind == Pattern::Kind::Tuple) {
    splitValue_ = let.value.get();
    splitSlices_ = let.pattern->elements.size();
  }
  infer(*let.value);
  splitValue_ = outerValue;
  splitSlices_ = outerSlices;

  const Type *type = let.value->type;
  if (let.annotation) {
    type = resolver_.resolveBounded(*let.annotation, TypeResolver::Context::Other);
    coercion_.require(*let.value, type, quote(let.pattern->range) + " is declared");
  } else {
    coercion_.defaultLiterals(*let.value);
    type = let.value->type;
  }
  if (!coercion_.refuseLayer(*let.value))
    type = fail();
  std::vector<const Ident *> names;
  collectNames(*let.pattern, names);
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (names[i]->text == names[k]->text)
        error(names[i]->range, "`" + names[i]->text + "` is declared twice", "N1")
            .note(names[k]->range, "first declared here");
  scopes_.bindPattern(*let.pattern, type, Binding::LocalKind::Let);
}

} // namespace dbc::frontend
