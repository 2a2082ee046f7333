// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TENSORTYPER_H
#define DBC_FRONTEND_TENSORTYPER_H

#include "frontend/check/Operands.h"
#include "frontend/check/SubscriptTyper.h"

namespace dbc::frontend {

/// Built-in functions that make tensors, cut them up and put them together.
class TensorTyper : Typer {
public:
  TensorTyper(const TypingContext &context, Inference &inference, Operands &operands,
              SubscriptTyper &subscripts)
      : Typer(context, inference), operands_(operands), subscripts_(subscripts) {}

  const Type *typeSplit(CallExpr &expr, Call &call);
  const Type *typeTranspose(CallExpr &expr);
  const Type *typeReshape(CallExpr &expr);
  const Type *typeFilled(CallExpr &expr, const BuiltinInfo &info);
  const Type *typeIota(CallExpr &expr);
  const Type *typePut(CallExpr &expr);
  const Type *typeSlice(CallExpr &expr);
  const Type *typeTopK(CallExpr &expr);
  const Type *typeConv2d(CallExpr &expr, Call &call);

private:
  /// What the setting says for both axes of a picture, or `otherwise`; nothing after a report.
  std::optional<std::array<Shape, 2>> forBothAxes(CallExpr &expr, const std::string &name, Shape otherwise);

  Operands &operands_;
  SubscriptTyper &subscripts_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TENSORTYPER_H
