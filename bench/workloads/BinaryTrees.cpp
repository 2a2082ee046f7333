// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Between trees and inputs.
#include "bench/workloads/BinaryTrees.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace dbc::bench {

enum { kWord, kLeft, kRight }; ///< columns

Inputs tree_inputs(const TreeBatch &trees) {
  Inputs inputs({{"Tree", {numbers("word"), numbers("left", 0), numbers("right", 0)}}}, {numbers("t", 0)});
  Table &nodes = inputs.table(0);
  nodes.kinds = trees.kind;
  nodes.columns[kWord].ints = trees.word;
  nodes.columns[kLeft].ints = trees.left;
  nodes.columns[kRight].ints = trees.right;
  inputs.arguments().columns[0].ints = trees.root;
  for (int32_t t = 0; t < trees.trees(); ++t)
    inputs.end_input({trees.begin[t + 1] - trees.begin[t]});
  return inputs;
}

TreeBatch tree_batch(const Inputs &inputs) {
  TreeView view(inputs);
  TreeBatch trees;
  for (int32_t t = 0; t < inputs.count(); ++t) {
    for (int32_t n = inputs.table(0).begin[t]; n < inputs.table(0).begin[t + 1]; ++n) {
      if (view.is_leaf(n))
        trees.add_leaf(view.word[n], 0);
      else
        trees.add_node(view.left[n], view.right[n], 0);
    }
    trees.end_tree();
  }
  return trees;
}

Data load_sst(const std::string &data, int32_t vocab, std::string &error) {
  std::string path = data + "/sst/dev.txt";
  if (!std::ifstream(path)) {
    std::fprintf(stderr, "%s is absent: trees are generated with its shape statistics\n", path.c_str());
    return {tree_inputs(generate_trees(1101, vocab, 1)), "generated"};
  }
  TreeBatch trees = read_sst(path, vocab, error);
  if (!error.empty())
    error = path + ": " + error;
  return {tree_inputs(trees), "sst dev"};
}

TreeView::TreeView(const Inputs &inputs)
    : nodes(inputs.table(0).rows()), kind(inputs.table(0).kinds.data()),
      word(inputs.table(0).columns[kWord].ints.data()), left(inputs.table(0).columns[kLeft].ints.data()),
      right(inputs.table(0).columns[kRight].ints.data()), root(inputs.arguments().columns[0].ints) {}

int32_t TreeView::leaves() const {
  return static_cast<int32_t>(std::count(kind, kind + nodes, TreeBatch::kLeaf));
}

} // namespace dbc::bench
