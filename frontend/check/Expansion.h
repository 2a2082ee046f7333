// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_EXPANSION_H
#define DBC_FRONTEND_EXPANSION_H

#include "frontend/check/CallGraph.h"

namespace dbc::frontend {

/// What functions become where the fns that they call are put in: not too large.
class Expansion : CheckerBase {
public:
  Expansion(CheckedProgram &out, Reporter &reporter, const CallGraph &graph)
      : CheckerBase(out, reporter), graph_(graph) {}

  /// Of a model whose fns are not recursive.
  void check();

private:
  struct Expanded {
    uint64_t added = 0; ///< expressions beyond those that are written
    unsigned depth = 0; ///< how many lie inside one another
    const CallSite *largest = nullptr;
  };
  /// What a function becomes; that of the fns that it calls is known.
  Expanded expand(const FuncInfo *func);
  void report(const FuncInfo &func, const std::string &problem);

  const CallGraph &graph_;
  std::map<const FuncInfo *, Expanded> expanded_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_EXPANSION_H
