// Dropout in losses that are trained (manual, G2): what masks depend on, and what they do not.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::oracletest;

namespace {

/// A model for training, whose losses drop as input `number` does at step `step` of seed 1.
class Dropping {
public:
  explicit Dropping(const std::string &text) : model("model m;\n" + text, {}, /*train=*/true) {
    EXPECT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
    model.draw(1);
  }
  std::vector<double> at(int64_t step, int64_t number, const std::string &entry, const std::string &line) {
    model.interpreter().setDropout(1, step, number);
    return model.numbers(entry, line);
  }
  Model model;
};

const char *const kEight = R"({"args": {"x": [1, 1, 1, 1, 1, 1, 1, 1]}})";

} // namespace

TEST(Dropout, DividesWhatItKeeps) {
  Dropping m("loss f(x: f32[8]) -> (f32, f32[8]) { (0, dropout(x, 0.75)) }");
  EXPECT_EQ(m.model.numbers("f", kEight), std::vector<double>({0, 1, 1, 1, 1, 1, 1, 1, 1})); // nobody trains
  std::set<std::vector<double>> masks;
  for (int64_t step = 0; step < 4; ++step)
    for (int64_t number = 0; number < 4; ++number) {
      std::vector<double> found = m.at(step, number, "f", kEight);
      for (double each : found)
        EXPECT_TRUE(each == 0 || each == 4) << each;
      EXPECT_EQ(found, m.at(step, number, "f", kEight));
      masks.insert(found);
    }
  EXPECT_GT(masks.size(), 10u);
}

// In an entry it is the identity, also where a loss calls the same cell.
TEST(Dropout, EntriesKeepAll) {
  Dropping m(R"(data T(x: f32[8]);
cell c(t: T) -> f32[8] { dropout(t.x, 0.5) }
entry e(t: T) -> f32[8] { c(t) }
loss f(t: T) -> (f32, f32[8]) { (0, c(t)) })");
  const std::string line = R"({"nodes": [{"T": {"x": [1, 1, 1, 1, 1, 1, 1, 1]}}], "args": {"t": 0}})";
  EXPECT_EQ(m.at(2, 3, "e", line), std::vector<double>(8, 1));
  EXPECT_NE(m.at(2, 3, "f", line), std::vector<double>({0, 1, 1, 1, 1, 1, 1, 1, 1}));
}

// What is linear in x gives on average what it gives without dropping: within five deviations of 4000 steps.
TEST(Dropout, IsRightOnAverage) {
  Dropping m("loss f(x: f32[8]) { sum(dropout(x, 0.3) * [1.0, -2.0, 3.0, -4.0, 5.0, -6.0, 7.0, -8.0]) }");
  double sum = 0;
  constexpr int kSteps = 4000;
  for (int64_t step = 0; step < kSteps; ++step)
    sum += m.at(step, 0, "f", kEight)[0];
  const double squares = 204, deviation = std::sqrt(squares * 0.3 / 0.7 / kSteps);
  EXPECT_NEAR(sum / kSteps, -4, 5 * deviation);
}

// Equal expressions have one mask; other ones, and other places, have masks of their own (C8).
TEST(Dropout, EqualExpressionsShare) {
  Dropping m(R"(param one: f32[32] = 1;
fn drop(x: f32[32]) -> f32[32] { dropout(x, 0.5) }
fn list(xs: [f32[32]]) -> [f32[32]] { map(x in xs) drop(x) }
loss equal(x: f32[32]) -> (f32, bool) { (0, all(drop(x) == dropout(x, 0.5))) }
loss lists(xs: [f32[32]]) -> (f32, bool) { (0, all((a, b) in zip(list(xs), list(xs))) all(a == b)) }
loss rates(x: f32[32]) -> (f32, bool) { (0, all((drop(x) == 0) == (dropout(x, 0.25) == 0))) }
loss places(x: f32[32]) -> (f32, bool) { (0, all(drop(x) == drop(x * 1.5) / 1.5)) }
loss outside(x: f32[32], xs: [f32[32]]) -> (f32, bool) {
  let ys = map(y in xs) { drop(x) };
  (0, all(y in ys) all(y == ys[0]))
}
loss inside(xs: [f32[32]]) -> (f32, bool) { let ys = list(xs); (0, all(y in ys) all(y == ys[0])) }
loss of_range() -> (f32, bool) { let ys = map(i in 0..3) drop(one * f32(i + 1) / f32(i + 1)); (0, all(y in ys) all(y == ys[0])) }
loss parameters() -> (f32, f32[32]) { (0, drop(one)) })");
  std::string ones = "[1";
  for (int i = 1; i < 32; ++i)
    ones += ", 1";
  ones += "]";
  const std::string line =
      R"({"args": {"x": )" + ones + R"(, "xs": [)" + ones + ", " + ones + ", " + ones + "]}}";
  auto second = [&](const char *loss, const std::string &only) {
    std::string given = R"({"args": {)";
    if (only.find("x ") != std::string::npos)
      given += R"("x": )" + ones;
    if (only.find("xs ") != std::string::npos)
      given += (given.back() == '{' ? "" : ", ") + (R"("xs": [)" + ones + ", " + ones + ", " + ones + "]");
    return m.at(5, 6, loss, given + "}}")[1];
  };
  EXPECT_EQ(second("equal", "x "), 1);
  EXPECT_EQ(second("lists", "xs "), 1);
  EXPECT_EQ(second("outside", "x xs "), 1);
  EXPECT_EQ(second("rates", "x "), 0);
  EXPECT_EQ(second("places", "x "), 0);
  EXPECT_EQ(second("inside", "xs "), 0);
  EXPECT_EQ(second("of_range", ""), 0);
  // Parameters alone: the same for all inputs, but not at all steps.
  const std::string none = R"({"args": {}})";
  EXPECT_EQ(m.at(5, 6, "parameters", none), m.at(5, 7, "parameters", none));
  EXPECT_NE(m.at(5, 6, "parameters", none), m.at(6, 6, "parameters", none));
}

