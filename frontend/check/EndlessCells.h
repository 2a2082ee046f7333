// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_ENDLESSCELLS_H
#define DBC_FRONTEND_ENDLESSCELLS_H

#include "frontend/check/CallGraph.h"

namespace dbc::frontend {

/// Cells of nodes that have a value for no input: each needs another one, whatever its node is (D4). That is
/// a warning; types of which all values are cycles are legal, and so are cells that end by a condition.
class EndlessCells : CheckerBase {
public:
  EndlessCells(CheckedProgram &out, Reporter &reporter, const CallGraph &calls)
      : CheckerBase(out, reporter), calls_(calls) {}

  void warn();

private:
  /// The calls that an expression makes in any case, one for each callee.
  using Needs = std::map<const FuncInfo *, const CallExpr *>;

  Needs ofBlock(const CodeBlock &block);
  Needs of(const Expr &expr);
  Needs ofCall(const CallExpr &expr);
  void add(Needs &to, const Expr *expr);
  void report(const FuncInfo &cell, const std::map<const FuncInfo *, Needs> &needs);
  const DataInfo *endlessKey(const FuncInfo &cell);
  std::set<const DataInfo *> finiteDatas() const;

  const CallGraph &calls_;
  std::map<const FuncInfo *, size_t> circleOf_; ///< of recursive functions, which recursion they are in
  size_t circle_ = 0;                           ///< that of the function that is looked at
  std::map<const Binding *, Needs> lets_;       ///< what the names need that are met so far
  std::optional<std::set<const DataInfo *>> finite_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_ENDLESSCELLS_H
