// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CALLTYPER_H
#define DBC_FRONTEND_CALLTYPER_H

#include "frontend/check/BuiltinTyper.h"
#include "frontend/check/NameTyper.h"

namespace dbc::frontend {

/// Calls: of functions, of layers and their members; of what else, to the typing of built-in functions.
class CallTyper : Typer {
public:
  CallTyper(const TypingContext &context, Inference &inference, Operands &operands, NameTyper &names,
            BuiltinTyper &builtins)
      : Typer(context, inference), operands_(operands), names_(names), builtins_(builtins) {}

  const Type *inferCall(CallExpr &expr);

private:
  const Type *callNamed(CallExpr &expr, NameExpr &callee);
  const Type *callMember(CallExpr &expr, MemberExpr &callee);
  const Type *callBinding(CallExpr &expr, Expr &callee, Binding *binding);
  const Type *callLayer(CallExpr &expr, const Expr &layer, const std::string &function, SourceRange range);
  /// `receiver` is the layer that the function is called of; null if it belongs to none.
  const Type *callFunction(CallExpr &expr, const FuncInfo &func, const Expr *receiver);
  /// Reports what cannot be called as written, and gives false.
  bool isCallable(CallExpr &expr, const FuncInfo &func);
  /// The own dims of the function from its arguments; nothing where these do not say them all.
  std::optional<DimMap> ownDims(CallExpr &expr, const FuncInfo &func, const DimMap &layerDims);
  void defaultArgumentLiterals(CallExpr &expr);

  Operands &operands_;
  NameTyper &names_;
  BuiltinTyper &builtins_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CALLTYPER_H
