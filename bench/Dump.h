// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The inputs of a workload for programs that are not linked with it.
#pragma once

#include "bench/Workload.h"

#include <string>

namespace dbc::bench {

/// The columns of `inputs` as one JSON object, with the entry and where they come from: {"entry", "data",
/// "tables":
/// [{"name", "begin", "kinds", "columns": [{"name", "target", "extent", "offsets", "values"}]}]}, as Inputs.h
/// has them. The arguments' table comes last and its name is empty.
std::string dump(const std::string &entry, const std::string &data, const Inputs &inputs);

} // namespace dbc::bench
