// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files that a training reads and writes as a whole.
#pragma once

#include <dbc/status.h>

#include <string>

namespace dbc::train {

/// The whole file, be it a pipe.
Status read_file(const std::string &path, std::string &text);

/// Writes a file by way of a temporary one beside it, so that nobody ever sees half of it, and leaves it
/// alone (its time of change too) if it has this text already. What was written is there even if the machine
/// fails afterwards. A device or a pipe is written as it is.
Status write_file(const std::string &path, const std::string &text);

/// Makes a folder and those above it.
Status make_folder(const std::string &path);

/// Whether there is something of that name.
bool exists(const std::string &path);

/// A hash of a text, 32 hexadecimal digits: XXH3 with 128 bits. It tells files apart that were cut or changed
/// by mistake, not on purpose.
std::string hash_of(const std::string &text);

} // namespace dbc::train
