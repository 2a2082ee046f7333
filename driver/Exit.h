// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Exit codes of the tools, and how an error is told.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include <dbc/status.h>

namespace dbc::driver {

enum Exit : int {
  kFine = 0,
  kUserError = 1, ///< the user's model, data or files are wrong, or `verify` found a difference
  kUsage = 2,     ///< the command line is wrong
  kInternal = 70  ///< a mistake in dbc
};

/// Prints "dbc: error: <message>" to stderr, behind what waits for stdout.
void printError(const llvm::Twine &message);
/// Prints an error's words and returns the exit code that belongs to it.
Exit fail(llvm::Error error, Exit code = kUserError);
Exit fail(const Status &status);

} // namespace dbc::driver
