// Lines that would be too long.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace dbc::frontend::formattest;

namespace {

std::string times(int n, const std::string &text) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += text;
  return all;
}

/// A name of so many letters.
std::string name(size_t letters) { return std::string(letters, 'x'); }

size_t longest(const std::string &text) {
  size_t most = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    most = std::max(most, end - begin);
    begin = end + 1;
  }
  return most;
}

} // namespace

// 120 columns fit; what is behind the code does not count.
TEST(Lines, Width) {
  const std::string fits = "fn f() -> f32 { " + name(102) + " }\n";
  EXPECT_EQ(longest(fits), 120u);
  EXPECT_EQ(declarations(fits), fits);
  EXPECT_EQ(declarations("fn f() -> f32 { " + name(103) + " }"), "fn f() -> f32 {\n  " + name(103) + "\n}\n");
  EXPECT_EQ(declarations("fn f() -> f32 { " + name(80) + " } // " + name(80)),
            "fn f() -> f32 { " + name(80) + " } // " + name(80) + "\n");
  EXPECT_EQ(declarations("fn f() -> f32 {\n" + name(300) + " }"),
            "fn f() -> f32 {\n  " + name(300) + "\n}\n");
}

// The outermost place is taken, and of equal ones the last that fits.
TEST(Lines, Outermost) {
  const std::string a = name(30), b = name(50);
  EXPECT_EQ(declarations("param " + a + ": f32, " + a + ": f32[2, 3], " + a + ": f32[2, 3], b: f32;"),
            "param " + a + ": f32, " + a + ": f32[2, 3],\n  " + a + ": f32[2, 3], b: f32;\n");
  EXPECT_EQ(expression("f(" + a + ", " + b + ", g(" + a + ", " + a + "), c)"),
            "f(\n  " + a + ", " + b + ",\n  g(" + a + ", " + a + "), c\n)\n");
  EXPECT_EQ(expression(a + " * 2 + " + a + " * " + a + " + " + a + " * 2"),
            a + " * 2 + " + a + " * " + a + "\n  + " + a + " * 2\n");
  EXPECT_EQ(expression("match t { A(" + a + ") => " + b + ", B => " + b + " }"),
            "match t {\n  A(" + a + ") => " + b + ",\n  B => " + b + "\n}\n");
}

// All arms of an `if` that is too long are broken.
TEST(Lines, Ifs) {
  const std::string a = name(50);
  EXPECT_EQ(expression("if a { 1 } else if b { " + a + " } else { " + a + " }"),
            "if a {\n  1\n} else if b {\n  " + a + "\n} else {\n  " + a + "\n}\n");
}

// Patterns and types are left whole as long as anything else can be broken.
TEST(Lines, Patterns) {
  const std::string a = name(50);
  EXPECT_EQ(expression("let (a, b) = f(" + a + ", " + a + ", c);\n1"),
            "let (a, b) = f(\n  " + a + ", " + a + ", c\n);\n1\n");
}

TEST(Lines, EveryFileFits) {
  for (const SourceText &file : repository()) {
    // With all of it on one line, as far as comments let it.
    std::string joined = file.text;
    for (size_t i = 0; i < joined.size(); ++i)
      if (joined.compare(i, 2, "//") == 0)
        i = joined.find('\n', i);
      else if (joined[i] == '\n')
        joined[i] = ' ';
    EXPECT_EQ(words(formatted(joined)), words(file.text)) << file.path;
  }
}

// Large sources and such as are nested deeply: in time and space that grow with their size.
TEST(Lines, Large) {
  const std::string items = times(50000, "xy, ") + "xy";
  const std::string list = expression("[" + items + "]");
  EXPECT_LE(longest(list), 120u);
  EXPECT_EQ(words(list), words("[" + items + "]"));
  const std::string functions = times(5000, "fn f(x: f32) -> f32 { if x > 0 { x + 1 } else { g(x, 2) } } ");
  EXPECT_EQ(declarations(functions),
            times(5000, "fn f(x: f32) -> f32 { if x > 0 { x + 1 } else { g(x, 2) } }\n"));
  const std::string deep = expression(times(250, "f(abcdef, ") + "x" + times(250, ", ghi)"));
  EXPECT_LE(deep.size(), 600000u);
  for (const char *each : {"if xx { 1 } else ", "map(x in xs) ", "-", "g + "})
    declarations("fn f() -> f32 { " + times(240, each) + (each[0] == 'i' ? "{ 1 }" : "x") + " }");
}
