// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/ReportPage.h"
#include "driver/Files.h"
#include "driver/surroundings/Surroundings.h"
#include "frontend/syntax/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

/// What report.html has in place of the data.
static constexpr llvm::StringLiteral kDataPlace = "@REPORT_DATA@";

/// Reserved words and comments of a text, as JavaScript counts: in units of UTF-16.
static void addWords(llvm::StringRef text, llvm::json::Object &source) {
  llvm::json::Array words, comments;
  size_t byte = 0, unit = 0;
  auto unitOf = [&](size_t wanted) {
    for (; byte < wanted; ++byte) {
      const auto c = static_cast<unsigned char>(text[byte]);
      unit += (c & 0xc0) == 0x80 ? 0 : c >= 0xf0 ? 2 : 1;
    }
    return static_cast<int64_t>(unit);
  };
  for (const frontend::WordSpan &span : frontend::findWords(text)) {
    const int64_t begin = unitOf(span.begin), end = unitOf(span.end);
    (span.comment ? comments : words).push_back(llvm::json::Array{begin, end});
  }
  source["words"] = std::move(words);
  source["comments"] = std::move(comments);
}

llvm::Error addSources(llvm::json::Object &data, const std::string &command,
                       const std::vector<std::string> &files) {
  // A file that is no UTF-8 is shown with U+FFFD in those places.
  auto valid = [](llvm::StringRef text) { return llvm::json::fixUTF8(text); };
  llvm::json::Array sources;
  for (const std::string &file : llvm::reverse(files)) {
    llvm::Expected<std::string> text = readFile(file);
    if (!text)
      return text.takeError();
    const std::string shown = valid(*text);
    llvm::json::Object source{
        {"name", valid(llvm::sys::path::filename(file))}, {"path", valid(file)}, {"text", shown}};
    addWords(shown, source);
    sources.push_back(std::move(source));
  }
  data["command"] = valid(command);
  data["sources"] = std::move(sources);
  return llvm::Error::success();
}

/// JSON in which HTML finds nothing that it would read as its own: in JSON these stand in strings alone.
static std::string forScript(llvm::json::Object data) {
  std::string json, out;
  llvm::raw_string_ostream(json) << llvm::json::Value(std::move(data));
  for (char c : json)
    out += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
  return out;
}

llvm::Error writePage(const std::string &path, llvm::json::Object data) {
  llvm::Expected<std::string> page = readFile(surroundings().page);
  if (!page)
    return page.takeError();
  const auto [before, behind] = llvm::StringRef(*page).split(kDataPlace);
  return writeFile(path, (before + forScript(std::move(data)) + behind).str());
}

} // namespace dbc::driver
