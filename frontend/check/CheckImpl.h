// The checker's inside: one class, its parts by concern in Check*.cpp. Nobody but those includes this.
//
//   Check.cpp           the order of the work, scopes and names, unused things, bindDims
//   CheckDecls.cpp      dims, consts, data, records, layers, params, signatures
//   CheckTypes.cpp      types as written; which type fits where; numbers take the type their place asks
//   CheckExpr.cpp       blocks, patterns, names, members, records
//   CheckControl.cpp    if, match
//   CheckOperators.cpp  operators, broadcasting, joins
//   CheckSubscript.cpp  `x[..]`
//   CheckBinders.cpp    `sum(x in xs) ..`, scans, ranges
//   CheckCalls.cpp      calls of functions and layers, conversions
//   CheckBuiltins.cpp   calls of built-in functions; of `conv2d` in CheckConv2d.cpp, of lists in
//                       CheckLists.cpp
//   CheckCalling.cpp    what the graph of calls must not do: recursion of fns, cells in themselves
//   CheckSizes.cpp      what becomes far larger than its text: values, layers, fns that are put in
//   CheckStructure.cpp  structural and computed values; across calls in CheckStructureCalls.cpp
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CHECKIMPL_H
#define DBC_FRONTEND_CHECKIMPL_H

#include "frontend/check/Expansion.h"
#include "frontend/check/ExpressionTyper.h"
#include "frontend/syntax/Modules.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <unordered_map>

namespace dbc::frontend {

class Checker : CheckerBase {
public:
  Checker(Program &program, Reporter &reporter, CheckedProgram &out)
      : CheckerBase(out, reporter), program_(program), scopes_(out, reporter),
        shapes_(out, reporter, scopes_), dims_(out, reporter), rules_(out.types),
        coercion_(out, reporter, shapes_, rules_), sizes_(out, reporter),
        resolver_(out, reporter, scopes_, shapes_, sizes_), calls_(out, reporter, scopes_),
        expressions_({out, reporter, scopes_, shapes_, dims_, rules_, coercion_, calls_}, resolver_, sizes_) {
  }

  void run();

private:
  //===-- CheckDecls.cpp --------------------------------------------------===//
  void collectFile(File &file);
  void collectLayer(LayerDecl &decl, FileScope &scope);
  void collectDecl(Decl &decl, FileScope &scope, LayerScope *layer);
  /// Creates the dims of a record, layer or fn and enters them in `names`.
  void declareDims(const std::vector<Ident> &dims, std::vector<const DimVar *> &infos, Names &names);
  void resolveDims(File &file);
  void resolveConst(Binding &binding);
  void resolveData(DataDecl &decl);
  void resolveRecord(RecordDecl &decl);
  void checkInit(const Init &init);
  void resolveParam(Binding &binding);
  void resolveSignature(FuncInfo &func);
  const Type *typeOfRange(const FuncInfo &func, FuncArg &arg);
  void resolveCellArguments(FuncInfo &func);
  void resolveFuncResult(FuncInfo &func);
  void resolveMembers(File &file);
  void checkFunction(FuncInfo &func);

  //===-- CheckStructure.cpp ----------------------------------------------===//
  void checkStructure();

  //===-- State -----------------------------------------------------------===//
  Program &program_;
  Scopes scopes_;
  ShapeResolver shapes_;
  DimInference dims_;
  TypeRules rules_;
  Coercion coercion_;
  Sizes sizes_;
  TypeResolver resolver_;
  CallGraph calls_;
  ExpressionTyper expressions_;

  std::map<const Decl *, FuncInfo *> funcs_;
  std::map<const Decl *, LayerInfo *> layerOf_;
  std::map<const Decl *, RecordInfo *> recordOf_;
  std::map<const Decl *, DataInfo *> dataOf_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CHECKIMPL_H
