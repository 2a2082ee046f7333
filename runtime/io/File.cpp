// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files by POSIX calls, see File.h.
#include "File.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace dbc::io {

namespace {
// One call moves at most this much; Linux stops at 2 GiB anyway.
constexpr uint64_t max_chunk = uint64_t(1) << 30;
} // namespace

InputFile::~InputFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

bool InputFile::open(const std::string &path, std::string &error) {
  path_ = path;
  // O_NONBLOCK: opening a pipe must not wait for its writer only to be refused.
  fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat about;
  if (fd_ < 0 || ::fstat(fd_, &about) != 0) {
    error = "cannot read `" + path + "`: " + std::strerror(errno);
    return false;
  }
  if (!S_ISREG(about.st_mode)) {
    error = "cannot read `" + path + "`: not a regular file";
    return false;
  }
  size_ = static_cast<uint64_t>(about.st_size);
  return true;
}

bool InputFile::read(uint64_t offset, void *to, uint64_t n, std::string &error) {
  char *at = static_cast<char *>(to);
  while (n > 0) {
    ssize_t got = ::pread(fd_, at, n < max_chunk ? n : max_chunk, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      error = "cannot read `" + path_ + "`: " + (got < 0 ? std::strerror(errno) : "the file ends too early");
      return false;
    }
    at += got;
    offset += static_cast<uint64_t>(got);
    n -= static_cast<uint64_t>(got);
  }
  return true;
}

OutputFile::~OutputFile() {
  if (fd_ >= 0)
    ::close(fd_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
}

bool OutputFile::fail(const char *what, std::string &error) {
  error = std::string("cannot ") + what + " `" + path_ + "`: " + std::strerror(errno);
  return false;
}

/// What is no regular file, or has no name: /dev/stdout once its file was deleted.
bool OutputFile::open_in_place(std::string &error) {
  fd_ = ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  return fd_ >= 0 || fail("write", error);
}

bool OutputFile::open(const std::string &path, std::string &error) {
  path_ = place_ = path;
  struct stat about;
  namespace fs = std::filesystem;
  const bool exists = ::stat(path.c_str(), &about) == 0;
  if (exists) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), std::free);
    if (!S_ISREG(about.st_mode) || !real)
      return open_in_place(error);
    place_ = real.get();
  } else if (errno == ELOOP) {
    return fail("write", error);
  } else { // perhaps a link that leads to nothing yet
    std::error_code none;
    for (int links = 0; links < 40 && fs::is_symlink(place_, none); ++links)
      place_ = fs::path(place_).parent_path() / fs::read_symlink(place_, none);
  }
  static std::atomic<unsigned> count{0};
  // O_EXCL and another name where one is taken; open() itself minds the umask, as mkstemp does not.
  do {
    temporary_ = place_ + ".tmp" + std::to_string(::getpid()) + "." + std::to_string(count++);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd_ < 0 && errno == EEXIST);
  if (fd_ < 0) {
    temporary_.clear();
    return fail("write", error);
  }
  if (exists) { // who may read it stays as it was; whose it is too, where that may be said
    (void)!::fchown(fd_, about.st_uid, about.st_gid);
    if (::fchmod(fd_, about.st_mode & 07777) != 0)
      return fail("write", error);
  }
  return true;
}

bool OutputFile::write(const void *from, uint64_t n, std::string &error) {
  const char *at = static_cast<const char *>(from);
  while (n > 0) {
    ssize_t put = ::write(fd_, at, n < max_chunk ? n : max_chunk);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return fail("write", error);
    at += put;
    n -= static_cast<uint64_t>(put);
  }
  return true;
}

bool OutputFile::finish(std::string &error) {
  // The contents are on the disk before the name is, or a machine that stops between would leave the name of
  // an empty file.
  if (::fsync(fd_) != 0 && !temporary_.empty()) // pipes and most devices know no such thing
    return fail("write", error);
  const int fd = fd_;
  fd_ = -1;
  return ::close(fd) == 0 || fail("write", error);
}

bool OutputFile::commit(std::string &error) {
  if (temporary_.empty())
    return true;
  if (::rename(temporary_.c_str(), place_.c_str()) != 0)
    return fail("write", error);
  temporary_.clear();
  return sync_folder() || fail("write", error);
}

bool OutputFile::sync_folder() const {
  const size_t slash = place_.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : place_.substr(0, slash + 1);
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return true;                                         // one that may be written to, but not read
  const bool done = ::fsync(fd) == 0 || errno == EINVAL; // EINVAL: a file system that knows no such thing
  const int why = errno;
  ::close(fd);
  errno = why;
  return done;
}

} // namespace dbc::io
