// Hostile and large sources: a diagnostic instead of an exhausted stack, and a parser that keeps up with its
// user.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include "frontend/syntax/Parse.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace dbc::frontend;
using dbc::frontend::parsetest::exprTree;
using dbc::frontend::parsetest::syntaxErrors;

namespace {

std::string times(int n, const std::string &text) {
  std::string all;
  for (int i = 0; i < n; ++i)
    all += text;
  return all;
}

const std::string kHead = "model m;\nfn f(x: f32) -> f32 {\n";

/// The first line of what is said about an expression in line 3.
std::string firstLine(const std::string &expression) {
  std::string text = syntaxErrors(kHead + expression + "\n}").substr(1);
  return text.substr(0, text.find('\n'));
}

const std::string kTooDeep = "error: more than 1000 operators, calls and brackets follow one another or lie "
                             "inside one another up to here";

} // namespace

TEST(Limits, Brackets) {
  EXPECT_EQ(firstLine(times(50000, "(") + "x" + times(50000, ")")),
            "m.dyn:3:256: error: more than 256 brackets are open here");
  EXPECT_EQ(firstLine(times(50000, "f(")), "m.dyn:3:512: error: more than 256 brackets are open here");
  EXPECT_EQ(firstLine(times(50000, "[")), "m.dyn:3:256: error: more than 256 brackets are open here");
  EXPECT_EQ(firstLine(times(50000, "if x {")), "m.dyn:3:1536: error: more than 256 brackets are open here");
  // In types and patterns as well.
  EXPECT_NE(syntaxErrors("model m; fn f(x: " + times(50000, "[")).find("brackets are open"),
            std::string::npos);
  EXPECT_NE(syntaxErrors(kHead + "let " + times(50000, "(a, ")).find("brackets are open"), std::string::npos);
}

// Chains that nest without brackets around one another.
TEST(Limits, Chains) {
  EXPECT_EQ(firstLine(times(20000, "x + ") + "x"), "m.dyn:3:4003: " + kTooDeep);
  EXPECT_EQ(firstLine(times(20000, "-") + "x"), "m.dyn:3:1001: " + kTooDeep);
  EXPECT_EQ(firstLine("x" + times(20000, ".y")), "m.dyn:3:2002: " + kTooDeep);
  EXPECT_EQ(firstLine("x" + times(20000, "(y)")), "m.dyn:3:3004: " + kTooDeep);
  EXPECT_NE(firstLine(times(20000, "if x { 1 } else ") + "{ 1 }").find(kTooDeep), std::string::npos);
  EXPECT_NE(firstLine(times(20000, "map(x in xs) ") + "x").find(kTooDeep), std::string::npos);
  EXPECT_NE(firstLine(times(20000, "match ") + "x").find(kTooDeep), std::string::npos);
  // Deep on the left: each pair of brackets ends in a chain, none of which is too long alone.
  EXPECT_NE(firstLine(times(200, "(") + "x" + times(200, times(10, " + x") + ")")).find(kTooDeep),
            std::string::npos);
}

// What lies just within the limits is read.
TEST(Limits, Allowed) {
  EXPECT_EQ(exprTree(times(250, "(") + "x" + times(250, ")")), "x");
  EXPECT_EQ(syntaxErrors(kHead + times(900, "x + ") + "x\n}"), "\n");
  EXPECT_EQ(syntaxErrors(kHead + "[" + times(20000, "f(x) + 1, ") + "x]\n}"), "\n");
  EXPECT_EQ(syntaxErrors(kHead + times(20000, "let a = f(x) + 1;\n") + "x\n}"), "\n");
  EXPECT_EQ(syntaxErrors(kHead + "match x { " + times(20000, "A => { f(x) } ") + "}\n}"), "\n");
}

TEST(Limits, FileSize) {
  EXPECT_EQ(syntaxErrors("model m;" + std::string(9u << 20, ' ')).substr(0, 88),
            "\nm.dyn:1:1: error: the file has more than the 8388608 bytes that a source file may have\n");
}

TEST(Limits, NotUtf8) {
  EXPECT_EQ(syntaxErrors("model m;\r\nfn f(\xE9) -> f32"), R"(
m.dyn:2:6: error: the byte 0xE9 at offset 15 is not UTF-8; source files are written in UTF-8
    fn f(?) -> f32
         ^
hint: convert the file, for example with `iconv -f latin1 -t utf-8`
)");
  // Overlong, a surrogate, beyond Unicode, cut off at the end.
  for (const char *wrong : {"\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82"})
    EXPECT_NE(syntaxErrors(std::string("model m; // ") + wrong).find("is not UTF-8"), std::string::npos);
}

// Many mistakes give at most twenty messages and a count.
TEST(Limits, ManyErrors) {
  std::string text = syntaxErrors("model m;\n" + times(1000, "dim a b;\n"));
  EXPECT_EQ(text.substr(text.size() - 22), "\ndbc: 980 more errors\n") << text;
}

// 10,000 ordinary lines take about 0.15 s in a release build; twenty times that is still no reason to fail in
// a sanitizer's.
TEST(Limits, Throughput) {
  std::string model = "model m;\n" + times(10000 / 16, R"(cell encode(t: Tree) -> State {
  match t {
    Leaf(word) => {
      let (i, o, u) = split(W @ E[word] + b);
      let c = sigmoid(i) * tanh(u);
      State { h = sigmoid(o) * tanh(c), c = c }
    }
    Node(left, right) => {
      let l = encode(left);
      let r = encode(right);
      let (i, fl, fr, o, u) = split(U @ [l.h, r.h] + d);
      let c = sigmoid(i) * tanh(u) + sigmoid(fl) * l.c + sigmoid(fr) * r.c;
      State { h = sigmoid(o) * tanh(c), c = c }
    }
  }
}
)");
  SourceManager sources;
  DiagnosticEngine diags(sources);
  auto start = std::chrono::steady_clock::now();
  auto file = parseFile(sources.add("m.dyn", model), diags);
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  ASSERT_TRUE(file);
  EXPECT_EQ(file->decls.size(), 625u);
#ifdef __SANITIZE_ADDRESS__
  EXPECT_LT(seconds.count(), 30.0); // its checks take their time
#else
  EXPECT_LT(seconds.count(), 3.0);
#endif
}
