// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The baselines compute the same numbers as the equations in double precision.
#include "bench/baselines/TreeLstm.h"
#include "bench/tests/OddTrees.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace dbc::bench;

namespace {

/// Largest difference to the reference, all results being between 0 and 1.
double error_of(Implementation &implementation, const TreeLstm &model, const TreeBatch &trees) {
  std::vector<double> expected = tree_lstm_reference(model, trees);
  std::vector<float> out(expected.size(), NAN);
  double most = 0;
  // Twice, because buffers are used again.
  for (int pass = 0; pass < 2; ++pass) {
    implementation.pass(out.data());
    for (size_t i = 0; i < out.size(); ++i) {
      double d = std::fabs(out[i] - expected[i]);
      most = std::max(most, std::isnan(d) ? 1.0 : d);
    }
  }
  return most;
}

// Every batch size, a last batch that is smaller, and sizes that fill no vector.
TEST(Baselines, AgreeWithTheReference) {
  TreeBatch trees = generate_trees(11, TreeLstm::kVocab, 3);
  for (int32_t hidden : {1, 7, 32, 37}) {
    TreeLstm model(hidden);
    for (int32_t size : {1, 4, 11}) {
      std::vector<TreeBatch> batches = cut(trees, size);
      EXPECT_LE(error_of(*tree_lstm_gemv_node(model, batches), model, trees), 1e-5) << hidden << " " << size;
      EXPECT_LE(error_of(*tree_lstm_cblas(model, batches), model, trees), 1e-5) << hidden << " " << size;
    }
  }
}

// Trees of one leaf, a chain to each side, more leaves than a block of rows has.
TEST(Baselines, OddTrees) {
  TreeBatch trees = odd_trees(300);
  trees.add_leaf(TreeLstm::kVocab - 1, 0);
  trees.end_tree();
  TreeLstm model(12);
  std::vector<TreeBatch> batches = cut(trees, trees.trees());
  EXPECT_LE(error_of(*tree_lstm_gemv_node(model, batches), model, trees), 1e-5);
  EXPECT_LE(error_of(*tree_lstm_cblas(model, batches), model, trees), 1e-5);
}

// Biases far out of the usual range push the activations into their flat ends.
TEST(Baselines, LargeActivations) {
  TreeBatch trees = generate_trees(5, TreeLstm::kVocab, 4);
  TreeLstm model(16);
  for (std::vector<float> *biases : {&model.b, &model.d})
    for (float &bias : *biases)
      bias *= 2000;
  std::vector<TreeBatch> batches = cut(trees, 5);
  EXPECT_LE(error_of(*tree_lstm_gemv_node(model, batches), model, trees), 1e-5);
  EXPECT_LE(error_of(*tree_lstm_cblas(model, batches), model, trees), 1e-5);
}

// The check before timing can only find what the results show: children changed for one another are far
// apart.
TEST(Baselines, ResultsShowMistakes) {
  TreeBatch trees = generate_trees(8, TreeLstm::kVocab, 5), turned = trees;
  std::swap(turned.left, turned.right);
  TreeLstm model(150);
  std::vector<double> a = tree_lstm_reference(model, trees), b = tree_lstm_reference(model, turned);
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::fabs(a[i] - b[i]));
  EXPECT_GE(most, 1e-2);
}

} // namespace
