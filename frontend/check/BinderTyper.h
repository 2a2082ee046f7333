// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_BINDERTYPER_H
#define DBC_FRONTEND_BINDERTYPER_H

#include "frontend/check/ReductionTyper.h"

namespace dbc::frontend {

/// Binders: `map`, reductions, `softmax`, scans and folds over lists; ranges (section 7 of the language).
class BinderTyper : Typer {
public:
  BinderTyper(const TypingContext &context, Inference &inference, ReductionTyper &reductions)
      : Typer(context, inference), reductions_(reductions) {}

  const Type *inferBinder(BinderExpr &expr);
  const Type *inferRange(RangeExpr &expr);

private:
  const Type *inferReducer(BinderExpr &expr, Builtin builtin);
  const Type *inferScan(BinderExpr &expr, Builtin builtin);
  /// The type of the next state, for a state of this type; nothing is reported.
  const Type *tryNextState(BinderExpr &expr, const Type *state);
  /// The `while` of a scan whose element and state are bound right behind `mark`.
  void inferCondition(BinderExpr &expr, size_t mark);
  /// Whether what the body gives may be the state; reports.
  bool checkState(BinderExpr &expr, Builtin builtin, const Type *state);
  /// Binds the element, and checks the filter.
  void bindElement(BinderExpr &expr);
  /// What to do about a node where a list should be.
  std::string hintForNode(const Expr &node) const;
  /// Reports layers that are not taken straight from their table, and gives false.
  bool bindsTables(const Pattern &pattern, const Expr &list);

  ReductionTyper &reductions_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_BINDERTYPER_H
