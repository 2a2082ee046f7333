// A file as it is laid out: its tokens and comments, what stands between them, and where lines may begin.
//
// The white space in front of a token, with the comments in it, is the token's gap. Comments cut it into
// pieces, one in front of each comment and one in front of the token. A gap is broken if a line begins in one
// of its pieces.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_FORMAT_TEXT_H
#define DBC_FRONTEND_FORMAT_TEXT_H

#include "frontend/syntax/Diagnostics.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::frontend::layout {

constexpr uint32_t kNone = ~0u;

/// What a piece of a gap does.
enum class Piece : uint8_t {
  Inline, ///< nothing, or a space
  Line,   ///< begins a line
  Blank   ///< begins a line behind an empty one
};

/// Whether a line may begin in a gap. It may also in any that has comments.
enum class LineBreak : uint8_t {
  Never, ///< not
  Kept,  ///< where the author began one
  Wrap,  ///< the same, and where the line would become too long
  Item   ///< where a group is opened: in front of what stands in it
};

struct Comment {
  std::string text; ///< without white space at its end
  Piece before = Piece::Inline;
};

struct Token {
  size_t type;           ///< as ANTLR's parser has it; of the end of the file antlr4::Token::EOF
  std::string_view text; ///< in the source
  uint32_t comments = 0; ///< the first comment of its gap; they end with the first of the next token
  Piece before = Piece::Inline;
  bool space = true; ///< between it and what stands before it in a line
  LineBreak lineBreak = LineBreak::Never;
  bool closes = false;     ///< it closes a group
  bool isOperator = false; ///< a line goes on with it, not behind it
  uint32_t group = 0;      ///< the innermost that its gap lies in
  uint32_t level = 0;      ///< of the gap: lines are broken where it is lowest
  uint32_t anchor = kNone; ///< the token by whose line it is indented where it begins one; kNone: not at all
  uint32_t deeper = 0;     ///< by how many levels more
};

/// What stands in brackets.
struct Group {
  /// What stands in braces, apart from a record literal: all of it is on one line, or each thing in it begins
  /// one.
  bool body = false;
  bool open = false; ///< lines begin in its gaps
  uint32_t parent = kNone;
  uint32_t size = 0;     ///< in tokens
  uint32_t next = kNone; ///< in a ring of the bodies of one `if`
  /// Of a body: the gap of each thing in it and of its end; else that of the first thing and of the end.
  std::vector<uint32_t> gaps;
  bool begins(uint32_t token) const { return !gaps.empty() && gaps.front() == token; }
};

struct Text {
  std::vector<Token> tokens; ///< the last is the end of the file
  std::vector<Comment> comments;
  std::vector<Group> groups; ///< the first is the file, a body
  /// Comments of a token's gap.
  uint32_t commentsBegin(uint32_t token) const { return tokens[token].comments; }
  uint32_t commentsEnd(uint32_t token) const {
    return token + 1 < tokens.size() ? tokens[token + 1].comments : static_cast<uint32_t>(comments.size());
  }
  bool hasComments(uint32_t token) const { return commentsBegin(token) != commentsEnd(token); }
};

/// Reads a file that `diags.sources()` knows. Reports what parseFile reports; nothing if that is an error.
std::optional<Text> readText(uint32_t file, DiagnosticEngine &diags);

} // namespace dbc::frontend::layout

#endif // DBC_FRONTEND_FORMAT_TEXT_H
