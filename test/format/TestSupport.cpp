// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/format/Format.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

namespace dbc::frontend::formattest {

std::string formatted(const std::string &source) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  std::optional<std::string> once = format(sources.add("m.dyn", source), sources, diags);
  EXPECT_EQ(once.has_value(), !diags.hasErrors());
  if (!once)
    return diags.str();
  EXPECT_EQ(format(sources.add("m.dyn", *once), sources, diags), once);
  return *once;
}

std::string declarations(const std::string &text) {
  const std::string head = "model m;\n", all = formatted(head + text);
  return all.compare(0, head.size(), head) == 0 ? all.substr(head.size()) : all;
}

std::string expression(const std::string &text) {
  const std::string head = "fn f() -> f32 {\n", all = declarations(head + text + "\n}");
  const std::string body = all.substr(head.size(), all.size() - head.size() - 2);
  return std::regex_replace(body, std::regex("(^|\n)  "), "$1");
}

std::vector<std::string> words(const std::string &text) {
  static const std::regex word(R"(//[^\n]*|/\*([^*]|\*(?!/))*\*/|[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?|\w+|)"
                               R"(->|=>|\.\.|\|\||&&|==|!=|<=|>=|\+\+|\S)");
  static const std::regex ends(R"([ \t\r]+(?=\n|$))");
  std::vector<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), word); at != std::sregex_iterator(); ++at)
    found.push_back(std::regex_replace(at->str(), ends, ""));
  return found;
}

static std::vector<SourceText> readRepository() {
  std::vector<SourceText> all;
  for (const char *room : {"bench", "docs", "dsl", "examples", "test"})
    for (const auto &entry :
         std::filesystem::recursive_directory_iterator(DBC_SOURCES "/" + std::string(room)))
      if (entry.path().extension() == ".dyn") {
        std::ostringstream text;
        text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
        all.push_back({entry.path().string(), text.str()});
      }
  return all;
}

const std::vector<SourceText> &repository() {
  static const std::vector<SourceText> all = readRepository();
  return all;
}

} // namespace dbc::frontend::formattest
