// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The MV-RNN by hand. A node's matrix is a product of matrices, which one node fills: one product for all
// nodes of a level, their children's matrices side by side, was measured to be 5 to 15 % faster by itself,
// but slower with what it takes. So the nodes are taken as they come, children right before their parents:
// their matrices are still in the cache, those of words are read where they stand, and that of the root is
// made among the results.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Products.h"
#include "bench/workloads/BinaryTrees.h"

#include <dbc/math.h> // DBC_CLONES

#include <cblas.h>

#include <algorithm>
#include <cstring>

namespace dbc::bench {
namespace {

DBC_CLONES
void tanh_row(int64_t d, const float *__restrict y, const float *__restrict bias, float *__restrict v) {
  for (int64_t j = 0; j < d; ++j)
    v[j] = quick_tanh(y[j] + bias[j]);
}

class MvRnnNodes final : public Implementation {
public:
  MvRnnNodes(const Parameters &p, int32_t d, const std::vector<Inputs> &batches)
      : d_(d), vec_(p["vec"].data()), mat_(p["mat"].data()), bv_(p["bv"].data()), Wm_(p["Wm"].data()),
        Bm_(p["Bm"].data()), Wv_(p["Wv"].data(), d, 2 * d, 1), u_(2 * d), y_(d) {
    size_t nodes = 0;
    for (const Inputs &batch : batches) {
      batches_.push_back(tree_batch(batch));
      nodes = std::max<size_t>(nodes, batches_.back().nodes());
    }
    nodes_.resize(nodes);
  }

  void pass(float *out) override {
    for (const TreeBatch &batch : batches_)
      for (int32_t t = 0; t < batch.trees(); ++t, out += static_cast<int64_t>(d_) * (d_ + 1))
        tree(batch, t, out);
  }

private:
  /// What a node is: v[d] and M[d, d], in the buffer `own` or, if that is -1, elsewhere.
  struct Meaning {
    const float *v, *M;
    int32_t own;
  };

  void tree(const TreeBatch &batch, int32_t t, float *out);
  void combine(const Meaning &left, const Meaning &right, float *v, float *M);
  int32_t take();

  int32_t d_;
  const float *vec_, *mat_, *bv_, *Wm_, *Bm_;
  Product Wv_;
  std::vector<TreeBatch> batches_;
  std::vector<Meaning> nodes_;              ///< of the batch at hand
  std::vector<std::vector<float>> buffers_; ///< v and M of a node each
  std::vector<int32_t> free_;               ///< buffers
  std::vector<float> u_, y_;                ///< [M_r v_l, M_l v_r], and Wv times that
};

/// Computes tree t and writes v and M of its root to `out`.
void MvRnnNodes::tree(const TreeBatch &batch, int32_t t, float *out) {
  const int64_t d = d_;
  const int32_t root = batch.root[t];
  for (int32_t n = batch.begin[t]; n < batch.begin[t + 1]; ++n) {
    if (batch.kind[n] == TreeBatch::kLeaf) {
      const int64_t word = batch.word[n];
      nodes_[n] = {vec_ + word * d, mat_ + word * d * d, -1};
      continue;
    }
    const Meaning left = nodes_[batch.left[n]], right = nodes_[batch.right[n]];
    const int32_t own = n == root ? -1 : take();
    float *v = n == root ? out : buffers_[own].data();
    combine(left, right, v, v + d);
    nodes_[n] = {v, v + d, own};
    for (int32_t done : {left.own, right.own})
      if (done >= 0)
        free_.push_back(done);
  }
  if (batch.kind[root] == TreeBatch::kLeaf) {
    std::copy_n(nodes_[root].v, d, out);
    std::copy_n(nodes_[root].M, d * d, out + d);
  }
}

/// An inner node from its children.
void MvRnnNodes::combine(const Meaning &left, const Meaning &right, float *v, float *M) {
  const int32_t d = d_;
  cblas_sgemv(CblasRowMajor, CblasNoTrans, d, d, 1, right.M, d, left.v, 1, 0, u_.data(), 1);
  cblas_sgemv(CblasRowMajor, CblasNoTrans, d, d, 1, left.M, d, right.v, 1, 0, &u_[d], 1);
  Wv_.run(u_.data(), 1, y_.data());
  tanh_row(d, y_.data(), bv_, v);
  // Wm [M_l, M_r] + Bm, each half of Wm on its own, because the children's matrices stand apart.
  std::memcpy(M, Bm_, static_cast<size_t>(d) * d * sizeof(float));
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, Wm_, 2 * d, left.M, d, 1, M, d);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, d, d, d, 1, Wm_ + d, 2 * d, right.M, d, 1, M, d);
}

/// A free buffer: that used last, which is in the cache. The first pass makes as many as it takes.
int32_t MvRnnNodes::take() {
  if (free_.empty()) {
    free_.push_back(static_cast<int32_t>(buffers_.size()));
    buffers_.emplace_back(static_cast<size_t>(d_) * (d_ + 1));
    free_.reserve(buffers_.size());
  }
  const int32_t own = free_.back();
  free_.pop_back();
  return own;
}

} // namespace

std::unique_ptr<Implementation> mv_rnn_cblas(const Parameters &parameters, int32_t d,
                                             const std::vector<Inputs> &batches) {
  return std::make_unique<MvRnnNodes>(parameters, d, batches);
}

} // namespace dbc::bench
