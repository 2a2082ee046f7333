// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Files.h"
#include "driver/surroundings/Surroundings.h"
#include "runtime/train/WholeFiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace dbc::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error failure(const std::string &file, std::error_code error) {
  return llvm::createStringError(error, file + ": " + error.message());
}

llvm::Expected<std::string> readFile(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(file, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return failure(file, buffer.getError());
  return (*buffer)->getBuffer().str();
}

llvm::Error LineReader::open(const std::string &path) {
  path_ = path;
  std::ios::sync_with_stdio(false); // nobody else reads stdin; it is slow otherwise
  in_ = &std::cin;
  if (path == "-")
    return llvm::Error::success();
  file_.open(path, std::ios::binary);
  in_ = &file_;
  return file_ ? llvm::Error::success() : failure(path, std::error_code(errno, std::generic_category()));
}

llvm::Error LineReader::read(size_t most, std::vector<std::string> &lines) {
  lines.clear();
  errno = 0;
  std::string line;
  while (lines.size() < most) {
    if (blank_ > 0 && !held_.empty()) { // what stands in front of the line held
      lines.emplace_back();
      --blank_;
    } else if (!held_.empty()) {
      lines.push_back(std::exchange(held_, ""));
    } else if (!std::getline(*in_, line)) {
      break;
    } else if (llvm::StringRef(line).trim().empty()) {
      ++blank_;
    } else if (blank_ > 0) {
      held_ = std::move(line);
    } else {
      lines.push_back(std::move(line));
    }
  }
  return in_->bad() ? failure(path_, std::error_code(errno, std::generic_category()))
                    : llvm::Error::success();
}

llvm::Error flushStdout() {
  llvm::outs().flush();
  std::error_code error = llvm::outs().error();
  if (!error)
    return llvm::Error::success();
  llvm::outs().clear_error();
  return failure("stdout", error);
}

llvm::Error writeFile(const std::string &file, llvm::StringRef text) {
  Status written = train::write_file(file, text.str());
  return written.ok() ? llvm::Error::success() : llvm::createStringError(written.message);
}

llvm::Error makeFolder(const std::string &folder) {
  if (std::error_code error =
          fs::create_directories(folder, /*IgnoreExisting=*/true, fs::all_all)) // less umask
    return failure(folder, error);
  return llvm::Error::success();
}

/// A folder in the one for temporary files, where others may have made it first.
static llvm::Expected<std::string> makePrivateFolder() {
  llvm::SmallString<128> temporary;
  path::system_temp_directory(/*erasedOnReboot=*/true, temporary);
  std::string folder = joinPath(temporary, "dbc-" + std::to_string(geteuid()));
  if (std::error_code error = fs::create_directory(folder, /*IgnoreExisting=*/true, fs::owner_all))
    return failure(folder, error);
  struct stat found;
  if (lstat(folder.c_str(), &found) != 0)
    return failure(folder, std::error_code(errno, std::generic_category()));
  if (!S_ISDIR(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & (S_IRWXG | S_IRWXO)))
    return llvm::createStringError(folder + ": is not a folder that only you can use; set HOME, or "
                                            "XDG_CACHE_HOME to a folder for compiled models");
  return folder;
}

llvm::Expected<std::string> makeCacheFolder() {
  using llvm::sys::Process;
  std::string folder;
  if (auto cache = Process::GetEnv("XDG_CACHE_HOME"); cache && !cache->empty())
    folder = joinPath(*cache, "dbc");
  else if (auto home = Process::GetEnv("HOME"); home && !home->empty())
    folder = joinPath(*home, ".cache/dbc");
  else
    return makePrivateFolder();
  if (llvm::Error error = makeFolder(folder))
    return error;
  return folder;
}

std::string hashOf(const std::vector<std::string> &texts) {
  llvm::BLAKE3 hash;
  for (const std::string &text : texts) {
    hash.update(std::to_string(text.size()) + ":");
    hash.update(text);
  }
  return llvm::toHex(hash.final<16>(), /*LowerCase=*/true);
}

} // namespace dbc::driver
