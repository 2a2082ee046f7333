// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Parameters of the Tree-LSTM and what its baselines share.
#include "bench/baselines/TreeLstm.h"

#include "bench/Random.h"

#include <algorithm>
#include <cmath>

namespace dbc::bench {

TreeLstm::TreeLstm(int32_t hidden, uint64_t seed, double word_bound) : hidden(hidden) {
  Random random(seed);
  auto draw = [&](std::vector<float> &values, int64_t rows, int64_t columns, double bound) {
    values.resize(rows * columns);
    for (float &value : values)
      value = static_cast<float>((2 * random.uniform() - 1) * bound);
  };
  auto glorot = [](int64_t rows, int64_t columns) {
    return std::sqrt(6.0 / static_cast<double>(rows + columns));
  };
  // Words of about unit length a component and a classifier that tells states apart: states in the middle of
  // the activations' range, so that an implementation that mixes anything up is seen in the results.
  draw(E, kVocab, kEmbed, word_bound);
  draw(W, 3 * hidden, kEmbed, glorot(hidden, kEmbed));
  draw(b, 1, 3 * hidden, 0.1);
  draw(U, 5 * hidden, 2 * hidden, 2 * glorot(hidden, 2 * hidden));
  draw(d, 1, 5 * hidden, 0.1);
  draw(V, kClasses, hidden, 4 * glorot(kClasses, hidden));
  draw(e, 1, kClasses, 0.5);
}

double TreeLstm::flops(const TreeBatch &trees) const {
  double H = hidden, leaves = trees.leaves(), inner = trees.nodes() - leaves;
  return 2 * (leaves * 3 * H * kEmbed + inner * 5 * H * 2 * H + trees.trees() * kClasses * H);
}

void softmax(const float *logits, float *out) {
  float most = *std::max_element(logits, logits + TreeLstm::kClasses);
  float sum = 0;
  for (int32_t k = 0; k < TreeLstm::kClasses; ++k)
    sum += out[k] = std::exp(logits[k] - most);
  for (int32_t k = 0; k < TreeLstm::kClasses; ++k)
    out[k] /= sum;
}

} // namespace dbc::bench
