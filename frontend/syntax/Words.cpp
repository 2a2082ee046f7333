// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Words.h"

#include "frontend/syntax/Tokens.h"

#include "DynLexer.h"
#include "antlr4-runtime.h"

#include <algorithm>

namespace dbc::frontend {

/// Adds the comments of a piece that has them and white space alone: what the lexer skips.
static void addComments(std::string_view text, size_t at, size_t end, std::vector<WordSpan> &spans) {
  while ((at = std::min(text.find('/', at), end)) < end) {
    const bool line = text.substr(at, 2) == "//";
    const size_t close = line ? text.find('\n', at) : text.find("*/", at + 2);
    const size_t stop = close == std::string_view::npos ? end : line ? close : close + 2;
    spans.push_back({at, std::min(stop, end), true});
    at = stop;
  }
}

std::vector<WordSpan> findWords(std::string_view text) {
  constexpr std::string_view mark = "\xef\xbb\xbf"; // of the byte order, which ANTLR would not take
  const size_t skipped = text.substr(0, mark.size()) == mark ? mark.size() : 0;
  antlr4::ANTLRInputStream input(lexerText(text.substr(skipped)));
  syntax::DynLexer lexer(&input);
  lexer.removeErrorListeners();
  std::vector<WordSpan> spans;
  // ANTLR counts code points.
  size_t byte = skipped, codePoint = 0;
  auto byteOf = [&](size_t wanted) {
    for (; codePoint < wanted; ++codePoint)
      do
        ++byte;
      while (byte < text.size() && (static_cast<unsigned char>(text[byte]) & 0xc0) == 0x80);
    return byte;
  };
  for (size_t end = skipped;;) {
    const std::unique_ptr<antlr4::Token> token = lexer.nextToken();
    if (token->getType() == antlr4::Token::EOF) {
      addComments(text, end, text.size(), spans);
      return spans;
    }
    const size_t begin = byteOf(token->getStartIndex());
    addComments(text, end, begin, spans);
    end = byteOf(token->getStopIndex() + 1);
    if (isReservedWord(token->getType()))
      spans.push_back({begin, end, false});
  }
}

} // namespace dbc::frontend
