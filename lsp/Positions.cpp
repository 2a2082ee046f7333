// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Positions.h"

#include <algorithm>

namespace dbc::lsp {

static bool continuesCharacter(char byte) { return (byte & 0xC0) == 0x80; }

/// How many UTF-16 code units the character takes that begins with this byte.
static int unitsOf(char byte) { return static_cast<unsigned char>(byte) >= 0xF0 ? 2 : 1; }

Positions::Positions(std::string_view text) : text_(text), lineBegins_{0}, isAscii_{true} {
  for (uint32_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))) {
      lineBegins_.push_back(i + 1);
      isAscii_.push_back(true);
    } else if (text[i] & 0x80) {
      isAscii_.back() = false;
    }
}

uint32_t Positions::lineEnd(size_t line) const {
  if (line + 1 == lineBegins_.size())
    return static_cast<uint32_t>(text_.size());
  uint32_t end = lineBegins_[line + 1] - 1;
  return end > lineBegins_[line] && text_[end] == '\n' && text_[end - 1] == '\r' ? end - 1 : end;
}

protocol::Position Positions::position(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  while (offset > 0 && offset < text_.size() && continuesCharacter(text_[offset]))
    --offset;
  auto next = std::upper_bound(lineBegins_.begin(), lineBegins_.end(), offset);
  const size_t line = next - lineBegins_.begin() - 1;
  if (isAscii_[line])
    return {static_cast<int>(line), static_cast<int>(offset - lineBegins_[line])};
  int character = 0;
  for (uint32_t i = lineBegins_[line]; i < offset; ++i)
    if (!continuesCharacter(text_[i]))
      character += unitsOf(text_[i]);
  return {static_cast<int>(line), character};
}

uint32_t Positions::offset(protocol::Position position) const {
  if (position.line < 0)
    return 0;
  const size_t line = position.line;
  if (line >= lineBegins_.size())
    return static_cast<uint32_t>(text_.size());
  const uint32_t end = lineEnd(line);
  uint32_t at = lineBegins_[line];
  if (isAscii_[line])
    return static_cast<uint32_t>(std::min<int64_t>(end, int64_t(at) + std::max(position.character, 0)));
  for (int left = position.character; at < end; ++at) {
    if (continuesCharacter(text_[at]))
      continue;
    left -= unitsOf(text_[at]);
    if (left < 0)
      break;
  }
  return at;
}

} // namespace dbc::lsp
