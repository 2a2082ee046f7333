// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/optimizer.h>

#include <algorithm>
#include <cmath>
#include <new>

namespace dbc {

void Optimizer::freeze(int32_t param, bool frozen) {
  if (param < 0)
    return; // no parameter
  if (static_cast<size_t>(param) >= frozen_.size())
    frozen_.resize(param + 1);
  frozen_[param] = frozen;
}

void Optimizer::set_weight_decay(int32_t param, float weight_decay) {
  if (param < 0)
    return; // no parameter
  if (static_cast<size_t>(param) >= weight_decays_.size())
    weight_decays_.resize(param + 1, -1.0F);
  weight_decays_[param] = weight_decay;
}

float Optimizer::weight_decay(int32_t param) const {
  return static_cast<size_t>(param) < weight_decays_.size() && weight_decays_[param] >= 0
             ? weight_decays_[param]
             : options_.weight_decay;
}

Status Optimizer::step(Weights &weights, const Outputs &outputs) {
  const auto gradient_of = [&](int32_t param) -> const float * {
    if (static_cast<size_t>(param) < frozen_.size() && frozen_[param])
      return nullptr;
    if (const double *wide = outputs.gradient_f64(param)) {
      gradient_.resize(weights.size(param));
      std::transform(wide, wide + weights.size(param), gradient_.data(),
                     [](double x) { return static_cast<float>(x); });
      return gradient_.data();
    }
    return outputs.gradient_f32(param);
  };
  bool any = false;
  for (int32_t param = 0; param < weights.count(); ++param) {
    const size_t given = outputs.gradient_size(param);
    if (given != 0 && given != weights.size(param))
      return Status::error(Code::bad_call, weights.info().name + ": the gradient of `" +
                                               weights.info().params[param].name + "` is of another model");
    any |= given != 0;
  }
  if (!any)
    return Status::error(Code::bad_call,
                         weights.info().name +
                             ": there is no gradient: the last run of the loss failed, or was none");
  try {
    double squares = 0; // in the order of parameters and of their elements
    for (int32_t param = 0; param < weights.count(); ++param)
      if (const float *gradient = gradient_of(param)) {
        double sum = 0;
        for (size_t i = 0; i < weights.size(param); ++i)
          sum += static_cast<double>(gradient[i]) * gradient[i];
        if (!std::isfinite(sum))
          return Status::error(Code::bad_call, weights.info().name + ": the gradient of `" +
                                                   weights.info().params[param].name + "` is not finite");
        squares += sum;
      }
    const auto norm = static_cast<float>(std::sqrt(squares));
    // As torch.nn.utils.clip_grad_norm_ has it.
    const float scale = options_.clip_norm > 0 ? std::min(1.0F, options_.clip_norm / (norm + 1e-6F)) : 1.0F;
    if (states_.size() < static_cast<size_t>(weights.count()))
      states_.resize(weights.count());
    for (int32_t param = 0; param < weights.count(); ++param)
      if (const float *gradient = gradient_of(param))
        update(states_[param], weights.data(param), gradient, weights.size(param), scale,
               weight_decay(param));
    ++steps_;
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, weights.info().name + ": not enough memory for the optimizer's state");
  }
  return Status();
}

void Optimizer::update(State &state, float *weights, const float *gradient, size_t count, float scale,
                       float weight_decay) {
  using Kind = OptimizerOptions::Kind;
  const OptimizerOptions &o = options_;
  const bool is_adam = o.kind == Kind::Adam || o.kind == Kind::AdamW;
  ++state.steps;
  const bool has_first = is_adam || (o.kind == Kind::Sgd && o.momentum != 0),
             has_second = is_adam || o.kind == Kind::Adagrad;
  const bool is_first = state.first.size() == 0; // also where options change on the way
  if (has_first && is_first)
    state.first.assign(count, 0);
  if (has_second && state.second.size() == 0)
    state.second.assign(count, 0);
  const float lr = o.lr, decay = o.kind == Kind::AdamW ? 0.0F : weight_decay;
  float *first = state.first.data(), *second = state.second.data();
  const auto given = [&](size_t i) { return scale * gradient[i] + decay * weights[i]; };
  switch (o.kind) {
  case Kind::Sgd:
    if (!has_first) {
      for (size_t i = 0; i < count; ++i)
        weights[i] -= lr * given(i);
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      const float g = given(i);
      first[i] = is_first ? g : o.momentum * first[i] + g;
      weights[i] -= lr * (o.nesterov ? g + o.momentum * first[i] : first[i]);
    }
    return;
  case Kind::Adagrad:
    for (size_t i = 0; i < count; ++i) {
      const float g = given(i);
      second[i] += g * g;
      weights[i] -= lr * g / (std::sqrt(second[i]) + o.epsilon);
    }
    return;
  case Kind::Adam:
  case Kind::AdamW: {
    const double steps = static_cast<double>(state.steps);
    const double correction1 = 1 - std::pow(static_cast<double>(o.beta1), steps),
                 correction2 = 1 - std::pow(static_cast<double>(o.beta2), steps);
    const auto size = static_cast<float>(lr / correction1), root = static_cast<float>(std::sqrt(correction2));
    const float kept = o.kind == Kind::AdamW ? 1 - lr * weight_decay : 1.0F;
    for (size_t i = 0; i < count; ++i) {
      const float g = given(i);
      first[i] += (1 - o.beta1) * (g - first[i]);
      second[i] = o.beta2 * second[i] + (1 - o.beta2) * g * g;
      weights[i] = kept * weights[i] - size * first[i] / (std::sqrt(second[i]) / root + o.epsilon);
    }
    return;
  }
  }
}

} // namespace dbc
