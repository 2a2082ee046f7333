// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What two states of one text have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dbc::lsp {

/// How many bytes two texts have alike at their begins and at their ends; those at the end are none of those
/// at the begin. Takes time O(shorter text).
struct CommonEnds {
  uint32_t prefix = 0, suffix = 0;
};
CommonEnds commonEnds(std::string_view a, std::string_view b);

/// How a text became another: one stretch of it has changed. What lies before and behind it is found, nothing
/// inside. All numbers are bytes.
class Change {
public:
  Change(std::string_view then, std::string_view now);

  /// Where a byte of the text as it was is now; of a range that begins or ends there.
  std::optional<uint32_t> nowOfBegin(uint32_t then) const;
  std::optional<uint32_t> nowOfEnd(uint32_t then) const;
  /// Where a byte of the text as it is was then.
  std::optional<uint32_t> then(uint32_t now) const;
  /// The same; inside of what has changed the byte where that begins.
  uint32_t nearestThen(uint32_t now) const;

private:
  bool isSame_;
  uint32_t then_, now_; ///< sizes
  CommonEnds same_;
};

} // namespace dbc::lsp
