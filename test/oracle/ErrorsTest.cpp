// Inputs that cannot be computed: the whole text of what is said (rule E2).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::oracletest;

static const char *kText = R"(model m; dim n = 4;
data T { Leaf(x: f32, i: int); Node(x: f32, i: int, kids: [T]); }
param v: f32[n];
cell up(t: T) -> f32 {
  match t { Leaf(x) => x, Node(kids, i) => max(k in kids) { up(k) } + v[i] }
}
entry run(t: T) -> f32 { up(t) }
entry at(xs: [f32], k: int) -> f32 { xs[k] }
entry part(xs: [f32], k: int) -> f32 { sum(xs[k..]) }
entry pairs(xs: [f32], ys: [f32]) -> f32 { sum((x, y) in zip(xs, ys)) { x * y } }
entry narrowed(k: int) -> index[n] { index[n](k) }
entry ints(a: int, b: int) -> int { a * b + 1 }
entry quotient(a: int, b: int) -> (int, int) { (div(a, b), a % b) }
entry truncated(x: f32) -> int { int(x) }
entry meanof(xs: [f32]) -> f32 { mean(xs) }
)";

class Errors : public testing::Test {
protected:
  Errors() : model(kText) { model.draw(1); }
  Model model;
};

TEST_F(Errors, Text) {
  ASSERT_EQ(model.diagnostics(), "");
  EXPECT_EQ(model.error("at", R"({"args": {"xs": [1, 2], "k": 2}})"),
            "m: input 0: element 2 is asked of a list of length 2, at m.dyn:8:38");
  EXPECT_EQ(model.error("at", R"({"args": {"xs": [1, 2], "k": -1}})"),
            "m: input 0: element -1 is asked of a list of length 2, at m.dyn:8:38");
  EXPECT_EQ(model.error("part", R"({"args": {"xs": [1, 2], "k": 3}})"),
            "m: input 0: slice 3..2 does not fit a list of length 2, at m.dyn:9:44");
  EXPECT_EQ(model.error("pairs", R"({"args": {"xs": [1, 2], "ys": [1]}})"),
            "m: input 0: lists of lengths 2 and 1 are zipped, at m.dyn:10:58");
  EXPECT_EQ(model.error("narrowed", R"({"args": {"k": 4}})"),
            "m: input 0: index 4 is outside 0..3, at m.dyn:11:38");
  EXPECT_EQ(model.error("ints", R"({"args": {"a": 65536, "b": 65536}})"),
            "m: input 0: 65536 * 65536 does not fit 32 bits, at m.dyn:12:39");
  EXPECT_EQ(model.error("ints", R"({"args": {"a": 2147483647, "b": 1}})"),
            "m: input 0: 2147483647 + 1 does not fit 32 bits, at m.dyn:12:43");
  EXPECT_EQ(model.error("quotient", R"({"args": {"a": 3, "b": 0}})"),
            "m: input 0: `div` of 3 by 0, at m.dyn:13:49");
  EXPECT_EQ(model.error("truncated", R"({"args": {"x": 3e9}})"),
            "m: input 0: a number does not fit an int of 32 bits, at m.dyn:14:34");
  EXPECT_EQ(model.error("meanof", R"({"args": {"xs": []}})"),
            "m: input 0: `mean` of an empty list, at m.dyn:15:34");
}

// In a cell the message names the instance's node.
TEST_F(Errors, InCells) {
  EXPECT_EQ(
      model.error("run", R"({"nodes": [{"Leaf": {"x": 1, "i": 0}}, {"Node": {"x": 1, "i": 9, "kids": [0]}}],
                                  "args": {"t": 1}})"),
      "m: input 0: node 1 (Node): index 9 is outside 0..3, at m.dyn:5:71");
  EXPECT_EQ(model.error("run", R"({"nodes": [{"Node": {"x": 1, "i": 0, "kids": []}}], "args": {"t": 0}})"),
            "m: input 0: node 0 (Node): `max` of an empty list, at m.dyn:5:44");
  oracle::Outcome outcome = model.run(
      "run", R"({"nodes": [{"Leaf": {"i": 1}}, {"Node": {"i": 0, "kids": [0]}}], "args": {"t": 1}})");
  EXPECT_EQ(outcome.status.message, "m: input 0: node 0 (Leaf): field `x` is not given, at m.dyn:5:18");
  EXPECT_EQ(outcome.status.field, "x");
  EXPECT_EQ(outcome.status.node, 0);
  EXPECT_EQ(outcome.status.code, Code::bad_input);
}

