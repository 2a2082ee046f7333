// Reading case files; loading and checking a text.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace dbc::frontend::checktest {

namespace {

std::string readFile(const std::string &path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<Case> readCases(const std::filesystem::path &path) {
  std::vector<Case> cases;
  std::istringstream in(readFile(path.string()));
  bool inSource = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("=== ", 0) == 0) {
      cases.push_back({path.stem().string(), line.substr(4), "", ""});
      inSource = true;
    } else if (line == "---") {
      inSource = false;
    } else if (!cases.empty()) {
      (inSource ? cases.back().source : cases.back().expected) += line + "\n";
    }
  }
  return cases;
}

std::string checkAndPrint(const std::string &path, const std::string &text) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  LoadOptions options;
  options.libraryDir = DBC_SOURCE_DIR "/dsl/lib";
  auto program = loadProgramText(path, text, options, sources, diags);
  if (program)
    check(*program, diags);
  // The library's location depends on the machine.
  std::string printed = diags.str();
  const std::string library = options.libraryDir + "/";
  for (size_t at; (at = printed.find(library)) != std::string::npos;)
    printed.replace(at, library.size(), "LIB/");
  return printed;
}

std::vector<Case> &mutableCases() {
  static std::vector<Case> cases = [] {
    std::vector<std::filesystem::path> files;
    for (auto &entry : std::filesystem::directory_iterator(DBC_CHECK_TESTS))
      if (entry.path().extension() == ".cases")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    std::vector<Case> all;
    for (auto &file : files)
      for (Case &one : readCases(file))
        all.push_back(std::move(one));
    return all;
  }();
  return cases;
}

} // namespace

const std::vector<Case> &allCases() { return mutableCases(); }

void update(const Case &one, const std::string &found) {
  std::string path = std::string(DBC_CHECK_TESTS) + "/" + one.file + ".cases";
  std::string old = readFile(path);
  std::string text = old.substr(0, old.find("=== "));
  for (Case &other : mutableCases()) {
    if (other.file != one.file)
      continue;
    if (other.title == one.title)
      other.expected = found;
    text += "=== " + other.title + "\n" + other.source + "---\n" + other.expected;
  }
  std::ofstream(path) << text;
}

std::string diagnostics(const std::string &source) { return checkAndPrint("m.dyn", source); }

std::string diagnosticsOfFile(const std::string &path) {
  return checkAndPrint(std::filesystem::path(path).filename().string(), readFile(path));
}

} // namespace dbc::frontend::checktest
