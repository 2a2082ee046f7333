// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SUBSCRIPTTYPER_H
#define DBC_FRONTEND_SUBSCRIPTTYPER_H

#include "frontend/check/Typer.h"

namespace dbc::frontend {

/// `x[i, a..b]`, `xs[-1]`, `ws[..-1]` (T3, T4).
class SubscriptTyper : Typer {
public:
  SubscriptTyper(const TypingContext &context, Inference &inference) : Typer(context, inference) {}

  const Type *inferSubscript(SubscriptExpr &expr);
  /// What stands for an axis of this extent: an int, an index, or a tensor of them. Null where it was
  /// refused.
  const Type *indexInto(Expr &expr, const Shape &extent, Subscripts::Axis &axis);

private:
  const Type *subscriptList(SubscriptExpr &expr, const Type *list, Subscripts &info);
  const Type *subscriptTable(SubscriptExpr &expr, const Type *table, Subscripts &info);
  const Type *subscriptTensor(SubscriptExpr &expr, const Type *tensor, Subscripts &info);
  bool subscriptSlice(Sub &sub, const Shape &extent, Subscripts::Axis &axis);
  /// Infers what stands between the brackets, of a subscript that is refused.
  void inferSubs(SubscriptExpr &expr);
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SUBSCRIPTTYPER_H
