// Binding of dims (N5) and what the checker leaves for that moment.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"

#include <gtest/gtest.h>

using namespace dbc::frontend;

namespace {

/// "name=value .." of all dims of the model, or what is reported.
std::string bound(const std::string &source, const std::map<std::string, int64_t> &given) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto program = loadProgramText("m.dyn", source, {}, sources, diags);
  if (!program)
    return diags.str();
  auto checked = check(*program, diags);
  DiagnosticEngine sizes(sources);
  auto values = bindDims(*checked, given, sizes);
  if (!values)
    return "\n" + sizes.str();
  std::string out;
  for (const Binding *dim : checked->dims)
    out += dim->name + "=" + std::to_string(*dim->shape.evaluate(*values)) + " ";
  return out;
}

const char *const kModel = "model m;\n"
                           "dim vocab, hidden = 150, d = 2 * hidden;\n"
                           "entry f(x: f32[vocab, d]) -> f32 { sum(x) }\n";

} // namespace

TEST(Sizes, DefaultsAndGiven) {
  EXPECT_EQ(bound(kModel, {{"vocab", 10}}), "vocab=10 hidden=150 d=300 ");
  EXPECT_EQ(bound(kModel, {{"vocab", 10}, {"hidden", 4}}), "vocab=10 hidden=4 d=8 ");
}

TEST(Sizes, WithoutValue) {
  EXPECT_EQ(bound(kModel, {}), R"(
m.dyn:2:5: error: dim `vocab` has no value [N5]
    dim vocab, hidden = 150, d = 2 * hidden;
        ^~~~~
hint: give it one: `-Dvocab=100`, in CMake `DIMS vocab=100`
)");
}

TEST(Sizes, DimsMadeOfOthersAreNotSet) {
  EXPECT_EQ(bound(kModel, {{"vocab", 10}, {"d", 10}}), R"(
m.dyn:2:26: error: `-Dd` sets a dim that is made of others: it is `2 * hidden` [N5]
    dim vocab, hidden = 150, d = 2 * hidden;
                             ^
hint: set the dims that it is made of
)");
}

TEST(Sizes, UnknownDim) {
  EXPECT_EQ(bound(kModel, {{"vocab", 10}, {"hiden", 10}}), R"(
dbc: error: `-Dhiden`: the model has no dim of this name [N5]
hint: did you mean `hidden`?
)");
}

TEST(Sizes, OutOfRange) {
  EXPECT_EQ(bound(kModel, {{"vocab", 0}, {"hidden", 1ll << 31}}), R"(
m.dyn:2:5: error: dim `vocab` is 0; every dim is at least 1 [T1]
    dim vocab, hidden = 150, d = 2 * hidden;
        ^~~~~
m.dyn:2:12: error: dim `hidden` is 2147483648; a dim is below 2^31 [T1]
    dim vocab, hidden = 150, d = 2 * hidden;
               ^~~~~~
)");
  EXPECT_EQ(bound("model m;\ndim a = 2, b = a - 3;\nentry f(x: f32[b]) -> f32 { sum(x) }\n", {}), R"(
m.dyn:2:12: error: dim `b`, which is `a - 3`, is -1 at these sizes [T1]
    dim a = 2, b = a - 3;
               ^
)");
}

// What holds at some sizes only is left for lowering, in the dims of the function.
TEST(Sizes, ChecksLeft) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto program = loadProgramText(
      "m.dyn", "model m;\ndim n;\nentry f(x: f32[n]) -> f32 { x[3] + sum(x[2..5]) }\n", {}, sources, diags);
  ASSERT_TRUE(program);
  auto checked = check(*program, diags);
  EXPECT_EQ(diags.str(), "");
  std::string left;
  for (const SizeCheck &size : checked->functions[0]->sizeChecks)
    left += size.atLeast0.str() + " >= 0: " + size.message + "\n";
  EXPECT_EQ(left, "n - 4 >= 0: index `3` is out of range: the axis has extent `n`\n"
                  "n - 5 >= 0: the slice `2..5` ends behind the axis, which has extent `n`\n");
}
