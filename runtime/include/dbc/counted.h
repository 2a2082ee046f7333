// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Numbers with their nouns, for messages and reports.
#pragma once

#include <string>

namespace dbc {

/// An integer and what it counts: "1 stage", "2 stages". `many` is what more than one and none are called,
/// where that is not `one` with an s: `counted(n, "batch", "batches")`, `counted(n, "line does", "lines
/// do")`.
template <class Integer>
std::string counted(Integer count, const std::string &one, const char *many = nullptr) {
  return std::to_string(count) + " " + (count == 1 ? one : many != nullptr ? many : one + "s");
}

} // namespace dbc
