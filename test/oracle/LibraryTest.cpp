// The layers of the library `nn`, against their equations.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dbc::oracletest;

namespace {

using Vector = std::vector<double>;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// W x for the parameter at `path` with x.size() columns.
Vector times(const Model &model, const std::string &path, size_t rows, const Vector &x) {
  Vector y(rows);
  for (size_t r = 0; r < rows; ++r)
    for (size_t k = 0; k < x.size(); ++k)
      y[r] += model.weight(path, r * x.size() + k) * x[k];
  return y;
}

struct State {
  Vector h, c;
};

State lstmStep(const Model &model, const std::string &path, const Vector &x, const State &s) {
  size_t m = s.h.size();
  Vector a = times(model, path + ".W", 4 * m, x), b = times(model, path + ".U", 4 * m, s.h);
  State next{Vector(m), Vector(m)};
  for (size_t j = 0; j < m; ++j) {
    auto gate = [&](size_t g) { return a[g * m + j] + b[g * m + j] + model.weight(path + ".b", g * m + j); };
    next.c[j] = sigmoid(gate(1)) * s.c[j] + sigmoid(gate(0)) * std::tanh(gate(2));
    next.h[j] = sigmoid(gate(3)) * std::tanh(next.c[j]);
  }
  return next;
}

} // namespace

TEST(Library, BiLstm) {
  Model model("model m; import nn; param l: nn.BiLSTM[2, 3];\n"
              "entry run(xs: [f32[2]]) -> ([f32[6]], f32[6]) { (l(xs), l.ends(xs)) }");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(11);
  std::vector<Vector> xs = {{0.5, -1}, {1, 0.25}, {-0.75, 2}};
  std::vector<Vector> forward, backward(3);
  State s{Vector(3), Vector(3)};
  for (const Vector &x : xs)
    forward.push_back((s = lstmStep(model, "l.fwd", x, s)).h);
  s = {Vector(3), Vector(3)};
  for (size_t i = xs.size(); i-- > 0;)
    backward[i] = (s = lstmStep(model, "l.bwd", xs[i], s)).h;
  Vector expected;
  auto append = [&](const Vector &v) { expected.insert(expected.end(), v.begin(), v.end()); };
  for (size_t i = 0; i < 3; ++i) {
    append(forward[i]);
    append(backward[i]);
  }
  append(forward[2]);
  append(backward[0]);
  expectNear(model.numbers("run", R"({"args": {"xs": [[0.5, -1], [1, 0.25], [-0.75, 2]]}})"), expected);
}

TEST(Library, Gru) {
  Model model("model m; import nn; param g: nn.GRU[2, 2];\n"
              "entry run(x: f32[2], h: f32[2]) -> f32[2] { g.step(x, h) }");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(5);
  model.set("g.d", {0.5, -0.5, 1, 2, 0.25, 0.75});
  Vector x = {0.5, -2}, h = {1, 0.25}, expected;
  Vector a = times(model, "g.W", 6, x), b = times(model, "g.U", 6, h);
  for (size_t j = 0; j < 2; ++j) {
    auto own = [&](size_t g) { return a[2 * g + j] + model.weight("g.b", 2 * g + j); };
    auto old = [&](size_t g) { return b[2 * g + j] + model.weight("g.d", 2 * g + j); };
    double r = sigmoid(own(0) + old(0)), z = sigmoid(own(1) + old(1)), g = std::tanh(own(2) + r * old(2));
    expected.push_back((1 - z) * g + z * h[j]);
  }
  expectNear(model.numbers("run", R"({"args": {"x": [0.5, -2], "h": [1, 0.25]}})"), expected);
}

TEST(Library, ChildSum) {
  Model model("model m; import nn; param t: nn.ChildSum[2, 2];\n"
              "entry run(x: f32[2], kids: [nn.State[2]]) -> nn.State[2] { t(x, kids) }");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(5);
  Vector x = {0.5, -2};
  std::vector<State> kids = {{{1, 2}, {0.5, 0.25}}, {{-1, 0.5}, {2, -1}}};
  Vector sum(2), h, c;
  for (const State &k : kids)
    for (size_t j = 0; j < 2; ++j)
      sum[j] += k.h[j];
  Vector a = times(model, "t.W", 8, x), b = times(model, "t.U", 6, sum);
  for (size_t j = 0; j < 2; ++j) {
    double kept = 0;
    for (const State &k : kids)
      kept += sigmoid(a[2 + j] + times(model, "t.Uf", 2, k.h)[j]) * k.c[j];
    c.push_back(sigmoid(a[j] + b[j]) * std::tanh(a[4 + j] + b[2 + j]) + kept);
    h.push_back(sigmoid(a[6 + j] + b[4 + j]) * std::tanh(c.back()));
  }
  Vector expected = h;
  expected.insert(expected.end(), c.begin(), c.end());
  expectNear(model.numbers("run", R"({"args": {"x": [0.5, -2], "kids": [{"h": [1, 2], "c": [0.5, 0.25]},
                                     {"h": [-1, 0.5], "c": [2, -1]}]}})"),
             expected);
  EXPECT_EQ(model.numbers("run", R"({"args": {"x": [0.5, -2], "kids": []}})").size(), 4u);
}

// Two heads over three elements.
TEST(Library, Attention) {
  Model model("model m; import nn; param a: nn.Attention[4, 2, 3], n: nn.LayerNorm[4];\n"
              "entry run(x: f32[4], ys: [f32[4]]) -> f32[4] { a(x, ys) }\n"
              "entry norm(x: f32[4]) -> f32[4] { n(x) }");
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(9);
  std::vector<Vector> ys = {{1, 0, 2, 0.5}, {-1, 1, 0, 0}, {0.5, 0.5, -2, 1}};
  Vector x = {0.25, -1, 1, 2}, q = times(model, "a.Q", 6, x), mixed(6);
  for (size_t head = 0; head < 2; ++head) {
    Vector weights;
    double total = 0;
    for (const Vector &y : ys) {
      Vector k = times(model, "a.K", 6, y);
      double score = 0;
      for (size_t j = 0; j < 3; ++j)
        score += q[3 * head + j] * k[3 * head + j];
      weights.push_back(std::exp(score / std::sqrt(3.0)));
      total += weights.back();
    }
    for (size_t i = 0; i < ys.size(); ++i)
      for (size_t j = 0; j < 3; ++j)
        mixed[3 * head + j] += weights[i] / total * times(model, "a.V", 6, ys[i])[3 * head + j];
  }
  expectNear(model.numbers("run", R"({"args": {"x": [0.25, -1, 1, 2],
                                     "ys": [[1, 0, 2, 0.5], [-1, 1, 0, 0], [0.5, 0.5, -2, 1]]}})"),
             times(model, "a.O", 4, mixed));
  double mean = (0.25 - 1 + 1 + 2) / 4, square = 0;
  for (double v : x)
    square += (v - mean) * (v - mean) / 4;
  Vector normed;
  for (double v : x)
    normed.push_back((v - mean) / std::sqrt(square + 1e-5));
  expectNear(model.numbers("norm", R"({"args": {"x": [0.25, -1, 1, 2]}})"), normed);
}
