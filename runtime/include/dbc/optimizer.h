// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Optimizers: how weights change by the gradient of a loss. The formulas and their order of operations are
// those of torch.optim, in float.
#pragma once

#include <dbc/buffer.h>
#include <dbc/outputs.h>
#include <dbc/status.h>
#include <dbc/weights.h>

#include <cstdint>
#include <vector>

namespace dbc {

/// What an optimizer does in a step, with its defaults.
struct OptimizerOptions {
  enum class Kind {
    Sgd,     ///< w -= lr * m, where m = momentum * m + g; Nesterov's with g + momentum * m for m
    Adagrad, ///< w -= lr * g / (sqrt(s) + epsilon), where s += g * g (Duchi et al. 2011)
    Adam,    ///< w -= lr * m' / (sqrt(v') + epsilon) (Kingma and Ba 2015)
    AdamW ///< the same, with weight decay that does not go through the gradient (Loshchilov and Hutter 2019)
  };
  Kind kind = Kind::Sgd;
  float lr = 0.01F;
  float momentum = 0; ///< Sgd
  bool nesterov = false;
  float beta1 = 0.9F, beta2 = 0.999F; ///< Adam, AdamW
  float epsilon = 1e-8F;              ///< Adagrad: 1e-10 in torch.optim
  float weight_decay = 0; ///< AdamW: w *= 1 - lr * weight_decay; of the others: g += weight_decay * w
  /// Gradients are scaled down so that the norm of all of them together is at most this; 0: they are not.
  float clip_norm = 0;
};

/// Changes weights step by step. Keeps its state, as many numbers as weights or twice as many, from the first
/// step of a parameter on. For one thread at a time.
class Optimizer {
public:
  explicit Optimizer(const OptimizerOptions &options) : options_(options) {}

  /// May be changed between steps, as by a schedule.
  OptimizerOptions &options() { return options_; }
  /// A parameter that stays as it is, and does not count in the norm.
  void freeze(int32_t param, bool frozen = true);
  /// The weight decay of one parameter, in place of that in the options: 0 for embeddings and biases, mostly;
  /// negative: that in the options again.
  void set_weight_decay(int32_t param, float weight_decay);

  /// One step down the gradients that a run of a loss has left in `outputs`. Parameters without one stay as
  /// they are. Fails with bad_call, and nothing changes, if there is none at all, if one has another size
  /// than its parameter, and if one is infinite or NaN: the first such parameter is named. Afterwards the
  /// model that gave the gradients is renewed by Model::renew. Allocates in a parameter's first step only.
  Status step(Weights &weights, const Outputs &outputs);
  /// How many steps were made.
  int64_t steps() const { return steps_; }

private:
  struct State {
    Array<float> first, second; ///< momentum, mean; sum of squares, mean of squares
    int64_t steps = 0;
  };
  float weight_decay(int32_t param) const;
  void update(State &state, float *weights, const float *gradient, size_t count, float scale,
              float weight_decay);

  OptimizerOptions options_;
  std::vector<State> states_; ///< by parameter
  std::vector<bool> frozen_;
  std::vector<float> weight_decays_; ///< by parameter, where set; negative: not
  Array<float> gradient_;            ///< of a model of doubles, as float
  int64_t steps_ = 0;
};

} // namespace dbc
