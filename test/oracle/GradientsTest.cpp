// The tape against central differences, and the rules G1 and G2 at kinks and in arms that are not selected.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace dbc;
using namespace dbc::oracletest;

namespace {

struct Case {
  const char *name;
  const char *text; ///< behind the model's name and parameters
  const char *line = R"({"args": {}})";
  const char *loss = "f";
};

std::ostream &operator<<(std::ostream &out, const Case &of) { return out << of.name; }

constexpr const char *kParameters = R"(
  model m;
  param a: f32[3];  param b: f32[3];  param s: f32;  param W: f32[3, 3];  param M: f32[2, 3];  param E: f32[5, 3];
  param K: f32[2, 1, 2, 2];
  data Tree { Leaf(w: index[5]); Node(left: Tree, right: Tree); }
)";

const Case kCases[] = {
    {"add_sub", "loss f() { sum(a + b * 2 - s) }"},
    {"mul", "loss f() { sum(a * b * a * s) }"},
    {"div", "loss f() { sum(a / (b + 3) / (s + 4)) }"},
    {"neg_square", "loss f() { sum(-square(a) * b) }"},
    {"exp_log", "loss f() { sum(exp(a) * log(b + 3)) }"},
    {"sqrt_abs", "loss f() { sum(sqrt(a + 3) * abs(b)) }"},
    {"sin_cos", "loss f() { sum(sin(a) * cos(b)) }"},
    {"tanh_sigmoid", "loss f() { sum(tanh(a) * sigmoid(b)) }"},
    {"relu_gelu_softplus", "loss f() { sum(relu(a) + gelu(b) * softplus(a * 3)) }"},
    {"pow", "loss f() { sum(pow(a + 3, b)) + sum(pow(a + 2, 3)) }"},
    {"maximum_minimum_clip",
     "loss f() { sum(maximum(a, b) * 2 + minimum(a, b) * a + clip(a * 2, -0.5, 0.7)) }"},
    {"select", "loss f() { sum(select(a > b, a * a, b * 3)) }"},
    {"if_computed", "loss f() { if sum(a) > sum(b) { sum(a * a) } else { sum(b * a) } }"},
    {"product", "loss f() { sum(tanh(W @ a) * b) }"},
    {"product_of_matrices", "loss f() { sum(square(M @ W)) + sum((W @ W) @ a) }"},
    {"dot", "loss f() { (a @ b) * (a @ W @ b) }"},
    {"broadcast", "loss f() { sum(M * a * s) }"},
    {"transpose_reshape",
     "loss f() { sum(transpose(M) @ (M @ a) * b) + sum(square(reshape(M, 3, 2)) @ [1.0, 2.0]) }"},
    {"concat_slice", "loss f() { let c = [a, b, a]; sum(c[1..6] * [a, b][0..5]) }"},
    {"element", "loss f() { a[0] * W[1, 2] * sum(W[2]) }"},
    {"gather", "loss f(w: index[5], v: index[5]) { sum(E[w] * E[v] * E[w]) }",
     R"({"args": {"w": 3, "v": 1}})"},
    {"sum_mean", "loss f() { sum(mean(W, axis = 0) * a) + mean(square(M)) + sum(square(sum(M, axis = 1))) }"},
    {"max_min", "loss f() { max(a) * min(b) + sum(square(max(W, axis = 1)) - min(W, axis = 0) * a) }"},
    {"logsumexp", "loss f() { logsumexp(a * 3) + sum(square(logsumexp(W, axis = 0))) }"},
    {"softmax",
     "loss f() { sum(softmax(a) * b) + sum(log_softmax(b * 2) * a) + sum(square(softmax(W, axis = 0))) }"},
    {"cross_entropy", "loss f(k: index[3]) { cross_entropy(W @ a, k) + cross_entropy(b, softmax(a)) }",
     R"({"args": {"k": 2}})"},
    {"binary_cross_entropy", "loss f(y: f32) { binary_cross_entropy(a @ b, y) }", R"({"args": {"y": 1}})"},
    {"conv2d", "loss f() { sum(square(conv2d(reshape(W, 1, 3, 3), K, stride = 2, padding = 1))) }"},
    {"topk",
     "loss f() { let (best, at) = topk(a, 2); sum(square(best)) + sum(W[at[0]] * b) + sum(W[at[1]]) }"},
    {"map_sum", "loss f(xs: [f32[3]]) { sum(x in xs) sum(tanh(W @ x) * a) }",
     R"({"args": {"xs": [[1, 2, 3], [0.5, -1, 2]]}})"},
    {"list_mean_max",
     "loss f(xs: [f32[3]]) { let ys = map(x in xs) { W @ x }; sum(mean(ys) * a) + sum(max(ys) * b) + "
     "sum(min(ys)) }",
     R"({"args": {"xs": [[1, 2, 3], [0.5, -1, 2], [0, 1, 0]]}})"},
    {"list_logsumexp", "loss f(xs: [f32]) { logsumexp(x in xs) { x * a[0] * a[1] } }",
     R"({"args": {"xs": [1, 2, -1]}})"},
    {"list_softmax",
     "loss f(xs: [f32[3]]) { let w = softmax(map(x in xs) { x @ a }); sum((p, x) in zip(w, xs)) { p * (W @ "
     "x)[1] } }",
     R"({"args": {"xs": [[1, 0, 2], [0.5, -1, 0.25]]}})"},
    {"filter", "loss f(xs: [int]) { sum(x in xs if x > 0) square(f32(x) * s + a[0]) }",
     R"({"args": {"xs": [1, -2, 3]}})"},
    {"scan", "loss f(xs: [f32[3]]) { sum(h in scan(x in xs, h = a) tanh(W @ h + x)) { h @ b } }",
     R"({"args": {"xs": [[1, 0, 1], [0, 1, 0], [1, 1, 0]]}})"},
    {"scan_back", "loss f(xs: [f32[3]]) { sum(h in scan_back(x in xs, h = a) tanh(W @ h + x)) { h @ b } }",
     R"({"args": {"xs": [[1, 0, 1], [0, 1, 0]]}})"},
    {"fold_while", "loss f() { let (h, n) = fold(i in 0..20, (h, n) = (a, 1.0) while n > 0.1) (tanh(W @ h), "
                   "n * 0.6); h @ b * n }"},
    {"tree",
     "cell enc(t: Tree) -> f32[3] { match t { Leaf(w) => E[w], Node(left, right) => tanh(W @ enc(left) + "
     "enc(right) * a) } }\n"
     "loss f(t: Tree) { sum(n in nodes(t)) { enc(n) @ b } }",
     R"({"nodes": [{"Leaf": {"w": 1}}, {"Leaf": {"w": 2}}, {"Node": {"left": 0, "right": 1}}, {"Node": {"left": 2, "right": 0}}], "args": {"t": 3}})"},
    {"outputs", "loss f() -> (f32, f32[3]) { (a @ b, a * 2) }"},
};