// A cycle is found and printed as the chain of calls.
TEST_F(Errors, Cycle) {
  EXPECT_EQ(
      model.error("run", R"({"nodes": [{"Node": {"i": 0, "kids": [1]}}, {"Node": {"i": 0, "kids": [3, 2]}},
                                  {"Node": {"i": 0, "kids": [1]}}, {"Leaf": {"x": 0}}], "args": {"t": 0}})"),
      "m: input 0: node 1 (Node): a value needs itself: up(node 1) -> up(node 2) -> up(node 1)");
  EXPECT_EQ(model.error("run", R"({"nodes": [{"Node": {"i": 0, "kids": [0]}}], "args": {"t": 0}})"),
            "m: input 0: node 0 (Node): a value needs itself: up(node 0) -> up(node 0)");
  // A node that is wanted twice stands once in the chain: where its call leads on.
  EXPECT_EQ(
      model.error("run", R"({"nodes": [{"Node": {"i": 0, "kids": [1, 2]}}, {"Node": {"i": 0, "kids": [2]}},
                                  {"Node": {"i": 0, "kids": [0]}}], "args": {"t": 0}})"),
      "m: input 0: node 0 (Node): a value needs itself: up(node 0) -> up(node 1) -> up(node 2) -> up(node "
      "0)");
}

// All mistakes of an input are found, and the first in the order of evaluation is its status.
TEST_F(Errors, AllAreFoundAndTheFirstIsReported) {
  oracle::Outcome outcome = model.run(
      "run", R"({"nodes": [{"Node": {"i": 9, "kids": [1, 2]}}, {"Node": {"i": 0, "kids": []}}, {"Leaf": {}}],
                          "args": {"t": 0}})");
  EXPECT_EQ(outcome.failures.size(), 3u);
  EXPECT_EQ(outcome.status.message, "m: input 0: node 1 (Node): `max` of an empty list, at m.dyn:5:44");
  EXPECT_TRUE(outcome.values.empty());
}

// What structure decides comes before what is computed, wherever it stands; the rest in the order of the
// source, a cell where it is called first, and element by element.
TEST(ErrorsOrder, IsThatOfTheSource) {
  Model model(R"(model m; data T(n: int, x: f32, kids: [T]);
param E: f32[4];
fn later(t: T) -> f32 { E[t.n + int(t.x)] }
cell down(t: T) -> f32 { later(t) + sum(k in t.kids) down(k) }
cell up(t: T) -> f32 { (sum(k in t.kids) up(k)) + later(t) }
entry first(t: T) -> f32 { down(t) + up(t) }
entry other(t: T) -> f32 { up(t) + down(t) }
entry structure(t: T) -> f32 { down(t) + f32(div(1, t.n)) }
entry back(is: [int]) -> f32 { sum(scan_back(i in is, s = 0.0) { s + E[i + int(s * 0)] }) }
entry steps(is: [int]) -> f32 { fold(i in is, s = 0.0) { s + E[i + int(s * 0)] + E[i + 1 + int(s * 0)] } }
)");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(1);
  const std::string tree =
      R"({"nodes": [{"T": {"n": 7, "x": 0, "kids": [1, 2]}}, {"T": {"n": 8, "x": 0, "kids": []}},
                              {"T": {"n": 9, "x": 0, "kids": []}}], "args": {"t": 0}})";
  EXPECT_EQ(model.error("first", tree), "m: input 0: node 0 (T): index 7 is outside 0..3, at m.dyn:3:25");
  EXPECT_EQ(model.error("other", tree), "m: input 0: node 1 (T): index 8 is outside 0..3, at m.dyn:3:25");
  EXPECT_EQ(model.error("structure", R"({"nodes": [{"T": {"n": 0, "x": 9, "kids": []}}], "args": {"t": 0}})"),
            "m: input 0: `div` of 1 by 0, at m.dyn:8:46");
  EXPECT_EQ(model.error("back", R"({"args": {"is": [7, 1, 8]}})"),
            "m: input 0: index 8 is outside 0..3, at m.dyn:9:70");
  EXPECT_EQ(model.error("steps", R"({"args": {"is": [3, 9]}})"),
            "m: input 0: index 4 is outside 0..3, at m.dyn:10:82");
}

// What is not asked for may be missing, and what `&&` does not reach cannot fail.
TEST(ErrorsNot, WhereNothingIsComputed) {
  Model model(R"(model m; data T(a: f32, b: f32, is: [int]);
entry run(t: T, k: int) -> (f32, f32) {
  let unused = t.is[7];
  (t.a, if k < len(t.is) && t.is[k] > 0 || k == 5 { 1 } else { 2 })
})");
  const std::string node = R"({"nodes": [{"T": {"a": 1, "is": [0, 4]}}], "args": {"t": 0, "k": )";
  expectNear(model.numbers("run", node + "0}}"), {1, 2});
  expectNear(model.numbers("run", node + "1}}"), {1, 1});
  expectNear(model.numbers("run", node + "2}}"), {1, 2});
  expectNear(model.numbers("run", node + "5}}"), {1, 1});
}
