// Losses that together have every operation, list, cell and loop that a gradient goes through.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_TEST_ORACLE_GRADIENTCASES_H
#define DBC_TEST_ORACLE_GRADIENTCASES_H

#include "TestSupport.h"
#include <cmath>
#include <gtest/gtest.h>
#include <ostream>

namespace dbc::oracletest {

struct Case {
  const char *name;
  const char *text; ///< behind the model's name and parameters
  const char *line = R"({"args": {}})";
  const char *loss = "f";
};

inline std::ostream &operator<<(std::ostream &out, const Case &of) { return out << of.name; }

constexpr const char *kParameters = R"(
  model m;
  param a: f32[3];  param b: f32[3];  param s: f32;  param W: f32[3, 3];  param M: f32[2, 3];  param E: f32[5, 3];
  param K: f32[2, 1, 2, 2];
  data Tree { Leaf(w: index[5]); Node(left: Tree, right: Tree); }
)";

/// Of the numbers of one row.
inline const Case kRowCases[] = {
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
    {"broadcast_along_axes_of_one",
     "loss f() { sum(square(reshape(a, 3, 1) * W)) + sum(tanh(M * reshape(b, 1, 3))) }"},
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
    {"joined_numbers", "loss f() { let x = [s, a[0] * b[1], s * s]; sum(x * b * [1.0, 2.0, 4.0]) }"},
    {"conv2d_of_channels", "loss f() { sum(square(conv2d(reshape([W, W * a], 2, 3, 3), reshape([K, K * s], "
                           "2, 2, 2, 2), stride = (1, 2), "
                           "padding = (0, 1)))) }"},
    {"conv2d_of_other_extents", "loss f() { sum(tanh(conv2d(reshape(E, 1, 5, 3), reshape(M, 1, 1, 2, 3), "
                                "stride = (2, 1), padding = (2, 0)))) }"},
    {"conv2d_beside_the_picture",
     "loss f() { sum(tanh(conv2d(reshape(a, 1, 1, 3), reshape(W, 1, 1, 3, 3), padding = (1, 0)))) }"},
    {"topk",
     "loss f() { let (best, at) = topk(a, 2); sum(square(best)) + sum(W[at[0]] * b) + sum(W[at[1]]) }"},
    {"outputs", "loss f() -> (f32, f32[3]) { (a @ b, a * 2) }"},
};

/// At kinks, where central differences say nothing.
inline const Case kKinks[] = {
    {"kinks_of_functions",
     "loss f() { sum(relu(a - a)) + sum(abs(a - a)) + sum(relu(a) * b) + sum(clip(a - a, 0, 1) * b) }"},
    {"equal_operands", "loss f() { sum(maximum(a, a * 1) * b) + sum(minimum(a * 1, a) * 3) }"},
    {"equal_elements",
     "loss f() { let x = [a, a]; let y = [b, b]; max(x) * s + min(y) + sum(max([W, W], axis = 0) * a) + "
     "sum(min(W - W, axis = 1)) }"},
    {"kinks_of_one_side", "loss f() { let z = a - detach(a); sum(relu(z) * b) + sum(abs(z) * b) + "
                          "sum(clip(z, 0, 1) * b) + sum(clip(z, -1, 0) "
                          "* a) + sum(pow(z, 2)) }"},
    {"equal_to_detached", "loss f() { let c = detach(a); sum(maximum(a, c) * b) + 2 * sum(maximum(c, a) * b) "
                          "+ 4 * sum(minimum(a, c) * b) + 8 * "
                          "sum(minimum(c, a) * b) }"},
    {"elements_equal_to_detached",
     "loss f() { let x = [a, detach(a)]; let y = [detach(b), b]; max(x) + 2 * min(x) + 4 * max(y) + 8 * "
     "min(y) + "
     "sum(max(reshape(x, 2, 3), axis = 0) * b) + sum(min(reshape(y, 2, 3), axis = 0) * a) }"},
    {"infinities_not_chosen", "loss f() { let z = a - a; sum(select(z > 1, log(z) + s / z + sqrt(z) + pow(z, "
                              "b - 9) + pow(z, -1) + exp(z + 1000) + "
                              "z * exp(z + 1000) + logsumexp(a * exp(z + 1000)), b)) + (if s - s > 1 { "
                              "sum(softmax(a / (s - s)) * b) } else { s }) }"},
    {"not_chosen", "loss f() { sum(sqrt(relu(a + 2))) + sum(select(a > b, a / (a + 2), b)) }"},
    {"powers_of_zero", "loss f() { sum(pow(a - a, 2)) + sum(pow(a + 2, b - b)) }"},
    {"powers_of_detached_zero",
     "loss f() { let z = a - detach(a); sum(pow(z, b - b) * b) + sum(pow(z, b * b + 1) * a) }"},
    {"infinite_products_not_chosen",
     "loss f() { (if s - s > 1 { sum((W / (s - s)) @ (a * 2)) } else { s }) * a[0] }"},
};

/// Of lists, cells and loops.
inline const Case kListCases[] = {
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
};

/// Numbers with few binary digits, so that what is added to them is exact in float.
inline float drawn(int n) { return std::round(1024 * std::sin(12.9898f * static_cast<float>(n + 1))) / 1024; }

/// Sets all parameters of a model to such numbers.
inline void setDrawn(Model &model) {
  int n = 0;
  for (int32_t p = 0; p < model.weights().count(); ++p) {
    for (size_t i = 0; i < model.weights().size(p); ++i)
      model.weights().data(p)[i] = drawn(n++);
    model.weights().mark_given(p);
  }
}

inline std::string nameOf(const testing::TestParamInfo<Case> &info) { return info.param.name; }

} // namespace dbc::oracletest

#endif // DBC_TEST_ORACLE_GRADIENTCASES_H
