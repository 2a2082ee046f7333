// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Options of the command line that do not go together.
#pragma once

#include "driver/Commands.h"
#include <CLI/CLI.hpp>
#include <string>

namespace dbc::driver {

/// Why options do not go together: the first reason, or an empty text. `app` has parsed them.
std::string clashOf(const Options &options, const CLI::App &app);

} // namespace dbc::driver
