// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a step of an optimizer does to a weight and to what is kept of it: the formulas of torch.optim, in
// float, for a CPU and a GPU.
#pragma once

#include <dbc/inline.h>

#include <cmath>
#include <cstdint>

namespace dbc {

/// A step of one parameter: what all its numbers have in common. AdamW is Adam with `kept`, and without decay
/// of the gradient.
struct OptimizerStep {
  enum class Rule : int32_t { Sgd, Momentum, Nesterov, Adagrad, Adam };
  Rule rule = Rule::Sgd;
  float lr = 0;
  float scale = 1; ///< of the gradient, by clipping
  float decay = 0; ///< of the weight, in the gradient
  float momentum = 0, beta1 = 0, beta2 = 0, epsilon = 0;
  float corrected_lr = 0, root = 1; ///< lr and the root of the mean of squares by their corrections
  float kept = 1;                   ///< what stays of a weight

  DBC_INLINE float scaled(float gradient, float weight) const {
    const float g = scale * gradient;
    return decay != 0 ? g + decay * weight : g;
  }
  DBC_INLINE void sgd(float &weight, float gradient) const { weight -= lr * scaled(gradient, weight); }
  DBC_INLINE void with_momentum(float &weight, float &first, float gradient) const {
    first = momentum * first + scaled(gradient, weight);
    weight -= lr * first;
  }
  DBC_INLINE void nesterov(float &weight, float &first, float gradient) const {
    const float g = scaled(gradient, weight);
    first = momentum * first + g;
    weight -= lr * (g + momentum * first);
  }
  DBC_INLINE void adagrad(float &weight, float &second, float gradient) const {
    const float g = scaled(gradient, weight);
    second += g * g;
    weight -= lr * g / (std::sqrt(second) + epsilon);
  }
  DBC_INLINE void adam(float &weight, float &first, float &second, float gradient) const {
    const float g = scaled(gradient, weight);
    first += (1 - beta1) * (g - first);
    second = beta2 * second + (1 - beta2) * g * g;
    weight = kept * weight - corrected_lr * first / (std::sqrt(second) / root + epsilon);
  }
};

} // namespace dbc
