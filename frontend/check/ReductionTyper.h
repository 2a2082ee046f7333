// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_REDUCTIONTYPER_H
#define DBC_FRONTEND_REDUCTIONTYPER_H

#include "frontend/check/Operands.h"

namespace dbc::frontend {

/// Reductions and softmax, of tensors and of lists.
class ReductionTyper : Typer {
public:
  ReductionTyper(const TypingContext &context, Inference &inference, Operands &operands)
      : Typer(context, inference), operands_(operands) {}

  const Type *typeReduction(CallExpr &expr, const BuiltinInfo &info, Call &call);
  const Type *typeSoftmax(CallExpr &expr, const BuiltinInfo &info, Call &call);
  /// What a list of such elements becomes; `what` is the element in words.
  const Type *reduceElement(Builtin builtin, const Type *element, SourceRange range, const std::string &what);

private:
  /// Of a reduction or softmax whose argument is a list.
  const Type *typeListReduction(CallExpr &expr, const BuiltinInfo &info);

  Operands &operands_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_REDUCTIONTYPER_H
