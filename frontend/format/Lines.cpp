// Where lines begin.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/format/Lines.h"

#include <algorithm>

namespace dbc::frontend::layout {

static constexpr uint32_t kStep = 2;      ///< of the indentation
static constexpr uint32_t kColumns = 120; ///< of a line
/// What a line may have behind its indentation in any case, so that what is nested deeply does not become a
/// column.
static constexpr uint32_t kLeast = 40;

/// Code points of the last line of a text.
static uint32_t widthOf(std::string_view text) {
  const size_t lineEnd = text.rfind('\n');
  if (lineEnd != std::string_view::npos)
    text.remove_prefix(lineEnd + 1);
  return static_cast<uint32_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

Lines::Lines(Text &text) : text_(text), indent_(text.tokens.size()), lineOf_(text.tokens.size()) {}

void Lines::decide() {
  normalise();
  for (uint32_t i = 0; i < text_.tokens.size(); ++i)
    if (isBroken(i))
      breakAt(i);
  for (uint32_t gap : text_.groups[0].gaps)
    if (gap != 0)
      beginLineIn(gap);
  const uint32_t end = static_cast<uint32_t>(text_.tokens.size() - 1);
  for (uint32_t i = 0; i < end;)
    i = line(i);
}

/// Forgets the lines that the author began where none should.
void Lines::normalise() {
  std::vector<Token> &tokens = text_.tokens;
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    Token &token = tokens[i];
    const bool hasComments = text_.hasComments(i);
    if (i > 0 && tokens[i - 1].isOperator && token.before != Piece::Inline && !hasComments)
      beginLineIn(i - 1);
    const Group &group = text_.groups[token.group];
    if (!hasComments && (token.lineBreak == LineBreak::Never || (token.closes && !group.body)))
      token.before = Piece::Inline;
    // Empty lines stand between things and around comments, not at the ends of a group.
    if (token.before == Piece::Blank &&
        (token.closes || !(hasComments || (group.body && token.lineBreak == LineBreak::Item))))
      token.before = Piece::Line;
    Piece &first = hasComments ? text_.comments[token.comments].before : token.before;
    if (first == Piece::Blank && group.begins(i))
      first = Piece::Line;
  }
  // The file begins with what stands in it, and ends with a line end.
  (text_.hasComments(0) ? text_.comments.front().before : tokens.front().before) = Piece::Inline;
  tokens.back().before = Piece::Line;
}

bool Lines::isBroken(uint32_t token) const {
  const auto begin = text_.comments.begin();
  return text_.tokens[token].before != Piece::Inline ||
         std::any_of(begin + text_.commentsBegin(token), begin + text_.commentsEnd(token),
                     [](const Comment &comment) { return comment.before != Piece::Inline; });
}

/// Comments belong to what follows them, but for the last ones of a group.
void Lines::beginLineIn(uint32_t token) {
  if (isBroken(token))
    return;
  Token &behind = text_.tokens[token];
  const bool atComment = text_.hasComments(token) && !behind.closes;
  (atComment ? text_.comments[behind.comments].before : behind.before) = Piece::Line;
  firstChanged_ = std::min(firstChanged_, token);
}

void Lines::open(uint32_t group) {
  text_.groups[group].open = true;
  for (uint32_t gap : text_.groups[group].gaps)
    beginLineIn(gap);
}

/// Begins a line, and those that this entails: brackets of a list that has a line end of its own stand at
/// line ends, and so does all of a body that has one, be it deep inside.
void Lines::breakAt(uint32_t token) {
  beginLineIn(token);
  uint32_t group = text_.tokens[token].group;
  if (!text_.groups[group].open && !text_.groups[group].body)
    open(group);
  for (; group != kNone; group = text_.groups[group].parent) {
    if (!text_.groups[group].body)
      continue;
    if (text_.groups[group].open)
      return;
    open(group);
  }
}

uint32_t Lines::tokenIndentation(uint32_t token) const {
  const Token &t = text_.tokens[token];
  return t.anchor == kNone ? 0 : indent_[t.anchor] + kStep * t.deeper;
}

uint32_t Lines::commentIndentation(uint32_t token) const {
  const Token &t = text_.tokens[token];
  return tokenIndentation(token) + (t.closes && t.anchor != kNone ? kStep : 0);
}

/// Adds what comments of a token's gap take in a line.
void Lines::addComments(uint32_t token, uint32_t from, uint32_t &column) const {
  for (uint32_t k = from; k < text_.commentsEnd(token); ++k) {
    const std::string &comment = text_.comments[k].text;
    column = (comment.find('\n') == std::string::npos ? column + 1 : 0) + widthOf(comment);
  }
}

/// Sets the indentation of a line's first token; returns the column where the token begins.
uint32_t Lines::begin(uint32_t first) {
  if (text_.tokens[first].before != Piece::Inline)
    return indent_[first] = tokenIndentation(first);
  uint32_t from = text_.commentsEnd(first);
  while (from > text_.commentsBegin(first) && text_.comments[from - 1].before == Piece::Inline)
    --from;
  from = std::max(from, text_.commentsBegin(first) + 1) - 1;
  uint32_t column = indent_[first] = first == 0 ? 0 : commentIndentation(first);
  addComments(first, from, column);
  return column;
}

/// Whether a line begins with each thing in a group if one begins with this token, and none does yet.
bool Lines::opensGroup(uint32_t token) const {
  const Group &group = text_.groups[text_.tokens[token].group];
  return !group.open && group.begins(token);
}

/// Whether a line that is too long is rather ended here than before a token further ahead.
bool Lines::isBetter(uint32_t token, uint32_t than) const {
  const Token &a = text_.tokens[token], &b = text_.tokens[than];
  if (a.level != b.level)
    return a.level < b.level;
  if (!opensGroup(token) || !opensGroup(than))
    return opensGroup(token) || !opensGroup(than);
  return text_.groups[a.group].size > text_.groups[b.group].size;
}

/// Whether a line that is too long may be broken before a token.
bool Lines::mayBreakAt(uint32_t token) const {
  const LineBreak lineBreak = text_.tokens[token].lineBreak;
  return lineBreak == LineBreak::Wrap || (lineBreak == LineBreak::Item && opensGroup(token));
}

/// Breaks a line that is too long. Returns where to go on: lines that were fine may have changed.
uint32_t Lines::breakLine(uint32_t first, uint32_t at) {
  firstChanged_ = kNone;
  breakAt(at);
  const uint32_t group = text_.tokens[at].group;
  for (uint32_t other = text_.groups[group].next; other != kNone && other != group;
       other = text_.groups[other].next)
    breakAt(text_.groups[other].gaps.front());
  return std::min(first, lineOf_[firstChanged_ - 1]);
}

/// Looks at the line that begins with a token, and breaks it if it is too long: at the best place within its
/// width, else at the first behind that. Returns the first token of the first line that has yet to be looked
/// at.
uint32_t Lines::line(uint32_t first) {
  const uint32_t end = static_cast<uint32_t>(text_.tokens.size() - 1);
  uint32_t column = begin(first), best = kNone;
  const uint32_t width = std::max(kColumns, indent_[first] + kLeast);
  uint32_t i = first;
  for (; i < end && (i == first || !isBroken(i)); ++i) {
    if (i > first) {
      if (mayBreakAt(i) && (best == kNone || isBetter(i, best)))
        best = i;
      column += text_.tokens[i].space;
      addComments(i, text_.commentsBegin(i), column);
      indent_[i] = indent_[first];
    }
    lineOf_[i] = first;
    column += static_cast<uint32_t>(text_.tokens[i].text.size());
    if (column > width && best != kNone)
      return breakLine(first, best);
  }
  return i;
}

} // namespace dbc::frontend::layout
