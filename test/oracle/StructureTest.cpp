// Cells, nodes, matches: what an instance is and how often it is computed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "TestSupport.h"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sstream>

using namespace dbc;
using namespace dbc::oracletest;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// DESIGN's Tree-LSTM on Node(Leaf 2, Leaf 0), against the same in plain loops.
TEST(Structure, TreeLstm) {
  std::ifstream file(DBC_SOURCE_DIR "/examples/tree_lstm/tree_lstm.dyn");
  std::stringstream text;
  text << file.rdbuf();
  constexpr int vocab = 4, embed = 3, hidden = 2, classes = 5;
  Model model(text.str(), {{"vocab", vocab}, {"embed", embed}, {"hidden", hidden}, {"classes", classes}});
  ASSERT_EQ(model.diagnostics(), "");
  model.draw(7);
  auto w = [&](const char *name, int i) { return model.weight(name, i); };
  struct State {
    double h[hidden], c[hidden];
  };
  auto leaf = [&](int word) {
    double pre[3 * hidden];
    for (int r = 0; r < 3 * hidden; ++r) {
      pre[r] = w("b", r);
      for (int k = 0; k < embed; ++k)
        pre[r] += w("W", r * embed + k) * w("E", word * embed + k);
    }
    State s;
    for (int j = 0; j < hidden; ++j) {
      s.c[j] = sigmoid(pre[j]) * std::tanh(pre[2 * hidden + j]);
      s.h[j] = sigmoid(pre[hidden + j]) * std::tanh(s.c[j]);
    }
    return s;
  };
  auto node = [&](State l, State r) {
    double pre[5 * hidden];
    for (int row = 0; row < 5 * hidden; ++row) {
      pre[row] = w("d", row);
      for (int k = 0; k < 2 * hidden; ++k)
        pre[row] += w("U", row * 2 * hidden + k) * (k < hidden ? l.h[k] : r.h[k - hidden]);
    }
    State s;
    for (int j = 0; j < hidden; ++j) {
      auto gate = [&](int g) { return pre[g * hidden + j]; };
      s.c[j] = sigmoid(gate(0)) * std::tanh(gate(4)) + sigmoid(gate(1)) * l.c[j] + sigmoid(gate(2)) * r.c[j];
      s.h[j] = sigmoid(gate(3)) * std::tanh(s.c[j]);
    }
    return s;
  };
  auto logits = [&](State s) {
    std::vector<double> z(classes);
    for (int c = 0; c < classes; ++c) {
      z[c] = w("e", c);
      for (int j = 0; j < hidden; ++j)
        z[c] += w("V", c * hidden + j) * s.h[j];
    }
    return z;
  };
  auto norm = [](const std::vector<double> &z) {
    double sum = 0;
    for (double x : z)
      sum += std::exp(x);
    return std::log(sum);
  };
  State a = leaf(2), b = leaf(0), top = node(a, b);
  std::vector<double> z = logits(top), expected;
  for (double x : z)
    expected.push_back(std::exp(x - norm(z)));
  const char *line = R"({"nodes": [{"Leaf": {"word": 2, "label": 1}}, {"Leaf": {"word": 0, "label": 4}},
                        {"Node": {"left": 0, "right": 1, "label": 3}}], "args": {"t": 2}})";
  expectNear(model.numbers("sentiment", line), expected);
  double loss = norm(logits(a)) - logits(a)[1] + norm(logits(b)) - logits(b)[4] + norm(z) - z[3];
  expectNear(model.numbers("nll", line), {loss});
}

static const char *kSteps = R"(model m;
data T { End(v: f32); Step(next: T, v: f32); }
cell total(t: T) -> f32 { match t { End(v) => v, Step(next, v) => total(next) + v } }
entry run(t: T) -> f32 { total(t) }
)";

/// A chain of n nodes, each with v = 1, the last being the end.
static void chain(Batch &batch, int32_t n) {
  batch.begin_input();
  for (int32_t i = 0; i < n; ++i) {
    int32_t node = batch.add_node(0, i + 1 < n);
    for (int32_t column = 0; column < batch.columns(0); ++column) {
      if (batch.column_info(0, column).name == "v")
        batch.set_f32(0, node, column, 1);
      else if (i + 1 < n)
        batch.set_node(0, node, column, node + 1);
    }
  }
  batch.set_node(batch.args(), 0, batch.arg_column(0, 0), 0);
  batch.finish();
}

