// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_CHECKERBASE_H
#define DBC_FRONTEND_CHECKERBASE_H

#include "frontend/check/Check.h"
#include "frontend/check/Reporter.h"

namespace dbc::frontend {

/// Base of the checker's classes: what each of them writes to, and short names for reports.
class CheckerBase {
protected:
  CheckerBase(CheckedProgram &out, Reporter &reporter) : out_(out), types_(out.types), reporter_(reporter) {}

  Diagnostic &error(SourceRange range, std::string message, std::string rule) {
    return reporter_.error(range, std::move(message), std::move(rule));
  }
  /// Source text, or a type, in backticks.
  template <typename T> std::string quote(const T &what) const { return reporter_.quote(what); }
  /// Reports, and gives the type of what is wrong.
  const Type *refuse(SourceRange range, std::string message, std::string rule, std::string hint = "") {
    error(range, std::move(message), std::move(rule)).hint(std::move(hint));
    return fail();
  }
  /// The same, with a note of the type of each operand.
  const Type *refuseOperands(const std::vector<const Expr *> &operands, SourceRange range,
                             std::string message, std::string rule, std::string hint = "") {
    reporter_.noteOperands(error(range, std::move(message), std::move(rule)), operands).hint(std::move(hint));
    return fail();
  }
  /// The type of what has been reported.
  const Type *fail() const { return types_.error(); }

  CheckedProgram &out_;
  TypeContext &types_;
  Reporter &reporter_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_CHECKERBASE_H
