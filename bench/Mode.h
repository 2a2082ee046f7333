// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is done with a model.
#pragma once

#include <cstdint>

namespace dbc::bench {

/// The row's `mode`: results of an entry, or a training by a loss.
enum class Mode : uint8_t { Infer, Train };

inline const char *name_of(Mode mode) { return mode == Mode::Train ? "train" : "infer"; }

/// A training is plain SGD: weights -= rate * the gradient of a batch's mean loss. So low that a batch of one
/// input leaves weights finite, so high that float has room for what a step changes.
constexpr float kLearningRate = 0.01F;

} // namespace dbc::bench
