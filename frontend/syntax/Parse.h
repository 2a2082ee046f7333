// From text to syntax tree.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_PARSE_H
#define DBC_FRONTEND_PARSE_H

#include "frontend/syntax/Ast.h"
#include "frontend/syntax/Diagnostics.h"

#include <memory>

namespace dbc::frontend {

/// What a source file may be at most. Beyond these a diagnostic is given instead of exhausting memory or the
/// machine stack; whoever walks the tree recursively may rely on them: no expression is deeper than kMaxDepth
/// + a small constant for each bracket level.
constexpr size_t kMaxFileBytes = 8u << 20;
constexpr unsigned kMaxBrackets = 256; ///< brackets of any kind open at one position
constexpr unsigned kMaxDepth =
    1000; ///< operators, calls, `else if`s .. that lie inside one another in one expression

/// Parses the text of a file that `diags.sources()` knows. Reports every syntax error it can find without
/// guessing (about one a declaration). Returns null if it reported an error. Throws nothing.
std::unique_ptr<File> parseFile(uint32_t file, DiagnosticEngine &diags);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_PARSE_H
