// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Binary trees as flat arrays: read from the Stanford Sentiment Treebank or generated with its shape
// statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

/// Several trees, one after the other. The nodes of a tree are contiguous, children come before their parent,
/// and so a tree's root is its last node. `left` and `right` count nodes from the start of the batch.
struct TreeBatch {
  static constexpr uint8_t kLeaf = 0, kNode = 1; ///< in the order of the constructors in tree_lstm.dyn

  std::vector<uint8_t> kind;        ///< a node
  std::vector<int32_t> left, right; ///< inner nodes; 0 at leaves
  std::vector<int32_t> word;        ///< leaves; 0 at inner nodes
  std::vector<int32_t> label;       ///< a node, 0 .. 4
  std::vector<int32_t> begin{0};    ///< begin[i] .. begin[i + 1] - 1 are the nodes of tree i
  std::vector<int32_t> root;        ///< a tree

  int32_t trees() const { return static_cast<int32_t>(root.size()); }
  int32_t nodes() const { return static_cast<int32_t>(kind.size()); }
  int32_t leaves() const;
  int32_t add_leaf(int32_t word, int32_t label);
  int32_t add_node(int32_t left, int32_t right, int32_t label);
  /// Makes a tree of the nodes added since the last one; the last node is its root.
  void end_tree();
};

/// Runs of `size` consecutive trees; the last run may be shorter.
std::vector<TreeBatch> cut(const TreeBatch &trees, int32_t size);

/// Appends the first `count` trees of `from` to `to`.
void append(const TreeBatch &from, int32_t count, TreeBatch &to);

/// The first `count` trees of `trees`, or all if there are fewer.
TreeBatch first(const TreeBatch &trees, int32_t count);

/// Reads trees of the form `(label child child)` or `(label word)`, one a line. Words are numbered by first
/// occurrence. Returns an empty batch and says why in `error` if the file cannot be read, is malformed or has
/// more than `vocab` different words.
TreeBatch read_sst(const std::string &path, int32_t vocab, std::string &error);

/// Trees with about the numbers of leaves and the depths of SST's dev set; words are drawn by Zipf's law. The
/// same for the same arguments on every machine.
TreeBatch generate_trees(int32_t count, int32_t vocab, uint64_t seed);

} // namespace dbc::bench
