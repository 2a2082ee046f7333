// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Exit codes of the tools.
#pragma once

namespace dbc::driver {

enum Exit : int {
  kFine = 0,
  kUserError = 1, ///< the user's model, data or files are wrong, or `verify` found a difference
  kUsage = 2,     ///< the command line is wrong
  kInternal = 70  ///< a mistake in dbc
};

} // namespace dbc::driver
