// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The Tree-LSTM batched by level by hand, with CBLAS for the products: the strongest form of what a
// programmer with a matrix library writes. All leaves of the batch are one product, then each level is one
// product over all its inner nodes, followed by one loop for bias, activations and state. Wide products are
// cut into blocks of rows, so that what a block's product writes is still in the cache when the loop reads
// it.
#include "bench/baselines/Batched.h"
#include "bench/baselines/Products.h"
#include "bench/baselines/TreeLevels.h"
#include "bench/baselines/TreeLstm.h"
#include "bench/baselines/TreeLstmCells.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace dbc::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Levels final : public Batched<TreeBatch> {
public:
  Levels(const TreeLstm &model, const std::vector<TreeBatch> &batches);

private:
  void schedule(const TreeBatch &batch) override { schedule_.make(batch); }
  float *compute(const TreeBatch &batch, float *out) override;
  void choose_block();

  const TreeLstm &model_;
  int32_t widest_; ///< most rows that one product can have
  Product leaf_, node_, classes_;
  int32_t block_;
  TreeLevels schedule_;
  std::vector<float> x_, y_; ///< a block's embeddings and what its product gives
  std::vector<float> h_, c_; ///< slots
};

int32_t most_leaves(const std::vector<TreeBatch> &batches) {
  int32_t most = 1;
  for (const TreeBatch &batch : batches)
    most = std::max(most, batch.leaves());
  return most;
}

Levels::Levels(const TreeLstm &model, const std::vector<TreeBatch> &batches)
    : Batched(batches), model_(model), widest_(most_leaves(batches)),
      leaf_(model.W.data(), 3 * model.hidden, TreeLstm::kEmbed, widest_),
      node_(model.U.data(), 5 * model.hidden, 2 * model.hidden, widest_),
      classes_(model.V.data(), TreeLstm::kClasses, model.hidden, widest_), block_(widest_) {
  int32_t nodes = 0, slots = 0, trees = 0;
  for (const TreeBatch &batch : batches) {
    nodes = std::max(nodes, batch.nodes());
    trees = std::max(trees, batch.trees());
    slots = std::max(slots, 2 * (batch.nodes() - batch.leaves()) + batch.trees());
  }
  const size_t H = model.hidden;
  schedule_.reserve(nodes);
  x_.resize(static_cast<size_t>(widest_) * TreeLstm::kEmbed);
  y_.resize(std::max(static_cast<size_t>(widest_) * 5 * H, static_cast<size_t>(trees) * TreeLstm::kClasses));
  h_.resize(slots * H);
  c_.resize(slots * H);
  choose_block();
}

/// Takes the number of rows a block that does a few batches fastest.
void Levels::choose_block() {
  size_t few = std::min<size_t>(batches_.size(), 4);
  std::vector<float> out(static_cast<size_t>(batches_[0].trees()) * TreeLstm::kClasses);
  int32_t best = widest_;
  double best_seconds = 1e30;
  for (int32_t rows : {64, 128, 256, 512, widest_}) {
    block_ = std::min(rows, widest_);
    for (int sample = 0; sample < 4; ++sample) {
      Clock::time_point start = Clock::now();
      for (size_t b = 0; b < few; ++b) {
        schedule_.make(batches_[b]);
        compute(batches_[b], out.data());
      }
      double seconds = seconds_since(start);
      if (seconds < best_seconds) {
        best_seconds = seconds;
        best = block_;
      }
    }
    if (block_ == widest_)
      break;
  }
  block_ = best;
}

float *Levels::compute(const TreeBatch &batch, float *out) {
  const int64_t H = model_.hidden;
  const TreeLevels &s = schedule_;
  for (int32_t at = 0; at < s.leaves; at += block_) {
    int32_t rows = std::min(block_, s.leaves - at);
    for (int32_t r = 0; r < rows; ++r)
      std::memcpy(&x_[static_cast<int64_t>(r) * TreeLstm::kEmbed],
                  &model_.E[static_cast<int64_t>(s.word[at + r]) * TreeLstm::kEmbed],
                  TreeLstm::kEmbed * sizeof(float));
    leaf_.run(x_.data(), rows, y_.data());
    leaf_cells(model_.hidden, rows, y_.data(), model_.b.data(), &s.slot[at], h_.data(), c_.data());
  }
  for (int32_t l = 0; l < s.levels; ++l) {
    for (int32_t at = s.begin[l]; at < s.begin[l + 1]; at += block_) {
      int32_t rows = std::min(block_, s.begin[l + 1] - at);
      node_.run(&h_[2 * at * H], rows, y_.data());
      node_cells(model_.hidden, rows, y_.data(), model_.d.data(), &c_[2 * at * H], &s.slot[s.leaves + at],
                 h_.data(), c_.data());
    }
  }
  classes_.run(&h_[2 * s.inner * H], batch.trees(), y_.data());
  for (int32_t t = 0; t < batch.trees(); ++t) {
    float *logits = &y_[static_cast<int64_t>(t) * TreeLstm::kClasses];
    for (int32_t k = 0; k < TreeLstm::kClasses; ++k)
      logits[k] += model_.e[k];
    softmax(logits, out + static_cast<int64_t>(t) * TreeLstm::kClasses);
  }
  return out + static_cast<int64_t>(batch.trees()) * TreeLstm::kClasses;
}

} // namespace

std::unique_ptr<Implementation> tree_lstm_cblas(const TreeLstm &model,
                                                const std::vector<TreeBatch> &batches) {
  return std::make_unique<Levels>(model, batches);
}

} // namespace dbc::bench
