// Which parts of a text an editor gives colours.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_WORDS_H
#define DBC_FRONTEND_WORDS_H

#include <cstddef>
#include <string_view>
#include <vector>

namespace dbc::frontend {

/// Bytes begin .. end - 1 of a text that are a reserved word or a comment.
struct WordSpan {
  size_t begin = 0, end = 0;
  bool comment = false;
};

/// Reserved words and comments of a text, in their order, as the lexer finds them. The text must be UTF-8; it
/// need not be a valid model, and a comment that is not closed is none.
std::vector<WordSpan> findWords(std::string_view text);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_WORDS_H
