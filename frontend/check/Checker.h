// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CHECKER_H
#define DBC_FRONTEND_CHECKER_H

#include "frontend/check/Declarations.h"
#include "frontend/check/Expansion.h"
#include "frontend/check/ExpressionTyper.h"
#include "frontend/syntax/Modules.h"

namespace dbc::frontend {

/// Composes the classes of the checker, and says the order of their work.
///
///   Reporter                  what is wrong, in the words of the source
///   Scopes                    what names mean, and which are used
///   Collector, Declarations   what the files declare
///   ShapeResolver, TypeResolver, DimInference   extents and types as written; dims from what is given
///   TypeRules, Coercion       how types relate; expressions take the type that their context asks
///   ExpressionTyper           the types of expressions, by a class for each kind: those called ..Typer
///   FunctionChecker           signatures and bodies
///   Sizes, Expansion          what becomes far larger than its text
///   CallGraph                 who calls whom
///   StructureChecker          structural and computed values
///   EndlessCells              recursions that end for no input
class Checker {
public:
  Checker(Program &program, DiagnosticEngine &diags, CheckedProgram &out);

  void run();

private:
  Program &program_;
  CheckedProgram &out_;
  Reporter reporter_;
  Scopes scopes_;
  ShapeResolver shapes_;
  DimInference dims_;
  TypeRules rules_;
  Coercion coercion_;
  Sizes sizes_;
  TypeResolver resolver_;
  CallGraph calls_;
  TypingContext context_;
  ExpressionTyper expressions_;
  FunctionChecker functions_;
  Collector collector_;
  Declarations declarations_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CHECKER_H
