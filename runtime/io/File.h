// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files for the readers and writers here: plain reads that know their errors, and writes that are whole or
// not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace dbc::io {

/// A file open for reading; closed when it goes.
class InputFile {
public:
  InputFile() = default;
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  /// False with the reason in `error` ("cannot read `path`: No such file or directory"). Only regular files.
  bool open(const std::string &path, std::string &error);
  uint64_t size() const { return size_; }
  /// Reads exactly `n` bytes at `offset`; false when that fails or the file has become shorter.
  bool read(uint64_t offset, void *to, uint64_t n, std::string &error);

private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// A file written under a temporary name beside `path` and renamed when whole and on the disk: whenever the
/// machine stops, `path` is what it was or what it became. Without commit() nothing is left. A link stays
/// one: what it leads to is replaced, and keeps its mode. Devices and pipes are written as they are, never renamed
/// over.
class OutputFile {
public:
  OutputFile() = default;
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  bool open(const std::string &path, std::string &error);
  bool write(const void *from, uint64_t n, std::string &error);
  /// Brings all of it to the disk, still under the temporary name: what may fail for lack of room has not.
  bool finish(std::string &error);
  /// After finish(): gives it its name.
  bool commit(std::string &error);

private:
  bool fail(const char *what, std::string &error);
  bool open_in_place(std::string &error);
  bool sync_folder() const;
  std::string path_;      ///< as messages call it
  std::string place_;     ///< where it is renamed to: path_, or what a link of this name leads to
  std::string temporary_; ///< empty if it is written in place
  int fd_ = -1;
};

} // namespace dbc::io
