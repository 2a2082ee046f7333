// Source texts and locations in them: what every diagnostic and every syntax node points at.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SOURCE_H
#define DBC_FRONTEND_SOURCE_H

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::frontend {

/// A stretch of one source file, in bytes: [begin, end). `file` is an id that SourceManager gave out.
struct SourceRange {
  static constexpr uint32_t kNoFile = ~0u;
  uint32_t file = kNoFile;
  uint32_t begin = 0;
  uint32_t end = 0;

  /// False for things that stand in no file (options of the command line).
  bool valid() const { return file != kNoFile; }
  /// From the start of this range to the end of `last`, which lies in the same file.
  SourceRange to(SourceRange last) const { return {file, begin, last.end}; }
  bool operator==(const SourceRange &o) const { return file == o.file && begin == o.begin && end == o.end; }
};

/// Line and column, both from 1; the column counts code points.
struct LineColumn {
  uint32_t line = 1;
  uint32_t column = 1;
};

/// One text that was read, and where its lines begin.
class SourceFile {
public:
  SourceFile(std::string path, std::string text);

  /// The path as it is printed: what the user wrote, or the import directory joined with the module's name.
  const std::string &path() const { return path_; }
  const std::string &text() const { return text_; }
  /// An offset behind the text counts as its end.
  LineColumn lineColumn(uint32_t offset) const;
  /// The text of a line (from 1) without its line end.
  std::string_view line(uint32_t number) const;
  /// Byte offset at which a line (from 1) begins.
  uint32_t lineBegin(uint32_t number) const { return lineBegins_[number - 1]; }

private:
  std::string path_;
  std::string text_;
  std::vector<uint32_t> lineBegins_;
};

/// Owns all texts of one run of the compiler. References stay valid as files are added. Not thread-safe.
class SourceManager {
public:
  /// Takes a text over; returns its file id.
  uint32_t add(std::string path, std::string text);
  const SourceFile &file(uint32_t id) const { return files_[id]; }
  uint32_t size() const { return static_cast<uint32_t>(files_.size()); }
  /// The text that a valid range covers.
  std::string_view text(SourceRange range) const;

private:
  std::deque<SourceFile> files_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SOURCE_H
