// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_DECLARATIONS_H
#define DBC_FRONTEND_DECLARATIONS_H

#include "frontend/check/Collector.h"
#include "frontend/check/FunctionChecker.h"

namespace dbc::frontend {

/// Resolves what declarations say of dims, consts, data, records and params, and hands on the signatures.
class Declarations : CheckerBase {
public:
  Declarations(CheckedProgram &out, Reporter &reporter, Scopes &scopes, Collector &collector,
               ShapeResolver &shapes, TypeResolver &resolver, DimInference &dims, FunctionChecker &functions)
      : CheckerBase(out, reporter), scopes_(scopes), collector_(collector), shapes_(shapes),
        resolver_(resolver), dims_(dims), functions_(functions) {}

  /// Dims and number consts: of every file before any type.
  void resolveDims(File &file);
  /// All else, of the file and of its layers.
  void resolveMembers(File &file);

private:
  void resolveAll(std::vector<DeclPtr> &decls);
  void resolveConst(Binding &binding);
  void resolveData(DataDecl &decl);
  void resolveRecord(RecordDecl &decl);
  void resolveParam(Binding &binding);
  void checkInit(const Binding &param, const Init &init);

  Scopes &scopes_;
  Collector &collector_;
  ShapeResolver &shapes_;
  TypeResolver &resolver_;
  DimInference &dims_;
  FunctionChecker &functions_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_DECLARATIONS_H
