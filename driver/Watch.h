// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `--watch`: a command again each time that a file changes which it may read.
#pragma once

#include "driver/Commands.h"

namespace dbc::driver {

/// Runs a command at once, and again whenever a file has changed that it reads: the model, the modules that it
/// imports, those of its options. Says on stderr what it waits for. Ends with the program, by a signal.
[[noreturn]] void watch(const Options &options, Exit (*command)(const Options &));

} // namespace dbc::driver
