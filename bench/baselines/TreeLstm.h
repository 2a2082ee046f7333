// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The binary Tree-LSTM of examples/tree_lstm at a size that is known when the program runs: its parameters,
// and every implementation of it. Those of the entry `sentiment` compute the softmax over the classes at each
// root; trainings go by the loss `nll`, the sum of the nodes' cross entropies, in the mean over a batch's
// trees.
#pragma once

#include "bench/Implementation.h"
#include "bench/Trees.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dbc::bench {

/// Extents and parameters, row-major, under the names that tree_lstm.dyn gives them.
struct TreeLstm {
  static constexpr int32_t kVocab = 20000; ///< about the number of different words in all of SST
  static constexpr int32_t kEmbed = 300;
  static constexpr int32_t kClasses = 5;

  int32_t hidden;
  std::vector<float> E; ///< [kVocab, kEmbed]
  std::vector<float> W; ///< [3 hidden, kEmbed]: i, o, u
  std::vector<float> b; ///< [3 hidden]
  std::vector<float> U; ///< [5 hidden, 2 hidden]: i, fl, fr, o, u; columns h of left, h of right
  std::vector<float> d; ///< [5 hidden]
  std::vector<float> V; ///< [kClasses, hidden]
  std::vector<float> e; ///< [kClasses]

  /// Draws all parameters, E from -word_bound .. word_bound; the same for the same arguments on every
  /// machine.
  explicit TreeLstm(int32_t hidden, uint64_t seed = 1, double word_bound = 1);

  /// Floating-point operations in the products for these trees, counting a multiplication and an addition as
  /// two.
  double flops(const TreeBatch &trees) const;
};

/// out[classes] = softmax(logits). For the baselines.
void softmax(const float *logits, float *out);

/// The equations as they stand, in double precision, one node after the other. Slow.
std::vector<double> tree_lstm_reference(const TreeLstm &model, const TreeBatch &trees);

/// The mean loss of the trees, in the same way.
double tree_lstm_loss_reference(const TreeLstm &model, const TreeBatch &trees);

// The model and the batches are borrowed and must outlive the implementation.

/// A loop over the nodes with one gemv a node.
std::unique_ptr<Implementation> tree_lstm_gemv_node(const TreeLstm &model,
                                                    const std::vector<TreeBatch> &batches);

/// Batched by level with CBLAS.
std::unique_ptr<Implementation> tree_lstm_cblas(const TreeLstm &model, const std::vector<TreeBatch> &batches);

/// Training batched by level with CBLAS, at the rate `rate`; begins with the weights of `model`.
std::unique_ptr<Implementation> tree_lstm_cblas_training(const TreeLstm &model,
                                                         const std::vector<TreeBatch> &batches, float rate);

} // namespace dbc::bench