class Gradients : public testing::TestWithParam<Case> {};

/// Numbers with few binary digits, so that what is added to them is exact in float.
float drawn(int n) { return std::round(1024 * std::sin(12.9898 * (n + 1))) / 1024; }

} // namespace

TEST_P(Gradients, AreCentralDifferences) {
  const Case &of = GetParam();
  const std::string text = std::string(kParameters) + of.text;
  Model model(text);
  ASSERT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  int n = 0;
  for (int32_t p = 0; p < model.weights().count(); ++p) {
    for (size_t i = 0; i < model.weights().size(p); ++i)
      model.weights().data(p)[i] = drawn(n++);
    model.weights().mark_given(p);
  }
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

INSTANTIATE_TEST_SUITE_P(Of, Gradients, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

static std::vector<double> gradientOf(const char *text, const char *path, const std::vector<float> &weights,
                                      const char *line = R"({"args": {}})") {
  Model model(std::string("model m;\n") + text);
  EXPECT_EQ(model.diagnostics().find("error:"), std::string::npos) << model.diagnostics();
  model.set(path, weights);
  oracle::Outcome outcome = model.differentiate("f", line);
  EXPECT_TRUE(outcome.status.ok()) << outcome.status.message;
  return outcome.gradient.parameters[path];
}

// LANGUAGE G1.
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

// LANGUAGE G2: what is not selected gives nothing, be it infinite or no number.
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

// LANGUAGE G3.
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
