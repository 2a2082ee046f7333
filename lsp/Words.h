// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dbc::lsp {

/// The reserved words that a declaration begins with, and those inside of expressions.
const std::vector<std::string> &declarationWords();
const std::vector<std::string> &expressionWords();
bool isReserved(std::string_view word);

/// What a name is made of, after a first letter or `_`.
bool isNameCharacter(char c);
bool isDigit(char c);
bool isName(std::string_view text);

} // namespace dbc::lsp
