// ANTLR's trees, for who needs what the syntax tree leaves out. Private to frontend/syntax and
// frontend/format: it shows ANTLR types.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_PARSETREE_H
#define DBC_FRONTEND_PARSETREE_H

#include "frontend/syntax/Parse.h"
#include "frontend/syntax/Tokens.h"

#include <functional>

namespace dbc::frontend {

/// Is shown the tree of the header, then that of each import and declaration as they stand in the file;
/// together they hold all its tokens, each once. A tree is gone when the next one comes.
using SeeTree = std::function<void(antlr4::ParserRuleContext &tree, const TokenRanges &ranges)>;

/// parseFile, which shows each tree that it makes, up to the first error.
std::unique_ptr<File> parseFile(uint32_t file, DiagnosticEngine &diags, const SeeTree &see);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_PARSETREE_H
