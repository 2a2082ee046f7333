// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sorting by height.
#include "bench/baselines/TreeLevels.h"

#include <algorithm>

namespace dbc::bench {

void TreeLevels::reserve(int32_t nodes) {
  word.resize(nodes);
  slot.resize(nodes);
  begin.resize(nodes + 1);
  height.resize(nodes);
  row.resize(nodes);
}

void TreeLevels::make(const TreeBatch &batch) {
  const int32_t nodes = batch.nodes();
  const uint8_t *kind = batch.kind.data();
  const int32_t *left = batch.left.data(), *right = batch.right.data();
  // Heights; children come before their parents. begin[l + 1] counts the rows of a level for now.
  leaves = levels = 0;
  begin[0] = 0;
  for (int32_t n = 0; n < nodes; ++n) {
    if (kind[n] == TreeBatch::kLeaf) {
      height[n] = 0;
      word[leaves] = batch.word[n];
      row[n] = leaves++;
      continue;
    }
    int32_t level = 1 + std::max(height[left[n]], height[right[n]]);
    height[n] = level;
    if (level > levels)
      begin[levels = level] = 0;
    ++begin[level];
  }
  inner = nodes - leaves;
  // From counts to the first row of each level, one position further on: begin[l + 1] moves to its end below.
  int32_t sum = 0;
  for (int32_t l = 1; l <= levels; ++l) {
    int32_t count = begin[l];
    begin[l] = sum;
    sum += count;
  }
  // The children of inner row r have the slots 2r and 2r + 1, so that the product reads them as one row; the
  // roots come behind all those.
  for (int32_t n = 0; n < nodes; ++n) {
    if (kind[n] == TreeBatch::kLeaf)
      continue;
    int32_t r = begin[height[n]]++;
    row[n] = leaves + r;
    slot[row[left[n]]] = 2 * r;
    slot[row[right[n]]] = 2 * r + 1;
  }
  for (int32_t t = 0; t < batch.trees(); ++t)
    slot[row[batch.root[t]]] = 2 * inner + t;
}

} // namespace dbc::bench
