// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is done with a model.
#pragma once

#include <cstdint>

namespace dbc::bench {

/// The row's `mode`: results of an entry, or a training by a loss.
enum class Mode : uint8_t { Infer, Train };

inline const char *name_of(Mode mode) { return mode == Mode::Train ? "train" : "infer"; }

/// Elements of words' vectors in a training are drawn from -bound .. bound: small enough that what a step
/// changes is far above their rounding.
constexpr double kTrainedWordBound = 0.1;

} // namespace dbc::bench
