// Syntax errors in the words of the source. Private to DbcFrontendSyntax: it shows ANTLR types.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SYNTAXERRORS_H
#define DBC_FRONTEND_SYNTAXERRORS_H

#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Tokens.h"

#include "DynParser.h"
#include "antlr4-runtime.h"

namespace dbc::frontend {

/// Stops a rule at its first wrong token: reports it and throws antlr4::ParseCancellationException. There is
/// no repair inside a declaration, for what is guessed there makes errors that the user did not.
///
/// The grammar is LL(1) and nothing is skipped or inserted, so that parser state and rule context at the
/// wrong token say exactly what could have stood there.
class SyntaxErrors : public antlr4::ANTLRErrorStrategy {
public:
  SyntaxErrors(const TokenRanges &ranges, DiagnosticEngine &diags) : ranges_(ranges), diags_(diags) {}

  /// Index of the token that stopped the last rule.
  size_t stoppedAt() const { return stoppedAt_; }

  void reset(antlr4::Parser *) override { reported_ = false; }
  antlr4::Token *recoverInline(antlr4::Parser *parser) override;
  void recover(antlr4::Parser *parser, std::exception_ptr e) override;
  void sync(antlr4::Parser *) override {}
  bool inErrorRecoveryMode(antlr4::Parser *) override { return false; }
  void reportMatch(antlr4::Parser *) override {}
  void reportError(antlr4::Parser *parser, const antlr4::RecognitionException &e) override;

private:
  const TokenRanges &ranges_;
  DiagnosticEngine &diags_;
  bool reported_ = false;
  size_t stoppedAt_ = 0;
};

/// A token as messages name what was found: "`;`", "the reserved word `layer`", "the end of the file".
std::string foundText(antlr4::Token *token, const TokenRanges &ranges, const DiagnosticEngine &diags);

/// Where to point for a token that is missing before `found`: at `found`, or if that stands on a later line,
/// behind what comes before it.
SourceRange missingAt(antlr4::Token *before, antlr4::Token *found, const TokenRanges &ranges,
                      const DiagnosticEngine &diags);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SYNTAXERRORS_H
