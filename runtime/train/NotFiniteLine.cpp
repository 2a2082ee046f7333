// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What ends a training: a loss or a gradient that is infinite or NaN, and of which line.
#include "../io/Result.h"
#include "Digits.h"
#include "TrainingLoop.h"

#include <algorithm>
#include <cmath>

namespace dbc::train {

using io::failure;

/// The first parameter whose gradient has an infinity or NaN.
std::optional<std::string> TrainingLoop::not_finite_gradient() const {
  const Outputs &outputs = session_->outputs(loss_);
  for (size_t param = 0; param < info_.params.size(); ++param) {
    const auto number = static_cast<int32_t>(param);
    const size_t size = outputs.gradient_size(number);
    const float *f32 = outputs.gradient_f32(number);
    const double *f64 = outputs.gradient_f64(number);
    for (size_t i = 0; i < size; ++i)
      if (!std::isfinite(f32 ? f32[i] : f64[i]))
        return info_.params[param].name;
  }
  return std::nullopt;
}

/// Of the run of these lines. They are in the batch; afterwards others may be.
std::string TrainingLoop::find_not_finite(const std::vector<size_t> &lines) {
  if (lines.empty())
    return "";
  const Outputs &outputs = session_->outputs(loss_);
  bool finite = true;
  for (size_t i = 0; i < lines.size() && finite; ++i)
    finite = std::isfinite(outputs.number(0, i));
  std::optional<std::string> param = not_finite_gradient();
  if (finite && !param)
    return "";
  // Which input is it: each by itself.
  for (size_t line : lines) {
    if (!fill({line}, 1).ok())
      continue; // then it is not found
    if (!session_->run(loss_, batch_).ok() || !session_->status(0).ok())
      continue;
    const double loss = session_->outputs(loss_).number(0, 0);
    std::optional<std::string> own = not_finite_gradient();
    if (std::isfinite(loss) && !own)
      continue;
    return train_->name(line) + " has the loss " + general(loss, 6) +
           (own ? ", and the gradient of `" + *own + "` is not finite" : "");
  }
  return "the gradient of `" + param.value_or("?") +
         "` over the batch is not finite, though each input's is; the batch begins with " +
         train_->name(lines[0]);
}

/// The error: what the first of the ranks that finds something says, else `otherwise`.
Status TrainingLoop::not_finite(const std::vector<size_t> &lines, const std::string &otherwise) {
  if (device_.change_weights()) { // the host looks at gradients
    device_.give_gradients_to_host();
    session_->set_dropout(options_.seed, progress_.step);
    if (Status status = session_->run(loss_, batch_); !status.ok())
      return status;
  }
  std::vector<std::string> found;
  if (Status status = ranks_.gather_texts(find_not_finite(lines), found); !status.ok())
    return status;
  const auto first = std::find_if(found.begin(), found.end(), [](const auto &text) { return !text.empty(); });
  const std::string what =
      first != found.end() ? "step " + std::to_string(progress_.step + 1) + ": " + *first : otherwise;
  return ranks_.agreed(failure(what + "; training ends, and what was saved stays", Code::bad_input));
}

} // namespace dbc::train
