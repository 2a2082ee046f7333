// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What two states of one text have in common.
#pragma once

#include <cstdint>
#include <string_view>

namespace dbc::lsp {

/// How many bytes two texts have alike at their begins and at their ends; those at the end are none of those
/// at the begin. Takes time O(shorter text).
struct CommonEnds {
  uint32_t prefix = 0, suffix = 0;
};
CommonEnds commonEnds(std::string_view a, std::string_view b);

} // namespace dbc::lsp
