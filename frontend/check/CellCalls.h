// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CELLCALLS_H
#define DBC_FRONTEND_CELLCALLS_H

#include "frontend/check/CheckerBase.h"
#include "frontend/check/Descent.h"

namespace dbc::frontend {

/// Calls of cells in cells, by what they pass: a cell may need itself (C3), a list may change along a
/// recursion (C6).
class CellCalls : CheckerBase {
public:
  CellCalls(CheckedProgram &out, Reporter &reporter) : CheckerBase(out, reporter) {}

  void add(const FuncInfo &caller, const FuncInfo &callee, const CallExpr &expr,
           const std::vector<AbstractValue> &args);
  /// A call whose keys are all keys of the caller.
  void addOwn(const FuncInfo &caller, const FuncInfo &callee, SourceRange range) {
    ownCalls_[&caller].push_back({&callee, range});
  }
  /// After all calls are added: remarks cells that may need themselves by way of others.
  void remarkOwnCycles();
  /// Reports values that change along a recursion and hold lists.
  void reportChangingLists(const Descent &descent);

private:
  struct OwnCall {
    const FuncInfo *callee;
    SourceRange range;
  };
  /// Of each argument the caller's own value that it is, or null, and where it is.
  struct CapturingCall {
    const FuncInfo *caller, *callee;
    std::vector<const Binding *> values;
    std::vector<SourceRange> ranges;
  };
  std::map<const FuncInfo *, std::vector<OwnCall>> ownCalls_;
  std::vector<CapturingCall> capturingCalls_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CELLCALLS_H
