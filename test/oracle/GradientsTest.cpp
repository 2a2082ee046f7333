// The tape against central differences, and the rules G1 and G2 at kinks and in arms that are not selected.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "GradientCases.h"
#include "TestSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::oracletest;

namespace {

class Gradients : public testing::TestWithParam<Case> {};

} // namespace

TEST_P(Gradients, AreCentralDifferences) {
  const Case &of = GetParam();
  const std::string text = std::string(kParameters) + of.text;
  Model model(text);
  ASSERT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  setDrawn(model);
  const oracle::Outcome outcome = model.differentiate(of.loss, of.line);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message;
  double largest = 0;
  for (int32_t p = 0; p < model.weights().count(); ++p) {
    const std::string &path = model.info().params[p].name;
    auto found = outcome.gradient.parameters.find(path);
    for (size_t i = 0; i < model.weights().size(p); ++i) {
      float &weight = model.weights().data(p)[i];
      const float at = weight, step = 1.0f / 256;
      auto loss = [&](float steps) {
        weight = at + steps * step;
        model.renew();
        const double value = model.run(of.loss, of.line).values.front().scalar();
        weight = at;
        return value;
      };
      const double difference = (8 * (loss(1) - loss(-1)) - (loss(2) - loss(-2))) / (12 * double(step));
      const double gradient =
          found == outcome.gradient.parameters.end() || found->second.empty() ? 0 : found->second[i];
      EXPECT_NEAR(gradient, difference, 1e-6 * std::max({1.0, std::fabs(gradient), std::fabs(difference)}))
          << path << "[" << i << "]";
      largest = std::max(largest, std::fabs(gradient));
    }
  }
  EXPECT_GT(largest, 0) << "the case tests nothing";
}

INSTANTIATE_TEST_SUITE_P(OfRows, Gradients, testing::ValuesIn(kRowCases), nameOf);
INSTANTIATE_TEST_SUITE_P(OfLists, Gradients, testing::ValuesIn(kListCases), nameOf);

static std::vector<double> gradientOf(const char *text, const char *path, const std::vector<float> &weights,
                                      const char *line = R"({"args": {}})") {
  Model model(std::string("model m;\n") + text);
  EXPECT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  model.set(path, weights);
  oracle::Outcome outcome = model.differentiate("f", line);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message;
  return outcome.gradient.parameters[path];
}

// The manual's G1.
TEST(Gradients, AtKinks) {
  auto of = [](const char *loss, const std::vector<float> &weights) {
    return gradientOf((std::string("param a: f32[3]; loss f() { ") + loss + " }").c_str(), "a", weights);
  };
  using Numbers = std::vector<double>;
  EXPECT_EQ(of("sum(relu(a))", {-1, 0, 1}), (Numbers{0, 0, 1}));
  EXPECT_EQ(of("sum(abs(a))", {-1, 0, 1}), (Numbers{-1, 0, 1}));
  EXPECT_EQ(of("max(a)", {2, 2, 1}), (Numbers{1, 0, 0}));
  EXPECT_EQ(of("min(a)", {2, 1, 1}), (Numbers{0, 1, 0}));
  EXPECT_EQ(of("sum(maximum(a, a * 2))", {-1, 0, 1}), (Numbers{1, 1, 2}));
  EXPECT_EQ(of("sum(minimum(a * 3, a))", {-1, 0, 1}), (Numbers{3, 3, 1}));
  EXPECT_EQ(of("sum(clip(a, -1, 1))", {-2, 0, 2}), (Numbers{0, 1, 0}));
  EXPECT_EQ(of("f32(argmax(a)) * a[0]", {1, 2, 3}), (Numbers{2, 0, 0}));
  // What is not chosen gives nothing, though the adjoint is infinite.
  EXPECT_EQ(of("sum(sqrt(maximum(a, 0)))", {-1, 4, 1}), (Numbers{0, 0.25, 0.5}));
  EXPECT_EQ(of("sum(sqrt(relu(a)))", {-1, 4, 1}), (Numbers{0, 0.25, 0.5}));
}

// The manual's G2: what is not selected gives nothing, be it infinite or no number.
TEST(Gradients, OfArmsThatAreNotSelected) {
  EXPECT_EQ(gradientOf("param a: f32[2]; loss f() { sum(select(a > 0, log(a), a * 3)) }", "a", {2, 0}),
            (std::vector<double>{0.5, 3}));
  EXPECT_EQ(
      gradientOf("param a: f32[2]; loss f() { if a[1] > 0 { a[0] / a[1] } else { a[0] * 2 } }", "a", {3, 0}),
      (std::vector<double>{2, 0}));
  EXPECT_EQ(
      gradientOf("param a: f32[2]; loss f() { sum(select(a > 0, sqrt(a) @ [1.0, 2.0], 0)) }", "a", {4, 1}),
      (std::vector<double>{0.5, 2}));
}

// The manual's G3.
TEST(Gradients, ConstsHaveNone) {
  Model model("model m; const c: f32[2]; param a: f32[2]; loss f() { a @ c }");
  model.set("a", {1, 2});
  model.set("c", {3, 5});
  oracle::Outcome outcome = model.differentiate("f", R"({"args": {}})");
  EXPECT_EQ(outcome.gradient.parameters, (std::map<std::string, std::vector<double>>{{"a", {3, 5}}}));
}

// A field's or argument's gradient is that of a parameter in its place.
TEST(Gradients, OfArguments) {
  Model model(
      "model m; param W: f32[2, 2]; loss f(xs: [f32[2]], y: f32) { sum(x in xs) { (x @ W @ x) * y } }");
  model.set("W", {1, 2, 3, 5});
  oracle::Outcome outcome = model.differentiate("f", R"({"args": {"xs": [[1, 2], [0, 3]], "y": 2}})");
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message;
  std::vector<std::vector<double>> found;
  for (const auto &[column, places] : outcome.gradient.inputs)
    for (const auto &[place, adjoint] : places)
      found.push_back(adjoint);
  // 2 (W + W^T) x, and x^T W x summed.
  EXPECT_EQ(found, (std::vector<std::vector<double>>{{24, 50}, {30, 60}, {31 + 45}}));
}
