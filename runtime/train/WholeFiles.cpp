// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "WholeFiles.h"
#include "../io/File.h"
#include "../io/Result.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <unistd.h>

#define XXH_INLINE_ALL // nothing to link
#include <xxhash.h>

namespace dbc::train {

namespace fs = std::filesystem;

using io::failure;

/// A file open by number; closed when it goes.
struct Descriptor {
  Descriptor(const std::string &path, int flags) : number(::open(path.c_str(), flags | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0)
      ::close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  const int number;
};

/// What errno says of a file.
static Status said_of(const std::string &path) {
  const int why = errno;
  return failure(path + ": " + std::strerror(why));
}

Status read_file(const std::string &path, std::string &text) {
  const Descriptor file(path, O_RDONLY);
  if (file.number < 0)
    return said_of(path);
  text.clear();
  std::error_code unknown; // the size of a pipe
  const auto size = fs::file_size(path, unknown);
  text.resize(unknown ? 0 : size);
  for (size_t end = 0;;) {
    if (end == text.size())
      text.resize(end + (size_t(1) << 16));
    const ssize_t got = ::read(file.number, &text[end], text.size() - end);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return said_of(path);
    end += static_cast<size_t>(got);
    if (got == 0) {
      text.resize(end);
      return Status();
    }
  }
}

Status write_file(const std::string &path, const std::string &text) {
  std::error_code none;
  const bool is_regular = fs::is_regular_file(path, none); // a device is not read
  if (std::string old; is_regular && read_file(path, old).ok() && old == text)
    return Status();
  std::string error; // in other words than ours
  io::OutputFile file;
  const bool done = file.open(path, error) && file.write(text.data(), text.size(), error) &&
                    file.finish(error) && file.commit(error);
  return done ? Status() : said_of(path);
}

Status make_folder(const std::string &path) {
  std::error_code error;
  fs::create_directories(path, error);
  return error ? failure(path + ": " + error.message()) : Status();
}

bool exists(const std::string &path) {
  std::error_code none;
  return fs::exists(path, none);
}

std::string hash_of(const std::string &text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  std::string digits;
  for (const unsigned char byte : bytes.digest) {
    digits += "0123456789abcdef"[byte / 16];
    digits += "0123456789abcdef"[byte % 16];
  }
  return digits;
}

} // namespace dbc::train