// Layers, layers of tables, instances of cells and their keys.
TEST(Dropout, LayersAndInstancesDiffer) {
  Dropping m(R"(data T(x: f32[32], next: [T]);
layer L { param k: f32 = 1; fn call(x: f32[32]) -> f32[32] { dropout(x * k, 0.5) } }
param first: L, second: L, table: [L; 3];
loss layers(x: f32[32]) -> (f32, bool) { (0, all(first(x) == second(x))) }
loss tables(x: f32[32]) -> (f32, bool) { let y = table[0](x); (0, all(table[1](x) == y) || all(table[2](x) == y)) }
loss of_table(x: f32[32]) -> (f32, bool) { let ys = map(l in table) l(x); (0, all(ys[1] == ys[0])) }
cell c(t: T, n in 0..3) -> f32[32] { dropout(t.x, 0.5) }
loss keys(t: T) -> (f32, bool) { (0, all(c(t, 0) == c(t, 1))) }
loss nodes_(t: T) -> (f32, bool) { (0, all(c(t, 0) == c(t.next[0], 0))) }
loss same_(t: T) -> (f32, bool) { (0, all(c(t, 2) == c(t, 2))) })");
  std::string ones = "[1";
  for (int i = 1; i < 32; ++i)
    ones += ", 1";
  ones += "]";
  for (const char *loss : {"layers", "tables", "of_table"})
    EXPECT_EQ(m.at(1, 1, loss, R"({"args": {"x": )" + ones + "}}")[1], 0) << loss;
  const std::string line = R"({"nodes": [{"T": {"x": )" + ones + R"(, "next": [1]}}, {"T": {"x": )" + ones +
                           R"(, "next": []}}], "args": {"t": 0}})";
  EXPECT_EQ(m.at(1, 1, "keys", line)[1], 0);
  EXPECT_EQ(m.at(1, 1, "nodes_", line)[1], 0);
  EXPECT_EQ(m.at(1, 1, "same_", line)[1], 1);
}

// What was dropped has no gradient, and what was kept has that of its mask.
TEST(Dropout, GradientsHaveTheMask) {
  Dropping m("param a: f32[8] = 2;\nloss f(x: f32[8]) -> (f32, f32[8]) { let y = dropout(x * a, 0.5); "
             "(sum(y), y) }");
  m.model.interpreter().setDropout(1, 2, 3);
  oracle::Outcome outcome = m.model.differentiate("f", kEight);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message;
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(outcome.gradient.parameters["a"][i] * 2, outcome.values[1].at(i));
}

TEST(Dropout, RatesAreNumbers) {
  auto said = [](const char *text) { return Model(text, {}, /*train=*/true).diagnostics(); };
  EXPECT_NE(
      said("model m; loss f(x: f32[2], p: f32) { sum(dropout(x, p)) }")
          .find("1:53: error: the rate of `dropout` is computed: a loss trains with one made of numbers and "
                "dims [G2]"),
      std::string::npos)
      << said("model m; loss f(x: f32[2], p: f32) { sum(dropout(x, p)) }");
  EXPECT_NE(
      said("model m; dim n = 4; loss f(x: f32[2]) { sum(dropout(x, n / 4)) }")
          .find("error: `dropout` divides by 1 - p: the rate p is at least 0 and below 1, which it is not at "
                "these sizes [G2]"),
      std::string::npos)
      << said("model m; dim n = 4; loss f(x: f32[2]) { sum(dropout(x, n / 4)) }");
  EXPECT_EQ(said("model m; dim n = 4; const q = 2; fn half(p: f32) -> f32 { p / q } "
                 "loss f(x: f32[2]) { sum(dropout(x, half(1 / n))) }"),
            "");
}
