// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Profiles for people and for programs.
#pragma once

#include <dbc/profile.h>

#include <cstdint>
#include <string>
#include <vector>

namespace dbc {

/// What the runs of a profile are predicted to take on a device, in microseconds without copies.
struct PredictedProfile {
  std::string device;                            ///< "h100"
  int64_t constants = 0, measured_constants = 0; ///< of the device, that predictions are made of
  std::string path;                              ///< that the runs took: "levels" or "loops"
  std::string measured_on;                       ///< what the profile's own times are of: "gpu" or "cpu"
  int64_t batches = 0;
  double us = 0; ///< of all batches, with what each begins with
  /// Of each stage, by its number. A persistent kernel's stands where its time does, at its first stage.
  std::vector<double> stages_us;
};

/// A line for each stage, under a line of headings: launches, rows, bytes read and written, gathers; where
/// the stages were timed also their time in ms, their share of the whole and the GFLOP/s of their products,
/// and after them what scheduling took. With what was predicted times are in us and the prediction stands
/// beside each, "-" where a stage has no time of its own: a loop that is one launch of a device is timed as a
/// whole, at its first stage. Lines end in '\n'. Throws std::bad_alloc.
std::string profile_table(const RunProfile &profile, const PredictedProfile *predicted = nullptr);

/// The same as one JSON object in one line: {"nodes", "rounds", "schedule_ns", "compute_ns", "stages":
/// [{"name", "launches", "rows", "bytes_read", "bytes_written", "gathers", "operations", "ns", "gflops"}]};
/// "gflops" is null where there is no time or no product; a stage of the backward pass has "backward": true.
/// With what was predicted also "predicted":
/// {"device", "constants", "measured_constants", "path", "measured_on", "batches", "us"}, and of each stage
/// "predicted_us", null where there is no time. Throws std::bad_alloc.
std::string profile_json(const RunProfile &profile, const PredictedProfile *predicted = nullptr);

} // namespace dbc
