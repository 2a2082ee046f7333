// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The files that are generated for Inputs/tree_lstm.mlir, compiled, linked and run: against plain loops, in
// several batchings and thread counts, from flat arrays, and with inputs that are wrong.
#include "tree_lstm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace tree_lstm = dbc::models::tree_lstm;

namespace {

using tree_lstm::Tree;

/// A tree as plain data; nodes in the order in which a batch gets them, children before parents.
struct PlainTree {
  struct Node {
    int left = -1, right = -1, word = -1;
  };
  std::vector<Node> nodes;
};

PlainTree randomTree(std::mt19937 &random, int leaves) {
  PlainTree tree;
  std::vector<int> open;
  for (int i = 0; i < leaves; ++i) {
    open.push_back(static_cast<int>(tree.nodes.size()));
    tree.nodes.push_back({-1, -1, static_cast<int>(random() % 100)});
  }
  while (open.size() > 1) {
    size_t at = random() % (open.size() - 1);
    tree.nodes.push_back({open[at], open[at + 1], -1});
    open[at] = static_cast<int>(tree.nodes.size()) - 1;
    open.erase(open.begin() + static_cast<long>(at) + 1);
  }
  return tree;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The model in doubles, node after node.
std::vector<double> expected(tree_lstm::Weights &w, const PlainTree &tree) {
  std::vector<std::vector<double>> h, c;
  for (const PlainTree::Node &node : tree.nodes) {
    std::vector<double> newH(8), newC(8);
    auto gate = [&](const float *matrix, const float *bias, int row, const std::vector<double> &x) {
      double sum = bias[row];
      for (size_t k = 0; k < x.size(); ++k)
        sum += matrix[static_cast<size_t>(row) * x.size() + k] * x[k];
      return sum;
    };
    for (int j = 0; j < 8; ++j) {
      if (node.word >= 0) {
        std::vector<double> x(w.E() + node.word * 12, w.E() + node.word * 12 + 12);
        newC[j] = sigmoid(gate(w.W(), w.b(), j, x)) * std::tanh(gate(w.W(), w.b(), 16 + j, x));
        newH[j] = sigmoid(gate(w.W(), w.b(), 8 + j, x)) * std::tanh(newC[j]);
      } else {
        std::vector<double> x = h[node.left];
        x.insert(x.end(), h[node.right].begin(), h[node.right].end());
        newC[j] = sigmoid(gate(w.U(), w.d(), j, x)) * std::tanh(gate(w.U(), w.d(), 32 + j, x)) +
                  sigmoid(gate(w.U(), w.d(), 8 + j, x)) * c[node.left][j] +
                  sigmoid(gate(w.U(), w.d(), 16 + j, x)) * c[node.right][j];
        newH[j] = sigmoid(gate(w.U(), w.d(), 24 + j, x)) * std::tanh(newC[j]);
      }
    }
    h.push_back(newH);
    c.push_back(newC);
  }
  std::vector<double> p(5);
  double sum = 0, most = -1e30;
  for (int j = 0; j < 5; ++j) {
    p[j] = w.e()[j];
    for (int k = 0; k < 8; ++k)
      p[j] += w.V()[j * 8 + k] * h.back()[k];
    most = std::max(most, p[j]);
  }
  for (double &x : p)
    sum += x = std::exp(x - most);
  for (double &x : p)
    x /= sum;
  return p;
}

void add(tree_lstm::Batch &batch, const PlainTree &tree) {
  batch.begin_input();
  std::vector<Tree> handles;
  for (const PlainTree::Node &node : tree.nodes)
    if (node.word >= 0)
      handles.push_back(batch.Leaf().word(node.word));
    else
      handles.push_back(batch.Node().left(handles[node.left]).right(handles[node.right]));
  batch.sentiment(handles.back());
}

class TreeLstm : public testing::Test {
protected:
  void SetUp() override {
    weights.draw(7);
    ASSERT_TRUE(tree_lstm::Model::make(weights, &model).ok());
    std::mt19937 random(3);
    for (int i = 0; i < 40; ++i)
      trees.push_back(randomTree(random, 1 + static_cast<int>(random() % 30)));
  }
  tree_lstm::Weights weights;
  tree_lstm::Model model;
  std::vector<PlainTree> trees;
};

TEST_F(TreeLstm, EqualsPlainLoops) {
  tree_lstm::Session session(model);
  tree_lstm::Batch batch;
  for (const PlainTree &tree : trees)
    add(batch, tree);
  dbc::Status ran = session.sentiment(batch);
  ASSERT_TRUE(ran.ok()) << ran.message;
  auto result = session.sentiment_result();
  ASSERT_EQ(result.inputs(), 40);
  static_assert(decltype(result)::size == 5, "five classes");
  for (int32_t i = 0; i < 40; ++i) {
    ASSERT_TRUE(session.status(i).ok()) << session.status(i).message;
    std::vector<double> p = expected(weights, trees[static_cast<size_t>(i)]);
    for (int j = 0; j < 5; ++j)
      EXPECT_NEAR(result[i][j], p[static_cast<size_t>(j)], 1e-5) << i;
  }
  EXPECT_EQ(session.sentiment_profile().stages.size(), 3u);
}

// An input's bits depend neither on its batch nor on the number of threads.
TEST_F(TreeLstm, BitsAreTheSameAlone) {
  tree_lstm::Session one(model), two(model, 2);
  tree_lstm::Batch batch, reversed, alone;
  for (const PlainTree &tree : trees)
    add(batch, tree);
  for (size_t i = trees.size(); i-- > 0;)
    add(reversed, trees[i]);
  ASSERT_TRUE(one.sentiment(batch).ok());
  ASSERT_TRUE(two.sentiment(reversed).ok());
  for (int32_t i = 0; i < 40; ++i) {
    EXPECT_EQ(std::memcmp(one.sentiment_result()[i], two.sentiment_result()[39 - i], 5 * sizeof(float)), 0);
    tree_lstm::Session session(model);
    alone.clear();
    add(alone, trees[static_cast<size_t>(i)]);
    ASSERT_TRUE(session.sentiment(alone).ok());
    EXPECT_EQ(std::memcmp(one.sentiment_result()[i], session.sentiment_result()[0], 5 * sizeof(float)), 0);
  }
}

TEST_F(TreeLstm, FlatArraysAreBorrowed) {
  const int32_t word[] = {4, 9, 0}, left[] = {0, 0, 0}, right[] = {0, 0, 1}, begin[] = {0, 3}, t[] = {2};
  const uint8_t kinds[] = {0, 0, 1};
  tree_lstm::Batch flat, built;
  tree_lstm::TreeArrays nodes;
  nodes.count = 3;
  nodes.begin = begin;
  nodes.kinds = kinds;
  nodes.word = word;
  nodes.left = left;
  nodes.right = right;
  tree_lstm::SentimentArrays arguments;
  arguments.t = t;
  flat.borrow_inputs(1);
  flat.borrow(nodes);
  flat.borrow(arguments);
  add(built, {{{-1, -1, 4}, {-1, -1, 9}, {0, 1, -1}}});
  tree_lstm::Session a(model), b(model);
  dbc::Status ran = a.sentiment(flat);
  ASSERT_TRUE(ran.ok()) << ran.message;
  EXPECT_TRUE(a.status(0).ok()) << a.status(0).message;
  ASSERT_TRUE(b.sentiment(built).ok());
  EXPECT_EQ(std::memcmp(a.sentiment_result()[0], b.sentiment_result()[0], 5 * sizeof(float)), 0);
}

// A missing child, a cycle: those inputs fail in words, the others keep their bits.
TEST_F(TreeLstm, WrongInputsFailAlone) {
  tree_lstm::Session session(model);
  tree_lstm::Batch batch, good;
  add(batch, trees[0]);
  batch.begin_input();
  Tree leaf = batch.Leaf().word(1);
  Tree node = batch.Node().left(leaf);
  batch.sentiment(node);
  batch.begin_input();
  Tree a = batch.Node(), b = batch.Node();
  batch.Node(a).left(b).right(b);
  batch.Node(b).left(a).right(a);
  batch.sentiment(a);
  batch.begin_input(); // without its argument
  add(batch, trees[1]);
  dbc::Status ran = session.sentiment(batch);
  ASSERT_TRUE(ran.ok()) << ran.message;
  EXPECT_EQ(session.failed(), 3);
  EXPECT_EQ(session.status(1).message, "tree_lstm: input 1: Tree node 1 (Node): field `right` is not given");
  EXPECT_NE(session.status(2).message.find(
                "a value needs itself: encode(Tree node 0) -> encode(Tree node 1) -> encode(Tree node 0)"),
            std::string::npos)
      << session.status(2).message;
  EXPECT_NE(session.status(3).message.find("`t`"), std::string::npos) << session.status(3).message;
  tree_lstm::Session other(model);
  add(good, trees[0]);
  add(good, trees[1]);
  ASSERT_TRUE(other.sentiment(good).ok());
  EXPECT_EQ(std::memcmp(session.sentiment_result()[0], other.sentiment_result()[0], 5 * sizeof(float)), 0);
  EXPECT_EQ(std::memcmp(session.sentiment_result()[4], other.sentiment_result()[1], 5 * sizeof(float)), 0);
  EXPECT_EQ(session.sentiment_result()[1][0], 0.0f);
}

TEST_F(TreeLstm, OutputsOfTheCaller) {
  tree_lstm::Session session(model);
  tree_lstm::Batch batch;
  add(batch, trees[0]);
  dbc::Outputs out;
  out.prepare(tree_lstm::info().entries[0], tree_lstm::code().f64);
  float memory[5] = {};
  out.use_values(0, memory, 5);
  ASSERT_TRUE(session.sentiment(batch, out).ok());
  EXPECT_EQ(tree_lstm::sentiment_result(out)[0], memory);
  EXPECT_NEAR(memory[0] + memory[1] + memory[2] + memory[3] + memory[4], 1, 1e-5);
}

} // namespace
