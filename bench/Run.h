// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Measuring one workload.
#pragma once

#include "bench/Machine.h"
#include "bench/Options.h"
#include "bench/Report.h"
#include "bench/Workload.h"

#include <string>
#include <vector>

namespace dbc::bench {

/// Measures all cases of the workload that the options ask for, prints their tables to stderr and appends
/// their rows. Returns an empty string, or why it stopped.
std::string run(const std::string &name, const Workload &workload, const Options &options, Machine &machine,
                std::vector<Row> &rows);

/// Where the data sets lie: $DBC_DATA, else ../shared/data.
std::string data_folder();

/// As many of the first inputs as the slow reference should compute: one, then more while they are cheap.
Inputs for_reference(const Workload &workload, const Inputs &inputs);

} // namespace dbc::bench
