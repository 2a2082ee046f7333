// The models of the design parse, into the trees that lie beside them. DBC_UPDATE=1 writes the trees anew, to
// be read before they are committed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/syntax/Parse.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace dbc::frontend;

namespace {

class Models : public ::testing::TestWithParam<const char *> {};

} // namespace

TEST_P(Models, Tree) {
  std::string name = GetParam();
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto file = parseFile(sources.add(name + ".dyn", parsetest::input(name + ".dyn")), diags);
  ASSERT_TRUE(file) << diags.str();
  std::ostringstream out;
  dump(*file, out);
  if (std::getenv("DBC_UPDATE"))
    std::ofstream(DBC_PARSE_INPUTS "/" + name + ".tree") << out.str();
  EXPECT_EQ(out.str(), parsetest::input(name + ".tree"));
}

INSTANTIATE_TEST_SUITE_P(Design, Models,
                         ::testing::Values("tree_lstm", "sick", "tagger", "graphs", "crf", "up_down", "cky",
                                           "lattice", "translate"),
                         [](const auto &info) { return std::string(info.param); });