// A chain of a million nodes needs no more machine stack than one of two.
TEST(Structure, MillionNodesOnSmallStack) {
  Model model(kSteps);
  ASSERT_EQ(model.diagnostics(), "");
  Batch batch(model.info());
  chain(batch, 1000000);
  struct Task {
    Model &model;
    Batch &batch;
    oracle::Outcome outcome;
  } task{model, batch, {}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 20);
  pthread_t thread;
  auto body = [](void *p) -> void * {
    auto *task = static_cast<Task *>(p);
    task->outcome = task->model.run("run", task->batch);
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, body, &task), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  ASSERT_TRUE(task.outcome.status.ok()) << task.outcome.status.message;
  EXPECT_EQ(task.outcome.values[0].scalar(), 1e6);
}

// A node with a million children.
TEST(Structure, MillionChildren) {
  Model model("model m; data T(v: f32, kids: [T]);\n"
              "cell f(t: T) -> f32 { t.v + sum(k in t.kids) f(k) }\n"
              "entry run(t: T) -> f32 { f(t) }");
  ASSERT_EQ(model.diagnostics(), "");
  constexpr int32_t children = 1000000;
  Batch batch(model.info());
  batch.begin_input();
  std::vector<int32_t> kids;
  for (int32_t i = 0; i <= children; ++i) {
    int32_t node = batch.add_node(0, 0);
    for (int32_t column = 0; column < batch.columns(0); ++column) {
      if (batch.column_info(0, column).name == "v")
        batch.set_f32(0, node, column, 1);
      else
        batch.set_empty(0, node, column);
    }
    if (i > 0)
      kids.push_back(node);
  }
  for (int32_t column = 0; column < batch.columns(0); ++column)
    if (batch.column_info(0, column).name == "kids")
      batch.set_list(0, 0, column, kids.data(), kids.size());
  batch.set_node(batch.args(), 0, batch.arg_column(0, 0), 0);
  batch.finish();
  oracle::Outcome outcome = model.run("run", batch);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message;
  EXPECT_EQ(outcome.values[0].scalar(), 1.0 + children);
}

// Both fields of each of 60 nodes refer to the next one: 2^60 paths, 60 values.
TEST(Structure, SharedNodesAreComputedOnce) {
  Model model("model m; data T { End; Pair(a: T, b: T); }\n"
              "cell paths(t: T) -> f32 { match t { End => 1, Pair(a, b) => paths(a) + paths(b) } }\n"
              "entry run(t: T) -> f32 { paths(t) }");
  std::string line = R"({"nodes": [{"End": {}})";
  for (int i = 0; i < 60; ++i) {
    std::string to = std::to_string(i);
    line += R"(, {"Pair": {"a": )" + to + R"(, "b": )" + to + "}}";
  }
  expectNear(model.numbers("run", line + R"(], "args": {"t": 60}})"), {std::pow(2.0, 60)});
}

// Cells over two types call each other; lists of any length, the empty one too.
TEST(Structure, MutualCellsAndLists) {
  Model model("model m; data A(v: f32, bs: [B]); data B(w: f32, as: [A]);\n"
              "cell f(a: A) -> f32 { a.v + sum(b in a.bs) g(b) }\n"
              "cell g(b: B) -> f32 { b.w * sum(a in b.as) f(a) }\n"
              "entry run(a: A) -> f32 { f(a) }");
  ASSERT_EQ(model.diagnostics(), "");
  const char *line = R"({"nodes": [{"A": {"v": 1, "bs": [1, 2]}}, {"B": {"w": 10, "as": [3, 4]}},
      {"B": {"w": 7, "as": []}}, {"A": {"v": 2, "bs": []}}, {"A": {"v": 3, "bs": [2]}}], "args": {"a": 0}})";
  expectNear(model.numbers("run", line), {1 + 10 * (2 + 3)});
}

// `nodes(t)`: each once, by number, whatever the way to it; here through another type and around a cycle.
TEST(Structure, Nodes) {
  Model model("model m; data A(v: f32, to: [B]); data B(a: A);\n"
              "entry run(a: A) -> [f32] { map(n in nodes(a)) n.v }");
  ASSERT_EQ(model.diagnostics(), "");
  const char *line =
      R"({"nodes": [{"A": {"v": 5, "to": [4]}}, {"A": {"v": 6, "to": [5]}}, {"A": {"v": 7, "to": []}},
      {"A": {"v": 8, "to": []}}, {"B": {"a": 1}}, {"B": {"a": 0}}, {"B": {"a": 3}}], "args": {"a": 1}})";
  expectNear(model.numbers("run", line), {5, 6});
}

