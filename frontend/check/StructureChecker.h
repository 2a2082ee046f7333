// The inside of StructureChecker.cpp and StructureCheckerCalls.cpp: one class that follows what is known
// about values.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_STRUCTURECHECKER_H
#define DBC_FRONTEND_STRUCTURECHECKER_H

#include "frontend/check/Check.h"
#include "frontend/check/Descent.h"
#include "frontend/check/HandedOn.h"
#include "frontend/check/Known.h"
#include "frontend/check/Reporter.h"

namespace dbc::frontend {

class StructureChecker {
public:
  StructureChecker(CheckedProgram &out, const File &main, Reporter &reporter)
      : out_(out), main_(main), reporter_(reporter) {}

  void run();

private:
  using Env = std::map<const Binding *, Known>;

  Known ofType(const Type *type, bool computed, SourceRange where, const std::string &why);
  void root(const FuncInfo &func);
  void keys(const FuncInfo &cell, std::vector<Known> &args);
  Known body(const FuncInfo &func, const std::vector<Known> &args);
  Known block(const Block &block);
  void bind(const Pattern &pattern, const Known &known);
  Known eval(const Expr &expr);
  Known evalForm(const Expr &expr);
  Known evalName(const Expr &expr);
  Known evalMember(const MemberExpr &expr);
  Known evalIf(const IfExpr &expr);
  Known evalMatch(const MatchExpr &expr);
  Known evalBinder(const BinderExpr &expr);
  Known evalSubscript(const SubscriptExpr &expr);
  Known evalRecord(const RecordExpr &expr);
  Known evalCall(const CallExpr &expr);
  Known evalLayer(const Expr &expr);
  Known evalCell(const CallExpr &expr, const Call &call, const std::vector<Known> &args);
  Known evalBuiltin(const CallExpr &expr, const Call &call, const std::vector<Known> &args);
  static Known all(const std::vector<Known> &operands);
  void requireStructural(const Expr &expr, const Known &known, const std::string &what,
                         const std::string &hint);
  void requireElements(const Expr &expr, const Type *type, const Known &value, const std::string &cell);
  void markEnded(Known &result, const Expr &expr, const Known &list);
  void requireLength(const Expr &expr, const Known &list, const std::string &use);
  void requireLengths(const Expr &expr, const Known &value, const std::string &use);
  void checkOrigin(const CallExpr &expr, const Known &logits);
  void reportOwnCycles();
  void reportChangingLists();
  std::string quote(const Expr &expr) const { return reporter_.quote(expr); }
  /// Null where the rule is reported for this place already.
  Diagnostic *error(SourceRange range, const std::string &message, const std::string &rule);

  CheckedProgram &out_;
  const File &main_;
  Reporter &reporter_;
  Env env_;
  const FuncInfo *cell_ = nullptr; ///< the cell whose body is followed, through fns
  Known layer_;                    ///< of which layer of a table the function is that is followed
  std::vector<SourceRange> callers_;
  std::set<const FuncInfo *> seen_;
  std::map<std::string, Known> results_;
  std::set<std::pair<uint64_t, std::string>> reported_;
  /// Cells that call another (or themselves) with their own node.
  struct OwnCall {
    const FuncInfo *callee;
    SourceRange range;
  };
  std::map<const FuncInfo *, std::vector<OwnCall>> ownCalls_;
  /// Calls of cells in cells: of each argument the caller's own value that it is, or null, and where it is.
  struct GivenCall {
    const FuncInfo *caller, *callee;
    std::vector<const Binding *> values;
    std::vector<SourceRange> ranges;
  };
  std::vector<GivenCall> givenCalls_;
  Descent descent_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_STRUCTURECHECKER_H
