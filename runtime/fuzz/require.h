// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How a fuzz target says that something does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

namespace dbc::fuzz {

/// Ends the program with `what` where a condition does not hold, which a fuzzer keeps the input of.
inline void require(bool holds, const std::string &what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

} // namespace dbc::fuzz
