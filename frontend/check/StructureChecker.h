// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_STRUCTURECHECKER_H
#define DBC_FRONTEND_STRUCTURECHECKER_H

#include "frontend/check/CellCalls.h"

namespace dbc::frontend {

/// Which values are structural and which computed (S1), and what must be structural (S2): follows abstract
/// values through whole calls. Those across calls are in StructureCheckerCalls.cpp.
class StructureChecker {
public:
  StructureChecker(CheckedProgram &out, const File &main, Reporter &reporter)
      : out_(out), main_(main), reporter_(reporter), cellCalls_(out, reporter) {}

  void run();

private:
  using Env = std::map<const Binding *, AbstractValue>;

  AbstractValue ofType(const Type *type, bool computed, SourceRange where, const std::string &why);
  void root(const FuncInfo &func);
  void keys(const FuncInfo &cell, std::vector<AbstractValue> &args);
  AbstractValue body(const FuncInfo &func, const std::vector<AbstractValue> &args);
  AbstractValue block(const CodeBlock &block);
  void bind(const Pattern &pattern, const AbstractValue &value);
  AbstractValue eval(const Expr &expr);
  AbstractValue evalForm(const Expr &expr);
  AbstractValue evalName(const Expr &expr);
  AbstractValue evalMember(const MemberExpr &expr);
  AbstractValue evalIf(const IfExpr &expr);
  AbstractValue evalMatch(const MatchExpr &expr);
  AbstractValue evalBinder(const BinderExpr &expr);
  AbstractValue evalSubscript(const SubscriptExpr &expr);
  AbstractValue evalRecord(const RecordExpr &expr);
  AbstractValue evalCall(const CallExpr &expr);
  AbstractValue evalLayer(const Expr &expr);
  AbstractValue evalCell(const CallExpr &expr, const Call &call, const std::vector<AbstractValue> &args);
  AbstractValue evalBuiltin(const CallExpr &expr, const Call &call, const std::vector<AbstractValue> &args);
  static AbstractValue all(const std::vector<AbstractValue> &operands);
  void requireStructural(const Expr &expr, const AbstractValue &value, const std::string &what,
                         const std::string &hint);
  void requireElements(const Expr &expr, const Type *type, const AbstractValue &value,
                       const std::string &cell, bool inList = false);
  void markEnded(AbstractValue &result, const Expr &expr, const AbstractValue &list);
  void requireLength(const Expr &expr, const AbstractValue &list, const std::string &use);
  void requireLengths(const Expr &expr, const AbstractValue &value, const std::string &use);
  void checkOrigin(const CallExpr &expr, const AbstractValue &logits);
  std::string quote(const Expr &expr) const { return reporter_.quote(expr); }
  /// Null where the rule is reported for this location already.
  Diagnostic *error(SourceRange range, const std::string &message, const std::string &rule);

  CheckedProgram &out_;
  const File &main_;
  Reporter &reporter_;
  Env env_;
  const FuncInfo *cell_ = nullptr; ///< the cell whose body is followed, through fns
  AbstractValue layer_;            ///< of which layer of a table the function is that is followed
  std::vector<SourceRange> callers_;
  std::set<const FuncInfo *> seen_;
  std::map<std::string, AbstractValue> results_;
  std::set<std::pair<uint64_t, std::string>> reported_;
  CellCalls cellCalls_;
  Descent descent_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_STRUCTURECHECKER_H
