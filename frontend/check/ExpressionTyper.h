// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_EXPRESSIONTYPER_H
#define DBC_FRONTEND_EXPRESSIONTYPER_H

#include "frontend/check/BinderTyper.h"
#include "frontend/check/BranchTyper.h"
#include "frontend/check/CallTyper.h"
#include "frontend/check/OperatorTyper.h"
#include "frontend/check/TypeResolver.h"

namespace dbc::frontend {

/// Types expressions by handing each to the class for its kind; has blocks and tuples itself.
class ExpressionTyper : public Inference, Typer {
public:
  ExpressionTyper(const TypingContext &context, TypeResolver &resolver, Sizes &sizes);

  const Type *infer(Expr &expr) override;
  const Type *inferBlock(CodeBlock &block) override;
  size_t slicesAsked(const Expr &expr) const override { return &expr == splitValue_ ? splitSlices_ : 0; }

private:
  const Type *inferKind(Expr &expr);
  const Type *inferTuple(TupleExpr &expr);
  void inferLet(Let &let);

  TypeResolver &resolver_;
  Sizes &sizes_;
  Operands operands_;
  NameTyper names_;
  OperatorTyper operators_;
  SubscriptTyper subscripts_;
  BranchTyper branches_;
  ReductionTyper reductions_;
  BinderTyper binders_;
  BuiltinTyper builtins_;
  CallTyper functionCalls_;

  // Of the `let` whose value is inferred.
  const Expr *splitValue_ = nullptr; ///< its value, if its pattern is a tuple; else null
  size_t splitSlices_ = 0;           ///< of that pattern
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_EXPRESSIONTYPER_H
