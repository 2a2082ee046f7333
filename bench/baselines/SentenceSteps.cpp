// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sorting by length, by counting.
#include "bench/baselines/SentenceSteps.h"

#include <algorithm>

namespace dbc::bench {

void SentenceSteps::reserve(int32_t most_sentences, int32_t longest) {
  order.resize(most_sentences);
  position.resize(most_sentences);
  count.resize(longest + 2);
  next_.resize(longest + 2);
  first.resize(longest + 1);
}

void SentenceSteps::make(const std::vector<int32_t> &offsets) {
  sentences = static_cast<int32_t>(offsets.size()) - 1;
  steps = 0;
  std::fill(count.begin(), count.end(), 0);
  for (int32_t s = 0; s < sentences; ++s) {
    int32_t length = offsets[s + 1] - offsets[s];
    steps = std::max(steps, length);
    ++count[length];
  }
  // count[n] becomes the number of sentences longer than n: those that take part in step n, and the position
  // of the first of length n.
  int32_t longer = 0;
  for (int32_t length = steps; length >= 0; --length) {
    int32_t here = count[length];
    count[length] = longer;
    longer += here;
  }
  for (int32_t t = 0, row = 0; t < steps; ++t) {
    first[t] = row;
    row += count[t];
  }
  std::copy(count.begin(), count.end(), next_.begin());
  for (int32_t s = 0; s < sentences; ++s) {
    position[s] = next_[offsets[s + 1] - offsets[s]]++;
    order[position[s]] = s;
  }
}

} // namespace dbc::bench
