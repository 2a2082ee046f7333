// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TYPER_H
#define DBC_FRONTEND_TYPER_H

#include "frontend/check/CallGraph.h"
#include "frontend/check/Coercion.h"
#include "frontend/check/DimInference.h"
#include "frontend/check/Inference.h"

namespace dbc::frontend {

/// What the typing of expressions rests on.
struct TypingContext {
  CheckedProgram &out;
  Reporter &reporter;
  Scopes &scopes;
  ShapeResolver &shapes;
  DimInference &dims;
  TypeRules &rules;
  Coercion &coercion;
  CallGraph &calls;
};

/// Base of the classes that type expressions, or what these are made of.
class Typer : protected CheckerBase {
protected:
  Typer(const TypingContext &context, Inference &inference)
      : CheckerBase(context.out, context.reporter), inference_(inference), scopes_(context.scopes),
        shapes_(context.shapes), dims_(context.dims), rules_(context.rules), coercion_(context.coercion),
        calls_(context.calls) {}

  const Type *infer(Expr &expr) { return inference_.infer(expr); }
  /// infer, where no context asks literals for a type.
  const Type *value(Expr &expr) {
    infer(expr);
    coercion_.defaultLiterals(expr);
    return expr.type;
  }

  Inference &inference_;
  Scopes &scopes_;
  ShapeResolver &shapes_;
  DimInference &dims_;
  TypeRules &rules_;
  Coercion &coercion_;
  CallGraph &calls_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TYPER_H
