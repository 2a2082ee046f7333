// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_FUNCTIONCHECKER_H
#define DBC_FRONTEND_FUNCTIONCHECKER_H

#include "frontend/check/TypeResolver.h"
#include "frontend/check/Typer.h"

namespace dbc::frontend {

/// Signatures of functions, and whether their bodies give what these say.
class FunctionChecker : Typer {
public:
  FunctionChecker(const TypingContext &context, Inference &inference, TypeResolver &resolver)
      : Typer(context, inference), resolver_(resolver) {}

  /// With the function's own dims in scope.
  void resolveSignature(FuncInfo &func);
  /// After all signatures are resolved.
  void checkBody(FuncInfo &func);

private:
  const Type *typeOfRange(const FuncInfo &func, FuncArg &arg);
  void resolveResult(FuncInfo &func);
  void checkCellArguments(const FuncInfo &func);
  void requireInteger(Expr &expr, const std::string &asker);

  TypeResolver &resolver_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_FUNCTIONCHECKER_H
