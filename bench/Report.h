// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The rows that dbc-bench writes, and the table that people read.
#pragma once

#include "bench/Measure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dbc::bench {

/// One line of the result; its fields are the keys of the JSON object.
struct Row {
  std::string workload, impl, mode;
  int32_t hidden = 0, batch = 0, threads = 1;
  std::optional<double> per_second;           ///< inputs a second; none: absent
  std::optional<double> spread;               ///< see Timing
  std::optional<double> schedule_ns_per_node; ///< none: absent, or it does no scheduling
  std::optional<double> limit_share;          ///< see limit_share()
  std::string data;
};

/// What all rows of a case share.
struct Case {
  std::string workload, mode, data;
  int32_t hidden = 0, batch = 0, threads = 1;
  int32_t inputs = 0;    ///< of a pass
  int64_t instances = 0; ///< of a pass: what scheduling is counted by, see Workload
  double flops = 0;      ///< of a pass, in the products
};

/// The share of the limit that a contestant reaches: the time of the products alone / its own. None if either
/// is not known, or if it computes other products than those, as `dbc-table` and `dbc-bf16` do.
std::optional<double> limit_share(const Contestant &contestant, const Timing &timing,
                                  const Measurement &found);

std::vector<Row> rows(const Case &shared, const std::vector<Contestant> &contestants,
                      const Measurement &found);

/// The table of one case: speeds, how far they scatter, share of sgemm's speed, ratios.
std::string table(const Case &shared, const std::vector<Contestant> &contestants, const Measurement &found);

/// A JSON array with a row a line.
std::string json(const std::vector<Row> &rows);

} // namespace dbc::bench
