// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a training must not go on with, nor save: weights and state that are infinite or NaN.
#pragma once

#include <cstdint>
#include <dbc/model_info.h>
#include <dbc/optimizer.h>
#include <dbc/status.h>
#include <dbc/weights.h>

namespace dbc::train {

/// bad_input, with the parameter, where a weight is infinite or NaN after this step; else ok. Of what steps
/// change: a const or a frozen parameter may be a mask of infinities.
Status find_not_finite_weight(const Weights &weights, const EntryInfo &loss, const Optimizer &optimizer,
                              int64_t step);
/// The same of what an optimizer keeps, as far as this rank has it. Squares of a gradient may be infinite
/// where itself it is not: that weight would never change again.
Status find_not_finite_state(const Optimizer &optimizer, const ModelInfo &info, int64_t step);

} // namespace dbc::train
