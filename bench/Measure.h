// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// First whether all implementations of a case compute the same numbers, then how fast they are.
#pragma once

#include "bench/Implementation.h"
#include "bench/Parameters.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dbc::bench {

/// Difference between results that is taken for rounding: max |a - b| / max(1, max |b|).
constexpr double kTolerance = 1e-4;

/// An implementation that takes part, under its name in the rows.
struct Contestant {
  std::string impl;
  std::unique_ptr<Implementation> implementation; ///< null: absent on this machine
  std::string note{};                             ///< what it is, or why it is absent; may be empty
  double tolerance = kTolerance;                  ///< how far its results may be off, see check
};

/// Of one contestant over all rounds.
struct Timing {
  std::optional<double> seconds;          ///< of a pass, the median; none if absent
  std::optional<double> spread;           ///< (75th - 25th percentile) / median of the rounds' seconds
  std::optional<double> schedule_seconds; ///< of a pass, the median; none if it does no scheduling
  std::optional<double> schedule_spread;  ///< as `spread`
};

/// Runs every contestant once (which also warms it up) and compares: the first contestant with `reference`,
/// which may cover fewer inputs, and all others with the first. `values` is the number of results of a pass.
/// Returns an empty string, or which contestant differs and by how much.
std::string check(std::vector<Contestant> &contestants, size_t values, const std::vector<double> &reference);

/// After `check` of trainings, whose implementations have then all made the same steps: compares how far each
/// parameter has moved from where it was in `start`, all contestants with the first. Per parameter,
/// max |a - b| / max |b - start| is taken for rounding up to the same tolerance, where |a - b| counts beyond
/// one place of the largest weight's float, to which steps round. A parameter that the first has left as it
/// was must be as it was. Returns as `check` does.
std::string check_trained(const std::vector<Contestant> &contestants, const Parameters &start);

/// What `measure` found.
struct Measurement {
  std::vector<Timing> timings; ///< a contestant
  int32_t rounds = 0;
  double sgemm = 0;               ///< median of what `sgemm` gave
  std::optional<double> products; ///< seconds of a pass's products alone, see ProductLimit; none: not known
  std::string products_by;        ///< the libraries that they were computed with
};

/// Interleaves runs of the contestants, A B C A B C ..., until each has had `seconds` on average and at least
/// five rounds. `sgemm` is called once a round and says in GFLOP/s how fast the machine is just then.
/// `values` as for `check`. Before each pass it waits for `pause` seconds, which are not counted: threads of
/// the contestant before may still be awake, waiting for work, and would take processors away.
Measurement measure(std::vector<Contestant> &contestants, size_t values, double seconds,
                    const std::function<double()> &sgemm, double pause = 0);

/// The value below which a share of `share` lies, by straight lines between the values. For tests.
double quantile(std::vector<double> values, double share);

} // namespace dbc::bench
