// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What programs of these tests say when something does not hold.
#pragma once

#include <cstdio>
#include <cstdlib>

/// Ends the program with `what` where something does not hold.
inline void require(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}
