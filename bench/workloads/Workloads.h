// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// All workloads by name.
#pragma once

#include "bench/Machine.h"
#include "bench/Options.h"
#include "bench/Report.h"

#include <string>
#include <vector>

namespace dbc::bench {

struct Workload {
  const char *name;
  /// Measures all its cases that the options ask for, prints their tables to stderr and appends their rows.
  /// Returns an empty string, or why it stopped.
  std::string (*run)(const Options &options, Machine &machine, std::vector<Row> &rows);
};

const std::vector<Workload> &workloads();

std::string run_tree_lstm(const Options &options, Machine &machine, std::vector<Row> &rows);

} // namespace dbc::bench
