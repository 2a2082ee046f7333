// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Trees of shapes that data sets do not have.
#pragma once

#include "bench/Trees.h"

#include <cstdint>

namespace dbc::bench {

/// A tree of one leaf, and a chain of `leaves` leaves and one more to each side. Words are below `leaves`.
inline TreeBatch odd_trees(int32_t leaves) {
  TreeBatch trees;
  trees.add_leaf(leaves - 1, 0);
  trees.end_tree();
  for (bool right : {false, true}) {
    int32_t top = trees.add_leaf(1, 0);
    for (int32_t word = 0; word < leaves; ++word) {
      int32_t leaf = trees.add_leaf(word, 0);
      top = right ? trees.add_node(leaf, top, 0) : trees.add_node(top, leaf, 0);
    }
    trees.end_tree();
  }
  return trees;
}

} // namespace dbc::bench
