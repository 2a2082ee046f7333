// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The clock of profiles.
#pragma once

#include <chrono>
#include <cstdint>

namespace dbc {

/// Nanoseconds of the steady clock.
inline int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace dbc
