// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Source.h"

#include <algorithm>

namespace dbc::frontend {

SourceFile::SourceFile(std::string path, std::string text) : path_(std::move(path)), text_(std::move(text)) {
  lineBegins_.push_back(0);
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n')
      lineBegins_.push_back(i + 1);
}

LineColumn SourceFile::lineColumn(uint32_t offset) const {
  offset = std::min(offset, static_cast<uint32_t>(text_.size()));
  auto next = std::upper_bound(lineBegins_.begin(), lineBegins_.end(), offset);
  uint32_t line = static_cast<uint32_t>(next - lineBegins_.begin());
  uint32_t column = 1;
  for (uint32_t i = lineBegin(line); i < offset; ++i)
    column += (text_[i] & 0xC0) != 0x80; // bytes that continue a code point are not counted
  return {line, column};
}

std::string_view SourceFile::line(uint32_t number) const {
  uint32_t begin = lineBegin(number);
  uint32_t end = number < lineBegins_.size() ? lineBegins_[number] - 1 : static_cast<uint32_t>(text_.size());
  if (end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t SourceManager::add(std::string path, std::string text) {
  files_.emplace_back(std::move(path), std::move(text));
  return size() - 1;
}

std::string_view SourceManager::text(SourceRange range) const {
  return std::string_view(files_[range.file].text()).substr(range.begin, range.end - range.begin);
}

} // namespace dbc::frontend
