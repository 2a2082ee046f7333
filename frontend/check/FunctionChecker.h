// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_FUNCTIONCHECKER_H
#define DBC_FRONTEND_FUNCTIONCHECKER_H

#include "frontend/check/Coercion.h"
#include "frontend/check/DimInference.h"
#include "frontend/check/Inference.h"
#include "frontend/check/TypeResolver.h"

namespace dbc::frontend {

/// Signatures of functions, and whether their bodies give what these say.
class FunctionChecker : CheckerBase {
public:
  FunctionChecker(CheckedProgram &out, Reporter &reporter, Scopes &scopes, ShapeResolver &shapes,
                  TypeResolver &resolver, DimInference &dims, Coercion &coercion, Inference &inference)
      : CheckerBase(out, reporter), scopes_(scopes), shapes_(shapes), resolver_(resolver), dims_(dims),
        coercion_(coercion), inference_(inference) {}

  /// With the function's own dims in scope.
  void resolveSignature(FuncInfo &func);
  /// After all signatures are resolved.
  void checkBody(FuncInfo &func);

private:
  const Type *typeOfRange(const FuncInfo &func, FuncArg &arg);
  void resolveResult(FuncInfo &func);
  void checkCellArguments(const FuncInfo &func);
  void requireInteger(Expr &expr, const std::string &place);

  Scopes &scopes_;
  ShapeResolver &shapes_;
  TypeResolver &resolver_;
  DimInference &dims_;
  Coercion &coercion_;
  Inference &inference_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_FUNCTIONCHECKER_H
