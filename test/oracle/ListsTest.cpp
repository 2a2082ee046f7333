// Binders, scans, slices of lists (section 7 of the language).
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dbc::oracletest;

// Each reduction over a list of scalars, written as a binder and as a function; and over tensors.
TEST(Lists, Reductions) {
  Model model(R"(model m;
entry run(xs: [f32]) -> (f32, f32, f32, f32, f32, int, [f32], bool, bool) {
  (sum(x in xs) { 2 * x }, mean(xs), max(xs), min(x in xs) (-x), logsumexp(xs), argmax(x in xs) { x * x }, softmax(xs),
   any(x in xs) (x > 2), all(x in xs) { x > -5 })
}
entry tensors(vs: [f32[2]]) -> (f32[2], f32[2], [f32[2]]) { (sum(vs), max(v in vs) v, softmax(v in vs) { 2 * v }) }
entry ints(is: [index[9]]) -> (int, int, int) { (sum(is), max(is), argmax(i in is) i) })");
  ASSERT_EQ(model.diagnostics(), "");
  auto e = [](double v) { return std::exp(v); };
  double z = e(1) + e(-3) + e(2);
  expectNear(model.numbers("run", R"({"args": {"xs": [1, -3, 2]}})"),
             {0, 0, 2, -2, std::log(z), 1, e(1) / z, e(-3) / z, e(2) / z, 0, 1});
  double a = 1 / (1 + e(4)), b = 1 / (1 + e(-10));
  expectNear(model.numbers("tensors", R"({"args": {"vs": [[1, 5], [3, 0]]}})"),
             {4, 5, 3, 5, a, b, 1 - a, 1 - b});
  expectNear(model.numbers("ints", R"({"args": {"is": [3, 8, 8]}})"), {19, 8, 1});
}

// What an empty list gives (L3); an empty sum inside a join and inside arithmetic has its static shape.
TEST(Lists, Empty) {
  Model model(R"(model m;
entry run(xs: [f32], vs: [f32[2]]) -> (f32, f32, bool, bool, [f32], [f32], f32[4], f32, int) {
  (sum(xs), logsumexp(xs), any(x in xs) (x > 0), all(x in xs) (x > 0), map(x in xs) (x + 1), softmax(xs),
   [sum(vs), sum(v in vs) { v } + 1], fold(x in xs, s = 5) { s * x }, len(xs))
})");
  ASSERT_EQ(model.diagnostics(), "");
  expectNear(model.numbers("run", R"({"args": {"xs": [], "vs": []}})"),
             {0, -INFINITY, 0, 1, 0, 0, 1, 1, 5, 0});
}

// scan, scan_back and fold with scalar, tensor, record and tuple states.
TEST(Lists, Recurrences) {
  Model model(R"(model m; record S { a: f32; v: f32[2]; }
entry run(xs: [f32]) -> ([f32], [f32], f32, [S], f32, f32) {
  let back = scan_back(x in xs, s = 0) { 2 * s + x };
  let records = scan(x in xs, s = S { a = 1, v = zeros(2) }) { S { a = s.a * x, v = s.v + [x, s.a] } };
  let (p, q) = fold((x, i) in zip(xs, 0..len(xs)), (a, b) = (0.0, 1.0)) { (a + x * f32(i), a + b) };
  (scan(x in xs, s = 0) (s + x), back, fold(x in xs, s = 10) { s - x }, records, p, q)
})");
  ASSERT_EQ(model.diagnostics(), "");
  // Lists of records come component by component: all a, then all v.
  expectNear(model.numbers("run", R"({"args": {"xs": [1, 2, 4]}})"),
             {1, 3, 7, 21, 10, 4, 3, 1, 2, 8, 1, 1, 3, 2, 7, 4, 10, 3});
}

// Elements and slices, counted from both ends; zip; reverse; ranges, empty where high <= low.
TEST(Lists, Elements) {
  Model model(R"(model m; data T(xs: [f32]);
entry run(xs: [f32], k: int) -> (f32, f32, [f32], [f32], [f32], [f32], [int], f32) {
  (xs[k], xs[-2], xs[1..], xs[..-1], xs[k..k + 1], reverse(xs), k..2 * k, sum((a, b) in zip(xs[..-1], xs[1..])) { a * b })
}
entry none(k: int) -> int { len(3..k) }
entry nested(ts: [T]) -> [f32] { map(t in ts) sum(x in t.xs) { x * sum(u in ts) { sum(u.xs) } } })");
  ASSERT_EQ(model.diagnostics(), "");
  expectNear(model.numbers("run", R"({"args": {"xs": [1, 2, 4], "k": 1}})"),
             {2, 2, 2, 4, 1, 2, 2, 4, 2, 1, 1, 10});
  expectNear(model.numbers("none", R"({"args": {"k": 3}})"), {0});
  expectNear(model.numbers("none", R"({"args": {"k": -3}})"), {0});
  expectNear(
      model.numbers("nested",
                    R"({"nodes": [{"T": {"xs": [1, 2]}}, {"T": {"xs": []}}], "args": {"ts": [0, 1]}})"),
      {9, 0});
}

// A scan inside a recursive cell, whose list holds results of the recursion.
TEST(Lists, ScanInCell) {
  Model model(R"(model m; data T(v: f32, kids: [T]);
cell f(t: T) -> f32 { fold(k in t.kids, s = t.v) { 2 * s + f(k) } }
entry run(t: T) -> f32 { f(t) })");
  ASSERT_EQ(model.diagnostics(), "");
  const char *line = R"({"nodes": [{"T": {"v": 1, "kids": [1, 2]}}, {"T": {"v": 3, "kids": [2]}},
                        {"T": {"v": 5, "kids": []}}], "args": {"t": 0}})";
  expectNear(model.numbers("run", line), {2 * (2 * 1 + 11) + 5});
}
