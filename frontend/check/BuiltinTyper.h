// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_BUILTINTYPER_H
#define DBC_FRONTEND_BUILTINTYPER_H

#include "frontend/check/ReductionTyper.h"
#include "frontend/check/TensorTyper.h"

namespace dbc::frontend {

/// Calls of built-in functions (the manual's "Built-in functions"), and conversions.
class BuiltinTyper : Typer {
public:
  BuiltinTyper(const TypingContext &context, Inference &inference, Operands &operands,
               ReductionTyper &reductions, SubscriptTyper &subscripts)
      : Typer(context, inference), operands_(operands), reductions_(reductions),
        tensors_(context, inference, operands, subscripts) {}

  const Type *callBuiltin(CallExpr &expr, const BuiltinInfo &info);
  /// `f32(x)`, `int(x)`, `bool(x)`, `index[bound](x)`.
  const Type *convert(CallExpr &expr, Builtin builtin, std::optional<Shape> bound);

private:
  /// By what the table of built-in functions says.
  const Type *typeBuiltin(CallExpr &expr, const BuiltinInfo &info, Call &call);
  const Type *typeElementwise(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeSelect(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeDropout(CallExpr &expr);
  const Type *typeDiv(CallExpr &expr);
  const Type *typeCrossEntropy(CallExpr &expr);
  const Type *typeList(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeEvery(CallExpr &expr);

  Operands &operands_;
  ReductionTyper &reductions_;
  TensorTyper tensors_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_BUILTINTYPER_H
