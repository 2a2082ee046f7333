// Operators and built-in functions on numbers and tensors.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

using namespace dbc::oracletest;

// Each elementwise function, on a tensor and on a scalar.
TEST(Numbers, Functions) {
  struct Case {
    const char *text;
    std::function<double(double)> meaning;
  };
  auto relu = [](double x) { return std::max(x, 0.0); };
  const Case cases[] = {
      {"exp(x)", [](double x) { return std::exp(x); }},
      {"log(abs(x))", [](double x) { return std::log(std::fabs(x)); }},
      {"sqrt(square(x) + 1)", [](double x) { return std::sqrt(x * x + 1); }},
      {"sin(x) * cos(x)", [](double x) { return std::sin(x) * std::cos(x); }},
      {"tanh(-x)", [](double x) { return std::tanh(-x); }},
      {"sigmoid(x)", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"relu(x)", relu},
      {"gelu(x)", [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"softplus(x)", [](double x) { return std::log(1 + std::exp(x)); }},
      {"pow(abs(x), 1.5)", [](double x) { return std::pow(std::fabs(x), 1.5); }},
      {"maximum(x, 0.25) - minimum(x, 0.5)", [](double x) { return std::max(x, 0.25) - std::min(x, 0.5); }},
      {"clip(x, -1, 1)", [](double x) { return std::min(std::max(x, -1.0), 1.0); }},
      {"select(x > 0.5, x, 2 * x)", [](double x) { return x > 0.5 ? x : 2 * x; }},
      {"detach(x) / 3", [](double x) { return x / 3; }},
      {"binary_cross_entropy(x, 0.25)", [](double x) { return std::log(1 + std::exp(x)) - 0.25 * x; }},
      {"f32(x > 0 && x < 1 || !(x >= -1))", [](double x) { return (x > 0 && x < 1) || !(x >= -1); }},
      {"f32(int(x))", [](double x) { return std::trunc(x); }},
      {"f32(bool(x)) + f32(int(x != 2))", [](double x) { return (x != 0) + (x != 2); }},
  };
  for (const Case &one : cases) {
    SCOPED_TRACE(one.text);
    Model model(std::string("model m; entry v(x: f32[4]) -> f32[4] { ") + one.text +
                " } entry s(x: f32) -> f32 { " + one.text + " }");
    ASSERT_EQ(model.diagnostics(), "");
    std::vector<double> expected;
    for (double x : {-1.75, 0.625, 2.5, 0.25})
      expected.push_back(one.meaning(x));
    expectNear(model.numbers("v", R"({"args": {"x": [-1.75, 0.625, 2.5, 0.25]}})"), expected);
    expectNear(model.numbers("s", R"({"args": {"x": 0.625}})"), {one.meaning(0.625)});
  }
}

// `@` with vectors, matrices and stacks of these: NumPy's matmul.
TEST(Numbers, Products) {
  Model model(R"(model m;
param v: f32[3], w: f32[2], A: f32[2, 3], B: f32[3, 2], S: f32[2, 2, 3], R: f32[1, 3, 2], Q: f32[2, 1, 2, 3];
entry dot() -> f32 { v @ v }
entry mv() -> f32[2] { A @ v }
entry vm() -> f32[3] { w @ A }
entry mm() -> f32[2, 2] { A @ B }
entry sv() -> f32[2, 2] { S @ v }
entry vs() -> f32[2, 3] { w @ S }
entry sm() -> f32[2, 2, 2] { S @ B }
entry ms() -> f32[1, 2, 2] { A @ R }
entry ss() -> f32[2, 2, 2] { S @ R }
entry qs() -> f32[2, 2, 2, 2] { Q @ (B @ S) @ B }
)");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(3);
  auto W = [&](const char *name) { return [&, name](int i) { return model.weight(name, i); }; };
  auto v = W("v"), w = W("w"), A = W("A"), B = W("B"), S = W("S"), R = W("R"), Q = W("Q");
  std::vector<double> mv(2), vm(3), mm(4), sv(4), vs(6), sm(8), ms(4), ss(8), dot(1), qs(16);
  for (int k = 0; k < 3; ++k) {
    dot[0] += v(k) * v(k);
    for (int i = 0; i < 2; ++i) {
      mv[i] += A(3 * i + k) * v(k);
      vm[k] += w(i) * A(3 * i + k);
      for (int j = 0; j < 2; ++j) {
        mm[2 * i + j] += A(3 * i + k) * B(2 * k + j);
        sv[2 * i + j] += S(6 * i + 3 * j + k) * v(k);
        vs[3 * i + k] += w(j) * S(6 * i + 3 * j + k);
        ms[2 * i + j] += A(3 * i + k) * R(2 * k + j);
        for (int s = 0; s < 2; ++s) {
          sm[4 * s + 2 * i + j] += S(6 * s + 3 * i + k) * B(2 * k + j);
          ss[4 * s + 2 * i + j] += S(6 * s + 3 * i + k) * R(2 * k + j);
          for (int q = 0; q < 2; ++q)
            for (int l = 0; l < 3; ++l)
              for (int t = 0; t < 2; ++t)
                for (int n = 0; n < 1; ++n) // qs[q, s, i, j] = sum Q[q, 0, i, k] B[k, t] S[s, t, l] B[l, j]
                  qs[8 * q + 4 * s + 2 * i + j] +=
                      Q(6 * q + 3 * i + k) * B(2 * k + t) * S(6 * s + 3 * t + l) * B(2 * l + j);
        }
      }
    }
  }
  const char *line = R"({"args": {}})";
  expectNear(model.numbers("dot", line), dot);
  expectNear(model.numbers("mv", line), mv);
  expectNear(model.numbers("vm", line), vm);
  expectNear(model.numbers("mm", line), mm);
  expectNear(model.numbers("sv", line), sv);
  expectNear(model.numbers("vs", line), vs);
  expectNear(model.numbers("sm", line), sm);
  expectNear(model.numbers("ms", line), ms);
  expectNear(model.numbers("ss", line), ss);
  expectNear(model.numbers("qs", line), qs);
}

// Broadcasting as in NumPy, of tensors, scalars, rows and columns.
TEST(Numbers, Broadcasting) {
  Model model("model m; param r: f32[3], c: f32[2, 1], A: f32[2, 3];\n"
              "entry run(x: f32) -> f32[2, 3] { (A + r) * c - x }\n"
              "entry outer() -> f32[2, 3] { c * r }");
  model.set("r", {1, 2, 3});
  model.set("c", {10, 100});
  model.set("A", {0, 1, 2, 3, 4, 5});
  expectNear(model.numbers("run", R"({"args": {"x": 0.5}})"), {9.5, 29.5, 49.5, 399.5, 599.5, 799.5});
  expectNear(model.numbers("outer", R"({"args": {}})"), {10, 20, 30, 100, 200, 300});
}

// Indices and slices: fixed, from the end, dynamic, on any axis; joins; reshaping;
// splitting.
TEST(Numbers, SubscriptsAndShapes) {
  Model model(R"(model m; dim n = 3;
param A: f32[2, n, 4], v: f32[4], E: f32[5, 2];
entry fixed() -> (f32, f32[4], f32[n], f32[1, 2, 2]) { (A[1, n - 1, -1], A[0, -1], A[-1, .., 2], A[1.., ..2, 1..-1]) }
entry moving(i: index[n], j: int) -> (f32[4], f32[2, 4], f32[2], f32, f32[2, 2]) {
  (A[1, i], A[.., i], A[.., i, j], v[j], A[.., int(i), 1..3])
}
entry join(x: f32) -> (f32[7], f32[3, 2]) { ([x, v, 2 * x, 1], [E[0..2], E[4..]]) }
entry cut() -> (f32[2, 2], f32[2, 2], f32[4, n, 2], f32[2 * n, 4], f32[4]) {
  let (a, b) = split(A[0, 0..2], axis = 1);
  (a, b, transpose(A), reshape(A, 2 * n, 4), [fill(v[0], 2), zeros(1), ones(1)])
}
entry count() -> (index[4][4], f32[4]) { (iota(4), f32(iota(4)) + 1) }
)");
  ASSERT_EQ(model.diagnostics(), "");
  std::vector<float> A(24);
  for (int i = 0; i < 24; ++i)
    A[i] = i;
  model.set("A", A);
  model.set("v", {10, 20, 30, 40});
  model.set("E", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const char *none = R"({"args": {}})";
  expectNear(model.numbers("fixed", none), {23, 8, 9, 10, 11, 14, 18, 22, 13, 14, 17, 18});
  expectNear(model.numbers("moving", R"({"args": {"i": 1, "j": 2}})"),
             {16, 17, 18, 19, 4, 5, 6, 7, 16, 17, 18, 19, 6, 18, 30, 5, 6, 17, 18});
  expectNear(model.numbers("join", R"({"args": {"x": 5}})"), {5, 10, 20, 30, 40, 10, 1, 0, 1, 2, 3, 8, 9});
  std::vector<double> cut = {0, 1, 4, 5, 2, 3, 6, 7};
  for (int c = 0; c < 4; ++c)
    for (int b = 0; b < 3; ++b)
      for (int a = 0; a < 2; ++a)
        cut.push_back(12 * a + 4 * b + c);
  for (int i = 0; i < 24; ++i)
    cut.push_back(i);
  cut.insert(cut.end(), {10, 10, 0, 1});
  expectNear(model.numbers("cut", none), cut);
  expectNear(model.numbers("count", none), {0, 1, 2, 3, 1, 2, 3, 4});
}

// Reductions of all elements and along axes; the first of equals for argmax; softmax; cross entropy.
TEST(Numbers, Reductions) {
  Model model(R"(model m;
entry whole(x: f32[2, 3]) -> (f32, f32, f32, f32, f32) { (sum(x), mean(x), max(x), min(x), logsumexp(x)) }
entry axes(x: f32[2, 3]) -> (f32[3], f32[2], f32[3], f32[2], f32[2], index[3][2]) {
  (sum(x, axis = 0), mean(x, axis = 1), max(x, axis = 0), min(x, axis = -1), logsumexp(x, axis = 1), argmax(x, axis = 1))
}
entry soft(x: f32[2, 3]) -> (f32[2, 3], f32[2, 3], bool, bool[2]) {
  (softmax(x, axis = 0), log_softmax(x), any(x > 2), all(x >= 1, axis = 1))
}
entry cost(z: f32[3], i: index[3], p: f32[3]) -> (f32, f32, index[3]) {
  (cross_entropy(z, i), cross_entropy(z, p), argmax(z))
}
entry ints(i: index[4][3]) -> (int, int, int) { (sum(i), max(i), min(i)) }
)");
  ASSERT_EQ(model.diagnostics(), "");
  const char *x = R"({"args": {"x": [[1, 3, 3], [2, 0, 1]]}})";
  auto e = [](double v) { return std::exp(v); };
  double row0 = std::log(e(1) + 2 * e(3)), row1 = std::log(e(2) + 1 + e(1));
  expectNear(model.numbers("whole", x), {10, 10.0 / 6, 3, 0, std::log(e(row0) + e(row1))});
  expectNear(model.numbers("axes", x), {3, 3, 4, 7.0 / 3, 1, 2, 3, 3, 1, 0, row0, row1, 1, 0});
  double s0 = 1 / (1 + e(1)), s1 = 1 / (1 + e(-3)), s2 = 1 / (1 + e(-2));
  expectNear(model.numbers("soft", x), {s0, s1, s2, 1 - s0, 1 - s1, 1 - s2, 1 - row0, 3 - row0, 3 - row0,
                                        2 - row1, -row1, 1 - row1, 1, 1, 0});
  double norm = std::log(e(1) + e(2) + e(2));
  expectNear(model.numbers("cost", R"({"args": {"z": [1, 2, 2], "i": 2, "p": [0.5, 0.5, 0]}})"),
             {norm - 2, norm - 1.5, 1});
  expectNear(model.numbers("ints", R"({"args": {"i": [3, 1, 3]}})"), {7, 3, 1});
}

// Integers: rounding of div and %, what is known at compile time, computed lists of ints.
TEST(Numbers, Integers) {
  Model model(R"(model m; dim n = 5; const K = 3;
entry run(a: int, b: int) -> (int, int, int, int, int, f32) {
  (div(a, b), a % b, -a * b - K, abs(a) + square(b), maximum(minimum(a, b), n), f32(a) / f32(b) + n)
}
entry narrowed(a: int, v: f32[n]) -> f32 { v[index[n](a)] })");
  ASSERT_EQ(model.diagnostics(), "");
  expectNear(model.numbers("run", R"({"args": {"a": -7, "b": 2}})"), {-4, 1, 11, 11, 5, 1.5});
  expectNear(model.numbers("run", R"({"args": {"a": 7, "b": -2}})"), {-4, -1, 11, 11, 5, 1.5});
  expectNear(model.numbers("narrowed", R"({"args": {"a": 4, "v": [1, 2, 3, 4, 5]}})"), {5});
}

// How near a decision was is found for the most delicate one.
TEST(Numbers, Margin) {
  Model model("model m; entry run(x: f32[3]) -> (index[3], f32) { (argmax(x), select(x[0] > 1, 1.0, 2.0)) }");
  dbc::oracle::Outcome outcome = model.run("run", R"({"args": {"x": [0.5, 2, 2.25]}})");
  EXPECT_NEAR(outcome.margin, 0.25, 1e-9);
  outcome = model.run("run", R"({"args": {"x": [1.125, 2, 3]}})");
  EXPECT_NEAR(outcome.margin, 0.125, 1e-9);
}
