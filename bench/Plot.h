// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "bench/Report.h"

#include <string>
#include <vector>

namespace dbc::bench {

/// The rows as bars, an SVG: a panel for each workload, mode, hidden size and number of threads, in it a
/// group for each batch size, a bar an implementation, as high as its inputs a second. Implementations that
/// are absent everywhere have no bar. `measured_on` stands below.
std::string plot(const std::vector<Row> &rows, const std::string &measured_on);

} // namespace dbc::bench
