// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What programs have in common that time batches: their arguments, how often, medians, and a profile.
#pragma once

#include "Lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace dbc::gpu {

/// Batches that are interleaved, so that none finds its own rows in the device's cache.
constexpr size_t kBatches = 8;
/// Times that a path is measured, whatever the seconds.
constexpr size_t kLeast = 20, kMost = 2000;

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// A model and batches of lines, of the arguments ENTRY INPUTS BATCH SECONDS. The code outlives it.
struct TimedProgram {
  TimedProgram(int argc, char **argv, const ModelCode &code)
      : program(checked(argc, argv)[1], code), size(static_cast<size_t>(std::atoi(argv[3]))),
        seconds(std::atof(argv[4])),
        batches(
            batches_of(*code.info, program.info(), read_lines(argv[2], kBatches * size), size, kBatches)) {}
  Program program;
  size_t size; ///< lines of a batch
  double seconds;
  std::deque<LineBatch> batches;

private:
  static char **checked(int argc, char **argv) {
    expect(argc == 5, std::string("usage: ") + argv[0] + " ENTRY INPUTS BATCH SECONDS");
    expect(std::atoi(argv[3]) > 0 && std::atof(argv[4]) > 0, "BATCH and SECONDS are above 0");
    return argv;
  }
};

/// Prints the stages of a batch as members of a JSON array. Each launch waits for its end, so their sum is
/// above what batches take. Gives the profile of all batches.
inline RunProfile print_stages(Session &session, TimedProgram &timed) {
  session.time_stages(true);
  RunProfile profile;
  for (LineBatch &batch : timed.batches) {
    expect(session.run(timed.program.entry, batch.batch));
    profile.add(session.profile(timed.program.entry));
  }
  session.time_stages(false);
  const auto count = static_cast<double>(timed.batches.size());
  for (const StageProfile &stage : profile.stages)
    std::printf("%s{\"name\": \"%s\", \"launches\": %.1f, \"rows\": %.1f, \"us\": %.2f}",
                &stage == &profile.stages[0] ? "" : ", ", stage.name,
                static_cast<double>(stage.launches) / count, static_cast<double>(stage.rows) / count,
                1e-3 * static_cast<double>(stage.ns) / count);
  return profile;
}

} // namespace dbc::gpu
