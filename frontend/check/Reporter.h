// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_REPORTER_H
#define DBC_FRONTEND_REPORTER_H

#include "frontend/check/Types.h"
#include "frontend/syntax/Diagnostics.h"

namespace dbc::frontend {

/// Reports what is wrong, in the words of the source. While something is only tried out, nobody sees it.
class Reporter {
public:
  explicit Reporter(DiagnosticEngine &diags) : shown_(diags), diags_(&diags) {}

  Diagnostic &error(SourceRange range, std::string message, std::string rule) {
    return diags_->error(range, std::move(message), std::move(rule));
  }
  /// What the application sees, also while something is tried out.
  DiagnosticEngine &shown() { return shown_; }

  /// While it lives, what is reported goes nowhere.
  class Trial {
  public:
    explicit Trial(Reporter &reporter)
        : reporter_(reporter), scratch_(reporter.shown_.sources()), outer_(reporter.diags_) {
      reporter.diags_ = &scratch_;
    }
    Trial(const Trial &) = delete;
    Trial &operator=(const Trial &) = delete;
    ~Trial() { reporter_.diags_ = outer_; }

  private:
    Reporter &reporter_;
    DiagnosticEngine scratch_;
    DiagnosticEngine *outer_;
  };
  bool isTrying() const { return diags_ != &shown_; }

  std::string text(SourceRange range) const { return std::string(shown_.sources().text(range)); }
  /// Source text in backticks; what is long or spans lines is cut.
  std::string quote(SourceRange range) const;
  std::string quote(const Expr &expr) const { return quote(expr.range); }
  /// `let (a, _) = x;`, which takes the first component of a tuple; `what` is x as quote() gives it.
  std::string letComponent(const Type *tuple, const std::string &what) const;
  /// A type in backticks.
  static std::string quote(const Type *type) { return "`" + type->str() + "`"; }

  /// Notes the type of each operand.
  Diagnostic &noteOperands(Diagnostic &diagnostic, const std::vector<const Expr *> &operands) const;
  /// Where types differ in dims of one name, says which each means.
  void noteNamesakes(Diagnostic &diagnostic, const Type *a, const Type *b) const;

private:
  DiagnosticEngine &shown_;
  DiagnosticEngine *diags_; ///< shown_, or that of a Trial
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_REPORTER_H
