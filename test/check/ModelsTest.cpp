// What the checker says about whole models: nothing, or what lies in test/check/models (of models that use
// parts of the language that are refused for now).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace dbc::frontend::checktest;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> models() {
  std::vector<std::string> found;
  for (const char *folder : {"test/parse/Inputs", "test/models", "examples"}) {
    fs::path root = fs::path(DBC_SOURCE_DIR) / folder;
    if (!fs::exists(root))
      continue;
    for (auto &entry : fs::recursive_directory_iterator(root))
      if (entry.path().extension() == ".dyn")
        found.push_back(entry.path().string());
  }
  found.push_back(DBC_SOURCE_DIR "/dsl/lib/nn.dyn");
  std::sort(found.begin(), found.end());
  return found;
}

/// The model's path in the repository, with `_` for what is no letter or digit.
std::string nameOf(const std::string &path) {
  std::string name = path.substr(std::string(DBC_SOURCE_DIR).size() + 1);
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

class Models : public ::testing::TestWithParam<std::string> {};

} // namespace

TEST_P(Models, Checks) {
  std::string found = diagnosticsOfFile(GetParam());
  std::string path = std::string(DBC_CHECK_TESTS) + "/models/" + nameOf(GetParam()) + ".expected";
  if (std::getenv("DBC_UPDATE")) {
    if (found.empty())
      fs::remove(path);
    else
      std::ofstream(path) << found;
  }
  std::ostringstream expected;
  if (fs::exists(path))
    expected << std::ifstream(path).rdbuf();
  EXPECT_EQ(found, expected.str());
}

INSTANTIATE_TEST_SUITE_P(Check, Models, ::testing::ValuesIn(models()),
                         [](const auto &info) { return nameOf(info.param); });
