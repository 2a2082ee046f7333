// Where lines begin, and how far they are indented.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_FORMAT_LINES_H
#define DBC_FRONTEND_FORMAT_LINES_H

#include "frontend/format/Text.h"

namespace dbc::frontend::layout {

/// Changes the pieces of a text's gaps, and opens its groups, so that
///  * no line begins where none may, and each thing of the file begins one;
///  * a body that a line begins in is open, and so is a list of which one begins in a gap of its own;
///  * no line is too long that has a place where it may be broken.
/// What satisfies this is left as it is. Takes time linear in the text.
class Lines {
public:
  explicit Lines(Text &text);
  void decide();
  /// Columns in front of a comment or token that begins a line, in the gap of a token; decide() must have
  /// been there.
  uint32_t commentIndentation(uint32_t token) const;
  uint32_t tokenIndentation(uint32_t token) const;

private:
  void normalise();
  bool isBroken(uint32_t token) const;
  void beginLineIn(uint32_t token);
  void open(uint32_t group);
  void breakAt(uint32_t token);
  uint32_t line(uint32_t first);
  uint32_t breakLine(uint32_t first, uint32_t at);
  uint32_t begin(uint32_t first);
  void addComments(uint32_t token, uint32_t from, uint32_t &column) const;
  bool opensGroup(uint32_t token) const;
  bool mayBreakAt(uint32_t token) const;
  bool isBetter(uint32_t token, uint32_t than) const;

  Text &text_;
  std::vector<uint32_t> indent_;  ///< of the line that a token stands on
  std::vector<uint32_t> lineOf_;  ///< the token that begins that line
  uint32_t firstChanged_ = kNone; ///< the first gap that a line was begun in since this was kNone
};

} // namespace dbc::frontend::layout

#endif // DBC_FRONTEND_FORMAT_LINES_H
