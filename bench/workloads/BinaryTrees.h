// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Binary trees as inputs of models with `data Tree { Leaf(word); Node(left, right); }` and an entry of one
// argument `t`.
#pragma once

#include "bench/Trees.h"
#include "bench/Workload.h"

#include <cstdint>
#include <string>

namespace dbc::bench {

Inputs tree_inputs(const TreeBatch &trees);
/// The same of models whose nodes have a field `label`, leaves or not.
Inputs labelled_tree_inputs(const TreeBatch &trees);
/// The same trees as the baselines read them; labels are 0 where the inputs have none.
TreeBatch tree_batch(const Inputs &inputs);

/// SST's dev trees, or generated ones; words are numbered 0 .. vocab - 1.
Data load_sst(const std::string &data, int32_t vocab, std::string &error);
/// The same with their labels.
Data load_labelled_sst(const std::string &data, int32_t vocab, std::string &error);

/// The nodes of the trees in tree_inputs(), for references: children come before their parents.
struct TreeView {
  explicit TreeView(const Inputs &inputs);
  int32_t nodes;
  const uint8_t *kind;
  const int32_t *word, *left, *right;
  const int32_t *label;             ///< null: there are none
  const std::vector<int32_t> &root; ///< an input

  bool is_leaf(int32_t node) const { return kind[node] == TreeBatch::kLeaf; }
  int32_t leaves() const;
};

} // namespace dbc::bench
