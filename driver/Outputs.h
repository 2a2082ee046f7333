// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files that a command writes, which must be none that it reads and no two the same.
#pragma once

#include "driver/Commands.h"

namespace dbc::driver {

/// Whether two paths lead to one file, by whatever way: links, other spellings, a file that is not there yet.
/// A device or a pipe is none: it may be written as often as one likes.
bool isSameFile(const std::string &a, const std::string &b);

/// Which output of the command line is the model, a file that another option reads or another output, in
/// words; empty if none is.
std::string findOverwritten(const Options &options);

/// Refuses outputs that are files of the model, as its imported modules: kUsage after a message. `files` are
/// those that were read.
Exit refuseOverwriting(const Options &options, const std::vector<std::string> &files);

} // namespace dbc::driver
