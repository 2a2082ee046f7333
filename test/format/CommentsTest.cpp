// Comments and tokens survive, wherever the comments stand.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace dbc::frontend::formattest;

namespace {

bool isComment(const std::string &word) {
  return word.size() > 1 && word[0] == '/' && (word[1] == '/' || word[1] == '*');
}

/// The words of a text with a comment between any two of them, `every` so many, of the kind that `make` makes
/// of a number.
template <typename Make> std::string strewn(const std::string &text, int every, Make make) {
  std::string all;
  int count = 0;
  for (const std::string &word : words(text)) {
    if (count++ % every == 0)
      all += make(count);
    all += word + (isComment(word) && word[1] == '/' ? "\n" : " ");
  }
  return all;
}

std::string number(int n) { return std::to_string(n); }

} // namespace

TEST(Comments, EveryFileKeepsItsWords) {
  ASSERT_GT(repository().size(), 200u);
  for (const SourceText &file : repository())
    EXPECT_EQ(words(formatted(file.text)), words(file.text)) << file.path;
}

TEST(Comments, BetweenAllTokens) {
  for (const SourceText &file : repository()) {
    const std::string inLine = strewn(file.text, 1, [](int n) { return "/* " + number(n) + " */ "; });
    EXPECT_EQ(words(formatted(inLine)), words(inLine)) << file.path;
    const std::string toLineEnd = strewn(file.text, 1, [](int n) { return "// " + number(n) + "\n"; });
    EXPECT_EQ(words(formatted(toLineEnd)), words(toLineEnd)) << file.path;
    const std::string ofLines = strewn(file.text, 7, [](int n) {
      return n % 2 ? "\n\n\n/* " + number(n) + "\n   more */\n"
                   : "\t/**/ /* " + number(n) + "*/ // \xC3\xA4 \t\r\n";
    });
    EXPECT_EQ(words(formatted(ofLines)), words(ofLines)) << file.path;
  }
}

// A comment stays behind what it stands behind, or on its line; a space is before it, and its column is no
// matter.
TEST(Comments, WhereTheyStand) {
  EXPECT_EQ(declarations("dim a;      // one\n    // two\ndim b; // three\n\n\n\n// four\n\n"),
            "dim a; // one\n// two\ndim b; // three\n\n// four\n");
  EXPECT_EQ(declarations("fn f() -> f32 {// why\nlet a = 1; // one\n// two\n\n a // three\n// four\n}"),
            "fn f() -> f32 { // why\n  let a = 1; // one\n  // two\n\n  a // three\n  // four\n}\n");
}

// Those on lines of their own are indented as what follows; behind the last thing of braces, as that.
TEST(Comments, Indentation) {
  EXPECT_EQ(expression("match t {\n// one\nA => 1,\n// two\n}"),
            "match t {\n  // one\n  A => 1,\n  // two\n}\n");
  EXPECT_EQ(expression("if c {\n1\n// one\n} // two\nelse {\n2\n}"),
            "if c {\n  1\n  // one\n} // two\nelse {\n  2\n}\n");
  EXPECT_EQ(expression("f(\n// one\nx\n// two\n)"), "f(\n  // one\n  x\n  // two\n)\n");
}

// A comment in front of other words of a line stays in it, one of several lines stays as it is.
TEST(Comments, InLines) {
  EXPECT_EQ(expression("f(/*a*/x,/*b*/y /*c*/)+/*d*/1"), "f(/*a*/ x, /*b*/ y /*c*/) + /*d*/ 1\n");
  EXPECT_EQ(expression("/* one\n     two */ x"), "/* one\n   two */ x\n");
}
