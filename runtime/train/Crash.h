// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What dbc and the trainers that it makes say of mistakes that are dbc's own.
#pragma once

namespace dbc::train {

/// From now on a signal of a crash has this program say so, with the command line and a request to report it,
/// and exit with 70. Once, at the beginning.
void report_crashes(int argc, char **argv);

/// Says the same of an exception that nobody expects.
void report_internal_error(const char *what);

} // namespace dbc::train
