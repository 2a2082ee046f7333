// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The levels of a batch of binary trees: what the baselines that are batched by level go by.
#pragma once

#include "bench/Trees.h"

#include <cstdint>
#include <vector>

namespace dbc::bench {

/// Which rows there are and where their states go. Rows are the leaves in the order of their nodes, then the
/// inner nodes sorted by level.
struct TreeLevels {
  int32_t leaves = 0, inner = 0, levels = 0;
  std::vector<int32_t> word;   ///< a leaf row
  std::vector<int32_t> slot;   ///< a row: where its state goes, see `make`
  std::vector<int32_t> begin;  ///< begin[l] .. begin[l + 1] - 1 are the inner rows of level l + 1, from 0
  std::vector<int32_t> height; ///< a node: 0 at leaves
  std::vector<int32_t> row;    ///< a node

  /// Makes room for batches of so many nodes.
  void reserve(int32_t nodes);
  void make(const TreeBatch &batch);
};

} // namespace dbc::bench
