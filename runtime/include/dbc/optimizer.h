// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Optimizers: how weights change by the gradient of a loss. The formulas and their order of operations are
// those of torch.optim, in float.
#pragma once

#include <dbc/buffer.h>
#include <dbc/optimizer_step.h>
#include <dbc/outputs.h>
#include <dbc/status.h>
#include <dbc/weights.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dbc {
namespace cuda {
class Optimizer;
}

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
  /// Rows of a table that have no part in a sparse gradient stay as they are, and so does their state, where
  /// momentum, means or weight decay would change them: a step costs what the rows with a gradient do. That
  /// is another rule than the dense one, the one of torch.optim.SparseAdam, but that epsilon is added where
  /// Adam adds it; the correction of the means counts all steps of the parameter.
  bool lazy_rows = false;
};

/// "sgd", "adagrad", "adam" or "adamw": in files and on command lines.
const char *name_of(OptimizerOptions::Kind kind);

/// What an optimizer keeps of a parameter from step to step; an empty array stands for zeros.
struct OptimizerState {
  Array<float> first;  ///< momentum; mean of gradients
  Array<float> second; ///< sum of squares; mean of squares
  int64_t steps = 0;   ///< steps with a gradient of this parameter
};

/// Numbers begin .. end - 1 of a parameter.
struct ParamRange {
  size_t begin = 0, end = 0;
};

/// Changes weights step by step. Keeps its state, as many numbers as weights or twice as many, from the first
/// step of a parameter on. For one thread at a time.
///
/// With a sparse gradient (Outputs::gradient_rows) a step gives the bits of the dense gradient that has 0 in
/// the other rows, without making that one. Sgd without momentum and Adagrad, both without weight decay,
/// touch only the rows with a gradient; else all rows change, unless OptimizerOptions::lazy_rows is set.
class Optimizer {
public:
  explicit Optimizer(const OptimizerOptions &options) : options_(options) {}

  /// May be changed between steps, as by a schedule.
  OptimizerOptions &options() { return options_; }
  const OptimizerOptions &options() const { return options_; }
  /// A parameter that stays as it is, and does not count in the norm. This and the next two throw
  /// std::bad_alloc.
  void freeze(int32_t param, bool frozen = true);
  /// The weight decay of one parameter, in place of that in the options: 0 for embeddings and biases, mostly;
  /// negative: that in the options again.
  void set_weight_decay(int32_t param, float weight_decay);
  /// The learning rate of one parameter is that in the options, as a schedule sets it, times `factor`: below
  /// 1 for embeddings that come from elsewhere, mostly. Weight decay of AdamW goes by it too.
  void set_lr_scale(int32_t param, float factor);
  bool is_frozen(int32_t param) const { return setting_of(param).frozen; }

  /// One step down the gradients that a run of a loss has left in `outputs`. Parameters without one stay as
  /// they are. Fails with bad_call, and nothing changes, if there is none at all, if one does not fit its
  /// parameter, if one is infinite or NaN (the first such parameter is named), if they are to be clipped and
  /// their norm is beyond a float, and if an option is out of its range; with limit, and nothing changes, if
  /// there is no memory for the state. Afterwards the model that gave the gradients is renewed by
  /// Model::renew. Allocates in a parameter's first step only, and where a batch looks up more rows of a
  /// table than those before.
  Status step(Weights &weights, const Outputs &outputs);
  /// The same where `outputs` have a part of the gradient, all of which is finite, and `norm` is that of the
  /// whole one.
  Status step(Weights &weights, const Outputs &outputs, float norm);
  /// The sum of squares of what is there of gradients, without those of frozen parameters; not finite where
  /// one of them is not.
  double sum_of_squares(const Weights &weights, const Outputs &outputs) const;
  /// Of several optimizers that share a parameter: from now on steps of this one change these numbers of it
  /// alone, and are given their gradient alone; of a sparse one the rows that lie there, by their numbers in
  /// the table. State is kept of these numbers; of what there is of the whole parameter the rest is
  /// forgotten.
  void set_range(int32_t param, ParamRange range);
  /// What the others have changed, too: all rows of a parameter, ascending, that change() is to have.
  void set_changed_rows(int32_t param, const int32_t *rows, int32_t count);
  /// How many steps were made.
  int64_t steps() const { return steps_; }
  /// What the last step has changed of a parameter; before the first one, nothing. Until the next step.
  const ParamChange &change(int32_t param) const;

  /// What step number `number` of a parameter does, from 1 on, where gradients are not clipped.
  OptimizerStep step_of(int32_t param, int64_t number) const;
  /// Whether numbers of a parameter whose gradient is 0 change too, they or what is kept of them.
  bool changes_without_gradient(int32_t param) const;
  /// Whether the kind, with the momentum it has, keeps a first and a second array.
  bool keeps_first() const;
  bool keeps_second() const;
  /// What is kept of a parameter; of one that had no step yet: nothing, and no steps. Until the next step.
  const OptimizerState &state(int32_t param) const;
  /// Goes on from what steps() and state() of each parameter were, as if this had made those steps. Arrays
  /// are empty or of their parameter's size, or that of its range; see load_optimizer in io/optimizer.h,
  /// which makes sure of it.
  void restore(int64_t steps, std::vector<OptimizerState> states);

private:
  friend class cuda::Optimizer;
  struct Setting {
    bool frozen = false;
    float weight_decay = -1; ///< negative: that of the options
    float lr_scale = 1;
    std::optional<ParamRange> range; ///< none: the whole parameter
  };
  /// What is wrong with options, or nothing. What the kind does not use is not looked at.
  static std::string wrong_option(const OptimizerOptions &options);
  /// The same of what was set for a parameter.
  std::string wrong_setting(const ModelInfo &info, int32_t param) const;
  Setting &setting(int32_t param);
  Setting setting_of(int32_t param) const;
  float weight_decay_of(int32_t param) const;
  Status check(const Weights &weights, const Outputs &outputs) const;
  Status test_finite(const Weights &weights, const Outputs &outputs) const;
  Status norm(const Weights &weights, const Outputs &outputs, float &norm) const;
  Status clip_and_step(Weights &weights, const Outputs &outputs, float norm);
  ParamRange range_of(int32_t param, const Weights &weights) const {
    return setting_of(param).range.value_or(ParamRange{0, weights.size(param)});
  }
  void make_room(const Weights &weights, const Outputs &outputs);
  bool takes_part(int32_t param, const Outputs &outputs) const {
    return outputs.has_gradient(param) && !setting_of(param).frozen;
  }

  OptimizerOptions options_;
  std::vector<OptimizerState> states_; ///< by parameter
  std::vector<Setting> settings_;      ///< by parameter, where one was set
  std::vector<ParamChange> changes_;   ///< by parameter
  int64_t steps_ = 0;
};

} // namespace dbc
