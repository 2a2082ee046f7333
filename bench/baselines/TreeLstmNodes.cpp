// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The Tree-LSTM as a loop over the nodes, one affine map a node by gemv: what a careful programmer writes
// without batching anything.
#include "bench/baselines/Products.h"
#include "bench/baselines/TreeLstm.h"
#include "bench/baselines/TreeLstmCells.h"

#include <algorithm>

namespace dbc::bench {
namespace {

class GemvNode final : public Implementation {
public:
  GemvNode(const TreeLstm &model, const std::vector<TreeBatch> &batches)
      : model_(model), batches_(batches), leaf_(model.W.data(), 3 * model.hidden, TreeLstm::kEmbed, 1),
        node_(model.U.data(), 5 * model.hidden, 2 * model.hidden, 1),
        classes_(model.V.data(), TreeLstm::kClasses, model.hidden, 1), y_(5 * model.hidden) {
    int32_t nodes = 0;
    for (const TreeBatch &batch : batches)
      for (int32_t t = 0; t < batch.trees(); ++t)
        nodes = std::max(nodes, batch.begin[t + 1] - batch.begin[t]);
    // A slot for each node but the root is enough, and one for the root; see `tree`.
    slot_.resize(nodes);
    h_.resize(static_cast<size_t>(nodes + 1) * model.hidden);
    c_.resize(h_.size());
  }

  void pass(float *out) override {
    for (const TreeBatch &batch : batches_)
      for (int32_t t = 0; t < batch.trees(); ++t, out += TreeLstm::kClasses)
        tree(batch, t, out);
  }

private:
  void tree(const TreeBatch &batch, int32_t t, float *out);

  const TreeLstm &model_;
  const std::vector<TreeBatch> &batches_;
  Product leaf_, node_, classes_;
  std::vector<int32_t> slot_;
  std::vector<float> h_, c_, y_;
};

void GemvNode::tree(const TreeBatch &batch, int32_t t, float *out) {
  const int64_t H = model_.hidden;
  int32_t begin = batch.begin[t], end = batch.begin[t + 1];
  // The children of the k-th inner node have the slots 2k and 2k + 1, side by side for the parent's product;
  // the root has the next one.
  int32_t inner = 0;
  for (int32_t n = begin; n < end; ++n) {
    if (batch.kind[n] == TreeBatch::kLeaf)
      continue;
    slot_[batch.left[n] - begin] = 2 * inner;
    slot_[batch.right[n] - begin] = 2 * inner + 1;
    ++inner;
  }
  int32_t root = slot_[end - 1 - begin] = 2 * inner;

  int64_t pair = 0; // twice the number of inner nodes done
  for (int32_t n = begin; n < end; ++n) {
    const int32_t *slot = &slot_[n - begin];
    if (batch.kind[n] == TreeBatch::kLeaf) {
      leaf_.run(&model_.E[static_cast<int64_t>(batch.word[n]) * TreeLstm::kEmbed], 1, y_.data());
      leaf_cells(model_.hidden, 1, y_.data(), model_.b.data(), slot, h_.data(), c_.data());
    } else {
      node_.run(&h_[pair * H], 1, y_.data());
      node_cells(model_.hidden, 1, y_.data(), model_.d.data(), &c_[pair * H], slot, h_.data(), c_.data());
      pair += 2;
    }
  }

  float logits[TreeLstm::kClasses];
  classes_.run(&h_[root * H], 1, logits);
  for (int32_t k = 0; k < TreeLstm::kClasses; ++k)
    logits[k] += model_.e[k];
  softmax(logits, out);
}

} // namespace

std::unique_ptr<Implementation> tree_lstm_gemv_node(const TreeLstm &model,
                                                    const std::vector<TreeBatch> &batches) {
  return std::make_unique<GemvNode>(model, batches);
}

} // namespace dbc::bench
