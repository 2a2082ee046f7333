// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Profiles for people and for programs.
#pragma once

#include <dbc/profile.h>

#include <string>

namespace dbc {

/// A line for each stage, under a line of headings: launches, rows, bytes read and written, gathers; where
/// the stages were timed also their time in ms, their share of the whole and the GFLOP/s of their products,
/// and after them what scheduling took. Lines end in '\n'. Throws std::bad_alloc.
std::string profile_table(const RunProfile &profile);

/// The same as one JSON object in one line: {"nodes", "rounds", "schedule_ns", "compute_ns", "stages":
/// [{"name", "launches", "rows", "bytes_read", "bytes_written", "gathers", "operations", "ns", "gflops"}]};
/// "gflops" is null where there is no time or no product. Throws std::bad_alloc.
std::string profile_json(const RunProfile &profile);

} // namespace dbc
