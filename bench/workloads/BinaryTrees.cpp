// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Between trees and inputs.
#include "bench/workloads/BinaryTrees.h"

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace dbc::bench {

enum { kWord, kLeft, kRight, kLabel }; ///< columns; the last may be missing

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

Inputs labelled_tree_inputs(const TreeBatch &trees) {
  Inputs inputs = tree_inputs(trees);
  inputs.table(0).columns.push_back(numbers("label"));
  inputs.table(0).columns[kLabel].ints = trees.label;
  return inputs;
}

TreeBatch tree_batch(const Inputs &inputs) {
  TreeView view(inputs);
  TreeBatch trees;
  for (int32_t t = 0; t < inputs.count(); ++t) {
    for (int32_t n = inputs.table(0).begin[t]; n < inputs.table(0).begin[t + 1]; ++n) {
      const int32_t label = view.label ? view.label[n] : 0;
      if (view.is_leaf(n))
        trees.add_leaf(view.word[n], label);
      else
        trees.add_node(view.left[n], view.right[n], label);
    }
    trees.end_tree();
  }
  return trees;
}

/// The trees, or generated ones; `name` takes the row's `data`.
static TreeBatch load_trees(const std::string &data, int32_t vocab, std::string &name, std::string &error) {
  std::string path = data + "/sst/dev.txt";
  if (!std::ifstream(path)) {
    std::fprintf(stderr, "%s is absent: trees are generated with its shape statistics\n", path.c_str());
    name = "generated";
    return generate_trees(1101, vocab, 1);
  }
  name = "sst dev";
  TreeBatch trees = read_sst(path, vocab, error);
  if (!error.empty())
    error = path + ": " + error;
  return trees;
}

Data load_sst(const std::string &data, int32_t vocab, std::string &error) {
  std::string name;
  Inputs inputs = tree_inputs(load_trees(data, vocab, name, error));
  return {std::move(inputs), name};
}

Data load_labelled_sst(const std::string &data, int32_t vocab, std::string &error) {
  std::string name;
  Inputs inputs = labelled_tree_inputs(load_trees(data, vocab, name, error));
  return {std::move(inputs), name};
}

TreeView::TreeView(const Inputs &inputs)
    : nodes(inputs.table(0).rows()), kind(inputs.table(0).kinds.data()),
      word(inputs.table(0).columns[kWord].ints.data()), left(inputs.table(0).columns[kLeft].ints.data()),
      right(inputs.table(0).columns[kRight].ints.data()),
      label(inputs.table(0).columns.size() > kLabel ? inputs.table(0).columns[kLabel].ints.data() : nullptr),
      root(inputs.arguments().columns[0].ints) {}

int32_t TreeView::leaves() const {
  return static_cast<int32_t>(std::count(kind, kind + nodes, TreeBatch::kLeaf));
}

} // namespace dbc::bench
