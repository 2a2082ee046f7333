// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The other workloads by hand, batched as a programmer with a matrix library would, with CBLAS for the
// products.
#pragma once

#include "bench/Implementation.h"
#include "bench/Inputs.h"
#include "bench/Parameters.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace dbc::bench {

// Parameters and batches are borrowed and must outlive the implementation.

/// TreeFC, level by level: a node writes its state where its parent's product reads it.
std::unique_ptr<Implementation> treefc_cblas(const Parameters &parameters, int32_t hidden,
                                             const std::vector<Inputs> &batches);

/// The tagger's scores, with words of `embed` elements and `tags` scores each: sentences sorted by length,
/// one product a step for both the words of all of them; what needs no state is one product before, and
/// after, all steps.
std::unique_ptr<Implementation> tagger_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                             int32_t tags, const std::vector<Inputs> &batches);

/// Training of the tagger by the sum of the words' cross entropies, in the mean over a batch's sentences,
/// whose tags are the second column; batched as `tagger_cblas`, at the rate `rate`.
std::unique_ptr<Implementation> tagger_cblas_training(const Parameters &parameters, int32_t hidden,
                                                      int32_t embed, int32_t tags,
                                                      const std::vector<Inputs> &batches, float rate);

/// The child-sum Tree-LSTM with a softmax of `classes` at the root, level by level.
std::unique_ptr<Implementation> child_sum_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                                int32_t classes, const std::vector<Inputs> &batches);

/// The gated graph network, all atoms of a batch step by step, bonds by kind.
std::unique_ptr<Implementation> ggnn_cblas(const Parameters &parameters, int32_t hidden, int32_t features,
                                           int32_t kinds, int32_t steps, const std::vector<Inputs> &batches);

/// The scores of the lattice LSTM in both directions, position by position, with glyphs and forms of `embed`
/// elements and `tags` scores a character.
std::unique_ptr<Implementation> lattice_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                              int32_t tags, const std::vector<Inputs> &batches);

/// Vector and matrix of the root by the MV-RNN, node by node.
std::unique_ptr<Implementation> mv_rnn_cblas(const Parameters &parameters, int32_t d,
                                             const std::vector<Inputs> &batches);

} // namespace dbc::bench
