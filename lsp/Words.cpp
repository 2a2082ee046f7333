// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Words.h"

#include <algorithm>

namespace dbc::lsp {

const std::vector<std::string> &declarationWords() {
  static const std::vector<std::string> words = {"model", "module", "import", "dim",   "const",
                                                 "data",  "record", "param",  "layer", "fn",
                                                 "cell",  "entry",  "loss"};
  return words;
}

const std::vector<std::string> &expressionWords() {
  static const std::vector<std::string> words = {"let", "if",    "else", "match", "in",
                                                 "by",  "while", "true", "false"};
  return words;
}

bool isReserved(std::string_view word) {
  auto has = [&](const std::vector<std::string> &words) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  return has(declarationWords()) || has(expressionWords());
}

bool isNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_';
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

bool isName(std::string_view text) {
  return !text.empty() && text != "_" && !isDigit(text[0]) &&
         std::all_of(text.begin(), text.end(), isNameCharacter);
}

} // namespace dbc::lsp
