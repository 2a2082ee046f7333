// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// TreeFC batched by level by hand. Leaves are copies of embeddings; each level is one product and one loop.
#include "bench/baselines/Batched.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Products.h"
#include "bench/baselines/TreeLevels.h"
#include "bench/workloads/BinaryTrees.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cstring>

namespace dbc::bench {
namespace {

/// Rows of a product: what it writes is still in the cache when the loop after it reads it.
constexpr int32_t kBlock = 128;

DBC_CLONES
void relu_row(int64_t H, const float *__restrict y, const float *__restrict bias, float *__restrict h) {
  for (int64_t j = 0; j < H; ++j)
    h[j] = y[j] + bias[j] > 0 ? y[j] + bias[j] : 0;
}

class TreeFcLevels final : public Batched<TreeBatch> {
public:
  TreeFcLevels(const Parameters &parameters, int32_t hidden, const std::vector<Inputs> &batches)
      : Batched(trees_), hidden_(hidden), E_(parameters["E"].data()), b_(parameters["b"].data()),
        product_(parameters["W"].data(), hidden, 2 * hidden, kBlock) {
    int32_t nodes = 0;
    size_t slots = 0;
    for (const Inputs &batch : batches) {
      trees_.push_back(tree_batch(batch));
      const TreeBatch &trees = trees_.back();
      nodes = std::max(nodes, trees.nodes());
      slots = std::max<size_t>(slots, 2 * (trees.nodes() - trees.leaves()) + trees.trees());
    }
    levels_.reserve(nodes);
    h_.resize(slots * hidden);
    y_.resize(static_cast<size_t>(kBlock) * hidden);
  }

private:
  void schedule(const TreeBatch &batch) override { levels_.make(batch); }

  float *compute(const TreeBatch &batch, float *out) override {
    const int64_t H = hidden_;
    const TreeLevels &s = levels_;
    for (int32_t leaf = 0; leaf < s.leaves; ++leaf)
      std::memcpy(&h_[s.slot[leaf] * H], &E_[s.word[leaf] * H], H * sizeof(float));
    for (int32_t l = 0; l < s.levels; ++l)
      for (int32_t at = s.begin[l]; at < s.begin[l + 1]; at += kBlock) {
        int32_t rows = std::min(kBlock, s.begin[l + 1] - at);
        product_.run(&h_[2 * at * H], rows, y_.data());
        for (int64_t r = 0; r < rows; ++r)
          relu_row(H, &y_[r * H], b_, &h_[s.slot[s.leaves + at + r] * H]);
      }
    std::memcpy(out, &h_[2 * s.inner * H], batch.trees() * H * sizeof(float));
    return out + batch.trees() * H;
  }

  int32_t hidden_;
  const float *E_, *b_;
  Product product_;
  std::vector<TreeBatch> trees_;
  TreeLevels levels_;
  std::vector<float> h_, y_; ///< slots; a block
};

} // namespace

std::unique_ptr<Implementation> treefc_cblas(const Parameters &parameters, int32_t hidden,
                                             const std::vector<Inputs> &batches) {
  return std::make_unique<TreeFcLevels>(parameters, hidden, batches);
}

} // namespace dbc::bench
