// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/profile/LoggedRunner.h"
#include <chrono>

namespace dbc::driver {

static int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Status LoggedRunner::computeBatch() {
  whole.begin = nowNs();
  Status status = CompiledRunner::computeBatch();
  whole.length = nowNs() - whole.begin;
  return status;
}

} // namespace dbc::driver
