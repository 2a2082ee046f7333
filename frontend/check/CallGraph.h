// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CALLGRAPH_H
#define DBC_FRONTEND_CALLGRAPH_H

#include "frontend/check/Scopes.h"

namespace dbc::frontend {

/// One call of a function.
struct CallSite {
  const FuncInfo *callee = nullptr;
  SourceRange range;
  uint64_t times = 1; ///< how often it stands in what the caller becomes: a `while` stands there twice
  unsigned depth = 0; ///< how many expressions it lies in
};

/// How large a function is, without those that it calls.
struct BodySize {
  uint64_t written = 0, met = 0; ///< expressions in the text, and in what is made of it
  unsigned depth = 0;            ///< how many lie inside one another
};

/// Who calls whom, from where in what bodies; what calls must not do (C1, C6).
class CallGraph : CheckerBase {
public:
  using Calls = std::map<const FuncInfo *, std::vector<CallSite>>;

  CallGraph(CheckedProgram &out, Reporter &reporter, const Scopes &scopes)
      : CheckerBase(out, reporter), scopes_(scopes) {}

  /// Around each expression of the function that is checked.
  void enterExpression();
  void leaveExpression() { --depth_; }
  /// What `f` meets is lowered twice.
  void twice(const std::function<void()> &f);
  /// The function that is checked calls another.
  void add(const FuncInfo &callee, SourceRange range);

  /// Reports fns that are recursive, and gives false.
  bool checkFns();
  /// Reports recursive cells that give lists.
  void checkCells();

  const Calls &calls() const { return calls_; }
  BodySize sizeOf(const FuncInfo *func) const;

private:
  const Scopes &scopes_;
  Calls calls_;
  std::map<const FuncInfo *, BodySize> sizes_;
  uint64_t times_ = 1; ///< see CallSite
  unsigned depth_ = 0;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CALLGRAPH_H
