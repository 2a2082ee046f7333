// Every kind of diagnostic of the checker, with its whole text: the cases of *.cases. DBC_UPDATE=1 writes
// what is found into the files, to be read before it is committed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>

using namespace dbc::frontend::checktest;

namespace {

class Cases : public ::testing::TestWithParam<size_t> {};

std::string testName(const ::testing::TestParamInfo<size_t> &info) {
  const Case &one = allCases()[info.param];
  std::string name = one.file + "_" + one.title;
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)))
      c = '_';
  return name;
}

} // namespace

TEST_P(Cases, WholeText) {
  const Case &one = allCases()[GetParam()];
  std::string found = diagnostics(one.source);
  if (std::getenv("DBC_UPDATE") && found != one.expected)
    update(one, found);
  EXPECT_EQ(found, one.expected) << one.source;
}

// A node says in a byte which constructor it is. (Too long for a case.)
TEST(Cases, Constructors) {
  auto model = [](int constructors) {
    std::string text = "model m;\ndata T {\n";
    for (int i = 0; i < constructors; ++i)
      text += "  C" + std::to_string(i) + "(x: f32);\n";
    return text + "}\nentry f(t: T) -> f32 { 1 }\n";
  };
  EXPECT_EQ(diagnostics(model(256)).find("error"), std::string::npos);
  EXPECT_EQ(diagnostics(model(258)),
            "m.dyn:259:3: error: `T` has 258 constructors; a data type has at most 256 [D1]\n"
            "      C256(x: f32);\n"
            "      ^~~~\n");
}

INSTANTIATE_TEST_SUITE_P(Check, Cases, ::testing::Range(size_t(0), allCases().size()), testName);
