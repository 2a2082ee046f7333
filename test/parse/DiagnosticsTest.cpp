// How diagnostics are sorted, counted and printed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Diagnostics.h"

#include <gtest/gtest.h>

using namespace dbc::frontend;

namespace {

struct DiagnosticsTest : ::testing::Test {
  SourceManager sources;
  DiagnosticEngine diags{sources};
  std::string printed() { return "\n" + diags.str(); }
};

} // namespace

// Message, rule, underlined range, notes, hint.
TEST_F(DiagnosticsTest, Whole) {
  uint32_t f = sources.add("a/m.dyn", "let xs = 1;\nlet y = ys;\n");
  diags.error({f, 20, 22}, "`ys` is not declared", "N1")
      .note({f, 4, 6}, "`xs` is declared here")
      .hint("did you mean `xs`?");
  EXPECT_EQ(printed(), R"(
a/m.dyn:2:9: error: `ys` is not declared [N1]
    let y = ys;
            ^~
a/m.dyn:1:5: note: `xs` is declared here
    let xs = 1;
        ^~
hint: did you mean `xs`?
)");
}

// Columns and underlines count code points; a tab stays a tab in the line of the underline.
TEST_F(DiagnosticsTest, TabsAndUtf8) {
  uint32_t f = sources.add("m.dyn", "\t/* \xC3\xA9\xE2\x82\xAC */ \xC3\xA9t\xC3\xA9 x\r\n");
  diags.error({f, 13, 18}, "here");
  EXPECT_EQ(printed(), "\nm.dyn:1:11: error: here\n    \t/* \xC3\xA9\xE2\x82\xAC */ \xC3\xA9t\xC3\xA9 x\n    "
                       "\t         ^~~\n");
}

// What a terminal would obey is not printed, nor bytes that are not UTF-8 (the column counts the first of
// them).
TEST_F(DiagnosticsTest, ControlCharacters) {
  uint32_t f = sources.add("m.dyn", "a \x1B[31m \xFF \x80 b");
  diags.error({f, 12, 13}, "here");
  EXPECT_EQ(printed(), R"(
m.dyn:1:12: error: here
    a ?[31m ? ? b
                ^
)");
}

// A range over several lines is underlined on its first; an empty one gets a caret, at the end of the text
// too.
TEST_F(DiagnosticsTest, Ranges) {
  uint32_t f = sources.add("m.dyn", "ab cd\nef\n");
  diags.error({f, 3, 8}, "several lines");
  diags.error({f, 1, 1}, "empty");
  diags.error({f, 9, 9}, "the end");
  EXPECT_EQ(printed(), R"(
m.dyn:1:2: error: empty
    ab cd
     ^
m.dyn:1:4: error: several lines
    ab cd
       ^~
m.dyn:3:1: error: the end
    
    ^
)");
}

// Very long lines are cut round the location.
TEST_F(DiagnosticsTest, LongLine) {
  uint32_t f = sources.add("m.dyn", std::string(500, 'a') + "b" + std::string(500, 'c'));
  diags.error({f, 500, 501}, "here");
  std::string shown = std::string(80, 'a') + "b" + std::string(79, 'c');
  EXPECT_EQ(printed(),
            "\nm.dyn:1:501: error: here\n    ..." + shown + "...\n       " + std::string(80, ' ') + "^\n");
}

// Sorted by file and location; without a location first; the same at the same location once.
TEST_F(DiagnosticsTest, Order) {
  uint32_t f = sources.add("m.dyn", "a b c");
  diags.warning({f, 4, 5}, "third", "E2");
  diags.error({f, 0, 1}, "first");
  diags.remark({f, 2, 3}, "second");
  diags.error({f, 0, 1}, "first");
  diags.error({}, "before all");
  EXPECT_EQ(printed(), R"(
dbc: error: before all
m.dyn:1:1: error: first
    a b c
    ^
m.dyn:1:3: note: second
    a b c
      ^
m.dyn:1:5: warning: third [E2]
    a b c
        ^
)");
  EXPECT_EQ(diags.errorCount(), 3u);
}

// Beyond the limit errors are counted, and warnings apart from them.
TEST_F(DiagnosticsTest, Limit) {
  uint32_t f = sources.add("m.dyn", "abc\n");
  diags.setLimit(1);
  for (uint32_t i = 0; i < 3; ++i) {
    diags.error({f, i, i + 1}, "wrong");
    if (i < 2)
      diags.warning({f, i, i + 1}, "odd");
  }
  EXPECT_EQ(printed(), R"(
m.dyn:1:1: error: wrong
    abc
    ^
m.dyn:1:1: warning: odd
    abc
    ^
dbc: 2 more errors
dbc: 1 more warning
)");
}

TEST(EditDistance, Counts) {
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("hidden", "hiden"), 1u);
  EXPECT_EQ(editDistance("hidden", "hiddne"), 1u); // two neighbours swapped
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

// A suggestion is near; of equally near names it is the first.
TEST(NearestName, Chooses) {
  EXPECT_EQ(nearestName("hiden", {"embed", "hidden", "hide"}), "hidden");
  EXPECT_EQ(nearestName("x", {"y", "z"}), "");
  EXPECT_EQ(nearestName("xs", {"x", "ys"}), "x");
  EXPECT_EQ(nearestName("vocabulary", {"vocab", "classes"}), "");
  EXPECT_EQ(didYouMean("sigmod", {"sigmoid"}), "did you mean `sigmoid`?");
  EXPECT_EQ(didYouMean("sigmod", {}), "");
}
