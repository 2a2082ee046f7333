// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Finite.h"
#include "../io/Result.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace dbc::train {

static bool are_finite(const float *values, size_t count) {
  return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

static Status not_finite(int64_t step, const std::string &what, const char *why) {
  return io::failure("step " + std::to_string(step) + ": " + what + " is not finite after it: " + why +
                         "; training ends, and what was saved stays",
                     Code::bad_input);
}

Status find_not_finite_weight(const Weights &weights, const EntryInfo &loss, const Optimizer &optimizer,
                              int64_t step) {
  for (const int32_t param : loss.gradients)
    if (!optimizer.is_frozen(param) && !are_finite(weights.data(param), weights.size(param)))
      return not_finite(step, "`" + weights.info().params[param].name + "`", "the learning rate is too high");
  return Status();
}

Status find_not_finite_state(const Optimizer &optimizer, const ModelInfo &info, int64_t step) {
  for (size_t param = 0; param < info.params.size(); ++param) {
    const OptimizerState &state = optimizer.state(static_cast<int32_t>(param));
    for (const auto *array : {&state.first, &state.second})
      if (!are_finite(array->data(), array->size()))
        return not_finite(step, "what the optimizer keeps of `" + info.params[param].name + "`",
                          "the gradients are too large");
  }
  return Status();
}

} // namespace dbc::train