// A match with `_`, an arm's own names, a structural `if` over equality of nodes, fields of several types.
TEST(Structure, MatchAndIf) {
  Model model(R"(model m;
data T { A(x: f32, i: int); B(x: f32, flag: bool); C(x: f32, v: f32[2]); }
fn pick(t: T) -> f32 {
  match t { C(v = w) => w[0] * w[1], A(i) => f32(i) + t.x, _ => t.x }
}
entry run(s: T, t: T) -> (f32, f32) { (pick(s), if s == t { 1 } else { if s != t && true { 2 } else { 3 } }) })");
  ASSERT_EQ(model.diagnostics(), "");
  const std::string nodes = R"({"nodes": [{"A": {"x": 0.5, "i": -3}}, {"B": {"x": 4, "flag": true}},
                               {"C": {"x": 1, "v": [3, 5]}}], "args": )";
  expectNear(model.numbers("run", nodes + R"({"s": 0, "t": 0}})"), {-2.5, 1});
  expectNear(model.numbers("run", nodes + R"({"s": 1, "t": 2}})"), {4, 2});
  expectNear(model.numbers("run", nodes + R"({"s": 2, "t": 1}})"), {15, 2});
}

// Layers are instances by the path of their parameter; a cell in one is an instance of its own for each.
TEST(Structure, LayerPaths) {
  Model model(R"(model m; dim n = 2;
data T(v: f32[n], kids: [T]);
layer Deep[k] { param w: f32[k]; fn call(x: f32[k]) -> f32 { w @ x } }
layer Up[k] {
  param inner: Deep[n], s: f32 = 1;
  const bias: f32[k];
  cell up(t: T) -> f32 { s * inner(t.v) + sum(bias) + sum(c in t.kids) up(c) }
}
param a: Up[n], b: Up[n];
entry run(t: T) -> (f32, f32, f32) { (a.up(t), b.up(t), a.inner.w[1] + b.s) })");
  ASSERT_EQ(model.diagnostics(), "");
  std::vector<std::string> paths;
  for (const ParamInfo &param : model.info().params)
    paths.push_back(param.name);
  EXPECT_EQ(paths, (std::vector<std::string>{"a.inner.w", "a.s", "a.bias", "b.inner.w", "b.s", "b.bias"}));
  model.set("a.inner.w", {1, 10});
  model.set("b.inner.w", {2, 3});
  model.set("a.s", {2});
  model.set("b.s", {1});
  model.set("a.bias", {0.5, 0.25});
  model.set("b.bias", {0, 0});
  const char *line = R"({"nodes": [{"T": {"v": [1, 2], "kids": [1]}}, {"T": {"v": [3, 4], "kids": []}}],
                        "args": {"t": 0}})";
  expectNear(model.numbers("run", line), {2 * 21 + 0.75 + 2 * 43 + 0.75, 8 + 18, 11});
}

// Cells that give lists, and lists of records; arguments that are tuples, records and lists of them.
TEST(Structure, RecordsTuplesLists) {
  Model model(R"(model m;
data S(xs: [f32]);
record P { a: f32; b: f32[2]; }
cell twice(s: S) -> [P] { map(x in s.xs) P { b = [x, 2 * x], a = -x } }
entry run(s: S, p: P, q: (f32, [P])) -> ([P], f32) {
  let (k, ps) = q;
  let all = twice(s);
  let c = sum(r in ps) { r.a * r.b[1] };
  (all, k + p.a + p.b[0] + c + all[-1].b[1])
})");
  ASSERT_EQ(model.diagnostics(), "");
  const char *line = R"({"nodes": [{"S": {"xs": [3, 4]}}],
      "args": {"s": 0, "p": {"a": 100, "b": [1000, 0]}, "q": [0.5, [{"a": 2, "b": [0, 3]}, {"a": 1, "b": [9, 4]}]]}})";
  expectNear(model.numbers("run", line), {-3, -4, 3, 6, 4, 8, 0.5 + 100 + 1000 + 6 + 4 + 8});
}
