// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files that the tools read and write.
#pragma once

#include "llvm/Support/Error.h"
#include <fstream>
#include <string>
#include <vector>

namespace dbc::driver {

/// The whole file.
llvm::Expected<std::string> readFile(const std::string &path);

/// The lines of a file, read as they are asked for; "-" is stdin. What follows the last '\n' is a line if it
/// is not empty.
class LineReader {
public:
  llvm::Error open(const std::string &path);
  /// Puts the next lines, `most` at most, into `lines`; none at the end. Blank lines at the end of a file are
  /// none.
  llvm::Error read(size_t most, std::vector<std::string> &lines);

private:
  std::string path_;
  std::ifstream file_;
  std::istream *in_ = nullptr;
  std::string held_; ///< the line behind blank ones, which are given first
  size_t blank_ = 0; ///< blank lines that were read and not given
};

/// Writes what waits for stdout. An error if it cannot be written; the rest is then thrown away.
llvm::Error flushStdout();

/// Writes a file by way of a temporary one beside it, so that nobody ever sees half of it, and leaves it
/// alone (its time of change too) if it has this text already. A device or a pipe is written as it is.
llvm::Error writeFile(const std::string &path, llvm::StringRef text);

/// Makes a folder and those above it.
llvm::Error makeFolder(const std::string &path);

/// Makes the cache's folder: $XDG_CACHE_HOME/dbc, else $HOME/.cache/dbc, else one among temporary files. What
/// lies there is loaded as code, so the last is refused unless it belongs to this user and nobody else may
/// write to it.
llvm::Expected<std::string> makeCacheFolder();

/// A hash of texts, 32 hexadecimal digits. Where one text ends and the next begins counts.
std::string hashOf(const std::vector<std::string> &texts);

} // namespace dbc::driver
