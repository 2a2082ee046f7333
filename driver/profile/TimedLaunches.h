// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The launches of a run that was logged: of which time step they are, and when they ran.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <dbc/profile.h>
#include <vector>

namespace dbc::driver {

/// One timed launch of a stage, or of a loop that a device runs at once.
struct TimedLaunch {
  struct Part {
    int32_t stage = 0;
    int64_t rows = 0; ///< of all time steps
  };
  std::vector<Part> parts; ///< its stages, by their numbers; of the first the rows may be 0
  int32_t step = 0;        ///< its first time step in its sub-batch, from 0
  int32_t steps = 1;       ///< time steps that it computes
  TimeSpan span;

  /// Of all its stages and time steps.
  int64_t rows() const;
};

/// The launches of a log that was timed, by the time when they began.
std::vector<TimedLaunch> timedLaunches(const LaunchLog &log);

/// Calls `each`(sub-batch, time step, launch) with the launches of a stage, by their numbers in the log.
void eachLaunch(const LaunchLog &log, size_t stage, llvm::function_ref<void(size_t, size_t, size_t)> each);

} // namespace dbc::driver
