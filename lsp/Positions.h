// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Positions as the protocol counts them, lines from 0 and UTF-16 code units, and as the front end does:
// bytes.
#pragma once

#include "llvm/Support/LSP/Protocol.h"
#include <cstdint>
#include <string_view>
#include <vector>

namespace dbc::lsp {

namespace protocol = llvm::lsp;

/// Converts between the two for one text, which must outlive it. Takes time O(text) once, and for each
/// question O(line) where the line has other characters than ASCII's, else the time to find the line.
class Positions {
public:
  explicit Positions(std::string_view text);

  /// Of a byte offset. One inside a character counts as its begin, one behind the text as its end.
  protocol::Position position(uint32_t offset) const;
  /// The range of the bytes [begin, end).
  protocol::Range range(uint32_t begin, uint32_t end) const { return {position(begin), position(end)}; }
  /// The byte offset of a position. As the protocol says, one behind a line's end is that end; one behind the
  /// last line is the text's end, one before the first its begin.
  uint32_t offset(protocol::Position position) const;

private:
  uint32_t lineEnd(size_t line) const; ///< before its `\n`, `\r\n` or `\r`

  std::string_view text_;
  std::vector<uint32_t> lineBegins_;
  std::vector<bool> isAscii_; ///< of each line
};

} // namespace dbc::lsp
