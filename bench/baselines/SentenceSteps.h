// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The steps of a batch of sentences: what the baselines that are batched by step go by.
#pragma once

#include <cstdint>
#include <vector>

namespace dbc::bench {

/// Sentences by length, longest first, so that those which go on are always the first rows of a step. Rows
/// are step after step.
struct SentenceSteps {
  int32_t sentences = 0, steps = 0;
  std::vector<int32_t> order;    ///< a position: the sentence there
  std::vector<int32_t> position; ///< a sentence: its position in `order`
  std::vector<int32_t> count;    ///< a step: the sentences that take part in it
  std::vector<int32_t> first;    ///< a step: its first row

  /// Makes room for batches of so many sentences, none of more words than `longest`.
  void reserve(int32_t most_sentences, int32_t longest);
  /// Sentence s has words offsets[s] .. offsets[s + 1] - 1.
  void make(const std::vector<int32_t> &offsets);
  /// The row of a sentence at a step.
  int32_t row(int32_t sentence, int32_t step) const { return first[step] + position[sentence]; }

private:
  std::vector<int32_t> next_; ///< a length: the position of the next sentence of that length
};

} // namespace dbc::bench
