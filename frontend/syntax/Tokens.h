// What happens between ANTLR's lexer and its parser. Private to DbcFrontendSyntax: it shows ANTLR types.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TOKENS_H
#define DBC_FRONTEND_TOKENS_H

#include "frontend/syntax/Diagnostics.h"

#include "DynParser.h"
#include "antlr4-runtime.h"

#include <string>
#include <string_view>
#include <vector>

namespace dbc::frontend {

/// Turns ANTLR's positions, which count code points, into byte ranges of one file.
class TokenRanges {
public:
  explicit TokenRanges(uint32_t file, const SourceFile &source);

  SourceRange of(antlr4::Token *token) const;
  SourceRange of(antlr4::Token *first, antlr4::Token *last) const { return of(first).to(of(last)); }
  SourceRange of(const antlr4::ParserRuleContext *ctx) const { return of(ctx->start, ctx->stop); }
  /// The file's without a byte order mark.
  std::string_view text() const { return text_; }
  uint32_t file() const { return file_; }

private:
  uint32_t byte(size_t codePoint) const;

  uint32_t file_;
  uint32_t skipped_; // bytes of the byte order mark
  std::string_view text_;
  std::vector<uint32_t> bytes_; // of each code point and of the end; empty where all are single bytes
};

/// The text that ANTLR is given for a piece of UTF-8: a byte for each code point, that character where it is
/// ASCII, else one that is no part of the language. What is not ASCII stands in comments or is an error, and
/// ANTLR's tables are for ASCII: of any other character it would ask its grammar anew, which takes thirty
/// times as long.
std::string lexerText(std::string_view text);

/// What a text must satisfy before it is cut into tokens: size, UTF-8, closed comments. Reports and returns
/// false otherwise.
bool checkText(uint32_t file, DiagnosticEngine &diags);

/// Refuses characters and numbers that are none of the language, and nesting that would exhaust the machine
/// stack; then gives the tokens that need a longer look ahead their types BINDER and LRECORD (dsl/Dyn.g4).
/// Returns false if it reported an error.
bool prepareTokens(const std::vector<antlr4::Token *> &tokens, const TokenRanges &ranges,
                   DiagnosticEngine &diags);

/// Whether a declaration begins with a token of this type.
bool beginsDeclaration(size_t type);

/// Whether the token is a reserved word.
bool isReservedWord(size_t type);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TOKENS_H
