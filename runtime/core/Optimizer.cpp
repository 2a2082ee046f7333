// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/math.h> // DBC_CLONES
#include <dbc/optimizer.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <utility>

namespace dbc {

namespace {

using Kind = OptimizerOptions::Kind;

/// The gradient of rows that have none.
struct Zeros {
  float operator[](size_t) const { return 0; }
};

/// Changes `count` weights and their state. The arrays are apart from each other, which lets the loops run on
/// vectors.
template <class Gradient>
inline __attribute__((always_inline)) void change_all(const OptimizerStep &step, float *__restrict weights,
                                                      float *__restrict first, float *__restrict second,
                                                      Gradient gradient, size_t count) {
  const auto given = [&](size_t i) { return static_cast<float>(gradient[i]); };
  switch (step.rule) {
  case OptimizerStep::Rule::Sgd:
    for (size_t i = 0; i < count; ++i)
      step.sgd(weights[i], given(i));
    return;
  case OptimizerStep::Rule::Momentum:
    for (size_t i = 0; i < count; ++i)
      step.with_momentum(weights[i], first[i], given(i));
    return;
  case OptimizerStep::Rule::Nesterov:
    for (size_t i = 0; i < count; ++i)
      step.nesterov(weights[i], first[i], given(i));
    return;
  case OptimizerStep::Rule::Adagrad:
    for (size_t i = 0; i < count; ++i)
      step.adagrad(weights[i], second[i], given(i));
    return;
  case OptimizerStep::Rule::Adam:
    for (size_t i = 0; i < count; ++i)
      step.adam(weights[i], first[i], second[i], given(i));
    return;
  }
}

// For each instruction set; the bits are the same.
DBC_CLONES void change(const OptimizerStep &step, float *__restrict weights, float *__restrict first,
                       float *__restrict second, const float *__restrict gradient, size_t count) {
  change_all(step, weights, first, second, gradient, count);
}
DBC_CLONES void change(const OptimizerStep &step, float *__restrict weights, float *__restrict first,
                       float *__restrict second, const double *__restrict gradient, size_t count) {
  change_all(step, weights, first, second, gradient, count);
}
DBC_CLONES void change(const OptimizerStep &step, float *__restrict weights, float *__restrict first,
                       float *__restrict second, Zeros gradient, size_t count) {
  change_all(step, weights, first, second, gradient, count);
}

/// The step of a parameter, or a part of it, by a dense gradient or one of the `rows` of the parameter.
/// `all`: numbers without a gradient change, too.
template <class Real>
void apply(const OptimizerStep &step, bool all, float *weights, OptimizerState &state, const Real *gradient,
           const GradientRows &rows, ParamRange part) {
  const size_t size = part.end - part.begin;
  weights += part.begin;
  float *first = state.first.data(), *second = state.second.data();
  const auto from = [](float *array, size_t at) { return array == nullptr ? nullptr : array + at; };
  const auto range = [&](auto of, size_t begin, size_t end) {
    change(step, weights + begin, from(first, begin), from(second, begin), of, end - begin);
  };
  if (!rows)
    return range(gradient, 0, size);
  const auto width = static_cast<size_t>(rows.width);
  size_t done = 0;
  for (int32_t r = 0; r < rows.count; ++r) {
    const size_t begin = static_cast<size_t>(rows.rows[r]) * width - part.begin;
    if (all)
      range(Zeros(), done, begin);
    range(gradient + static_cast<size_t>(r) * width, begin, begin + width);
    done = begin + width;
  }
  if (all)
    range(Zeros(), done, size);
}

constexpr size_t kSquareSums = 8;
template <class Real>
inline __attribute__((always_inline)) void square(const Real *gradient, size_t count, double *to) {
  double sums[kSquareSums];
  std::copy_n(to, kSquareSums, sums);
  for (size_t i = 0; i < count; i += kSquareSums)
    for (size_t k = 0; k < kSquareSums; ++k) {
      const double g = static_cast<float>(gradient[i + k]);
      sums[k] += g * g;
    }
  std::copy_n(sums, kSquareSums, to);
}
DBC_CLONES void add_squares(const float *gradient, size_t count, double *to) { square(gradient, count, to); }
DBC_CLONES void add_squares(const double *gradient, size_t count, double *to) { square(gradient, count, to); }

/// The sum of squares of a gradient's elements. It is that of eight sums side by side, and which one an
/// element goes to follows from its number alone: so a sparse gradient has the bits of the dense one.
class Squares {
public:
  /// Elements `begin` .. of the parameter, `count` of them.
  template <class Real> void add(const Real *gradient, size_t begin, size_t count) {
    const auto square = [&](size_t i) {
      const double g = static_cast<float>(gradient[i]);
      return g * g;
    };
    const size_t head = std::min(count, (kSquareSums - begin % kSquareSums) % kSquareSums);
    for (size_t i = 0; i < head; ++i)
      sums_[(begin + i) % kSquareSums] += square(i);
    const size_t whole = (count - head) / kSquareSums * kSquareSums;
    add_squares(gradient + head, whole, sums_);
    for (size_t i = head + whole, k = 0; i < count; ++i, ++k)
      sums_[k] += square(i);
  }
  double sum() const {
    double sum = 0;
    for (double s : sums_)
      sum += s;
    return sum;
  }

private:
  double sums_[kSquareSums] = {};
};

template <class Real> double squares_of(const Real *gradient, const GradientRows &rows, size_t size) {
  Squares squares;
  if (!rows)
    squares.add(gradient, 0, size);
  const auto width = static_cast<size_t>(rows.width);
  for (size_t r = 0; r < static_cast<size_t>(rows.count); ++r)
    squares.add(gradient + r * width, static_cast<size_t>(rows.rows[r]) * width, width);
  return squares.sum();
}

template <class Real>
inline __attribute__((always_inline)) bool has_finite(const Real *gradient, size_t count) {
  constexpr size_t kSums = 16; // each of its own, so that they are vectors
  float sums[kSums] = {};      // of 0 times each element, which is 0 where that is finite
  size_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (size_t k = 0; k < kSums; ++k)
      sums[k] += static_cast<float>(gradient[i + k]) * 0;
  for (; i < count; ++i)
    sums[0] += static_cast<float>(gradient[i]) * 0;
  // Not by std::all_of: clang 22 at -O0 emits no functions that clones alone call.
  float sum = 0;
  for (size_t k = 0; k < kSums; ++k)
    sum += sums[k];
  return sum == 0;
}
DBC_CLONES bool is_finite(const float *gradient, size_t count) { return has_finite(gradient, count); }
DBC_CLONES bool is_finite(const double *gradient, size_t count) { return has_finite(gradient, count); }

/// Whether a gradient is one of that part of a parameter.
bool fits(const Outputs &outputs, int32_t param, ParamRange part) {
  const GradientRows rows = outputs.gradient_rows(param);
  if (!rows)
    return outputs.gradient_size(param) == part.end - part.begin;
  const auto width = static_cast<size_t>(rows.width);
  return part.begin % width == 0 && part.end % width == 0 &&
         (rows.count == 0 || (static_cast<size_t>(rows.rows[0]) >= part.begin / width &&
                              static_cast<size_t>(rows.rows[rows.count - 1]) < part.end / width));
}

} // namespace

std::string Optimizer::wrong_option(const OptimizerOptions &o) {
  const auto must = [](const char *name, const char *range, float is) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", static_cast<double>(is));
    return std::string(name) + " must be " + range + ", not " + text;
  };
  const char *at_least_0 = "finite and at least 0", *below_1 = "at least 0 and below 1";
  const auto is_at_least_0 = [](float x) { return x >= 0 && std::isfinite(x); };
  const auto is_below_1 = [](float x) { return x >= 0 && x < 1; };
  if (!is_at_least_0(o.lr))
    return must("the learning rate", at_least_0, o.lr);
  if (!is_at_least_0(o.weight_decay))
    return must("the weight decay", at_least_0, o.weight_decay);
  if (!is_at_least_0(o.clip_norm))
    return must("the norm that gradients are clipped to", at_least_0, o.clip_norm);
  if (o.kind == Kind::Sgd)
    return is_at_least_0(o.momentum) ? "" : must("the momentum", at_least_0, o.momentum);
  if (!(o.epsilon > 0 && std::isfinite(o.epsilon))) // 0 makes 0 / 0 of a gradient of 0
    return must("epsilon", "finite and above 0", o.epsilon);
  if (o.kind == Kind::Adagrad)
    return "";
  if (!is_below_1(o.beta1))
    return must("beta1", below_1, o.beta1);
  return is_below_1(o.beta2) ? "" : must("beta2", below_1, o.beta2);
}

Optimizer::Setting &Optimizer::setting(int32_t param) {
  if (static_cast<size_t>(param) >= settings_.size())
    settings_.resize(static_cast<size_t>(param) + 1);
  return settings_[param];
}

Optimizer::Setting Optimizer::setting_of(int32_t param) const {
  return static_cast<size_t>(param) < settings_.size() ? settings_[param] : Setting();
}

void Optimizer::freeze(int32_t param, bool frozen) {
  if (param >= 0)
    setting(param).frozen = frozen;
}

void Optimizer::set_weight_decay(int32_t param, float weight_decay) {
  if (param >= 0)
    setting(param).weight_decay = weight_decay;
}

void Optimizer::set_lr_scale(int32_t param, float factor) {
  if (param >= 0)
    setting(param).lr_scale = factor;
}

void Optimizer::set_range(int32_t param, ParamRange range) {
  if (param < 0)
    return;
  setting(param).range = range;
  if (static_cast<size_t>(param) >= states_.size())
    return;
  for (Array<float> *state : {&states_[param].first, &states_[param].second})
    if (state->size() >= range.end && state->size() > range.end - range.begin) {
      Array<float> part; // whose memory is no larger
      part.append(state->data() + range.begin, range.end - range.begin);
      *state = std::move(part);
    }
}

void Optimizer::set_changed_rows(int32_t param, const int32_t *rows, int32_t count) {
  if (static_cast<size_t>(param) >= changes_.size())
    return;
  changes_[param].rows.clear();
  changes_[param].rows.append(rows, static_cast<size_t>(count));
}

bool Optimizer::keeps_first() const {
  return options_.kind == Kind::Adam || options_.kind == Kind::AdamW ||
         (options_.kind == Kind::Sgd && options_.momentum != 0);
}

bool Optimizer::keeps_second() const { return options_.kind != Kind::Sgd; }

const OptimizerState &Optimizer::state(int32_t param) const {
  static const OptimizerState none;
  return static_cast<size_t>(param) < states_.size() ? states_[param] : none;
}

const ParamChange &Optimizer::change(int32_t param) const {
  static const ParamChange none;
  return static_cast<size_t>(param) < changes_.size() ? changes_[param] : none;
}

void Optimizer::restore(int64_t steps, std::vector<OptimizerState> states) {
  steps_ = steps;
  states_ = std::move(states);
}

std::string Optimizer::wrong_setting(const ModelInfo &info, int32_t param) const {
  const std::string &name = info.params[param].name;
  const Setting setting = setting_of(param);
  if (!(setting.lr_scale >= 0) || !std::isfinite(setting.lr_scale * options_.lr))
    return "the learning rate of `" + name + "` is negative or not finite";
  if (!(setting.weight_decay < 0) && !std::isfinite(setting.weight_decay))
    return "the weight decay of `" + name + "` is not finite";
  return "";
}

Status Optimizer::check(const Weights &weights, const Outputs &outputs) const {
  const auto bad = [&](const std::string &what) {
    return Status::error(Code::bad_call, weights.info().name + ": " + what);
  };
  if (const std::string wrong = wrong_option(options_); !wrong.empty())
    return bad(wrong);
  bool any = false;
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!outputs.has_gradient(param))
      continue;
    any = true;
    if (!fits(outputs, param, range_of(param, weights)))
      return bad("the gradient of `" + weights.info().params[param].name + "` is of another model");
    if (const std::string wrong = wrong_setting(weights.info(), param); !wrong.empty())
      return bad(wrong);
  }
  return any ? Status()
             : bad("there is no gradient: the last run of the loss failed, was none, or was to give none");
}

static Status not_finite(const Weights &weights, int32_t param) {
  return Status::error(Code::bad_call, weights.info().name + ": the gradient of `" +
                                           weights.info().params[param].name + "` is not finite");
}

Status Optimizer::test_finite(const Weights &weights, const Outputs &outputs) const {
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!takes_part(param, outputs))
      continue;
    const size_t count = outputs.gradient_size(param);
    const double *wide = outputs.gradient_f64(param);
    if (!(wide ? is_finite(wide, count) : is_finite(outputs.gradient_f32(param), count)))
      return not_finite(weights, param);
  }
  return Status();
}

/// In the order of parameters.
Status Optimizer::norm(const Weights &weights, const Outputs &outputs, float &norm) const {
  double squares = 0;
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!takes_part(param, outputs))
      continue;
    const GradientRows rows = outputs.gradient_rows(param);
    const double *wide = outputs.gradient_f64(param);
    const double sum = wide ? squares_of(wide, rows, outputs.gradient_size(param))
                            : squares_of(outputs.gradient_f32(param), rows, outputs.gradient_size(param));
    if (!std::isfinite(sum))
      return not_finite(weights, param);
    squares += sum;
  }
  norm = static_cast<float>(std::sqrt(squares));
  return Status();
}

double Optimizer::sum_of_squares(const Weights &weights, const Outputs &outputs) const {
  double squares = 0;
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!takes_part(param, outputs))
      continue;
    const GradientRows rows = outputs.gradient_rows(param);
    const size_t size = outputs.gradient_size(param);
    const double *wide = outputs.gradient_f64(param);
    squares += wide ? squares_of(wide, rows, size) : squares_of(outputs.gradient_f32(param), rows, size);
  }
  return squares;
}

void Optimizer::make_room(const Weights &weights, const Outputs &outputs) {
  if (states_.size() < static_cast<size_t>(weights.count()))
    states_.resize(weights.count());
  if (changes_.size() < static_cast<size_t>(weights.count()))
    changes_.resize(weights.count());
  for (int32_t param = 0; param < weights.count(); ++param) {
    if (!takes_part(param, outputs))
      continue;
    changes_[param].rows.reserve(static_cast<size_t>(outputs.gradient_rows(param).count));
    const ParamRange part = range_of(param, weights);
    if (keeps_first())
      states_[param].first.extend(part.end - part.begin, 0);
    if (keeps_second())
      states_[param].second.extend(part.end - part.begin, 0);
  }
}

Status Optimizer::step(Weights &weights, const Outputs &outputs) {
  if (Status status = check(weights, outputs); !status.ok())
    return status;
  const bool clips = options_.clip_norm > 0;
  float norm = 0;
  if (Status status = clips ? this->norm(weights, outputs, norm) : test_finite(weights, outputs);
      !status.ok())
    return status;
  return clip_and_step(weights, outputs, norm);
}

Status Optimizer::step(Weights &weights, const Outputs &outputs, float norm) {
  const Status status = check(weights, outputs);
  return status.ok() ? clip_and_step(weights, outputs, norm) : status;
}

float Optimizer::weight_decay_of(int32_t param) const {
  const Setting setting = setting_of(param);
  return setting.weight_decay < 0 ? options_.weight_decay : setting.weight_decay;
}

OptimizerStep Optimizer::step_of(int32_t param, int64_t number) const {
  using Rule = OptimizerStep::Rule;
  const OptimizerOptions &o = options_;
  const bool is_adam = o.kind == Kind::Adam || o.kind == Kind::AdamW;
  OptimizerStep step;
  step.rule = is_adam                   ? Rule::Adam
              : o.kind == Kind::Adagrad ? Rule::Adagrad
              : o.momentum == 0         ? Rule::Sgd
              : o.nesterov              ? Rule::Nesterov
                                        : Rule::Momentum;
  step.lr = o.lr * setting_of(param).lr_scale;
  step.decay = o.kind == Kind::AdamW ? 0 : weight_decay_of(param);
  step.momentum = o.momentum;
  step.beta1 = o.beta1;
  step.beta2 = o.beta2;
  step.epsilon = o.epsilon;
  if (!is_adam)
    return step;
  const auto steps = static_cast<double>(number);
  step.corrected_lr = static_cast<float>(step.lr / (1 - std::pow(static_cast<double>(o.beta1), steps)));
  step.root = static_cast<float>(std::sqrt(1 - std::pow(static_cast<double>(o.beta2), steps)));
  if (o.kind == Kind::AdamW)
    step.kept = 1 - step.lr * weight_decay_of(param);
  return step;
}

bool Optimizer::changes_without_gradient(int32_t param) const {
  return !options_.lazy_rows && (weight_decay_of(param) != 0 || keeps_first());
}

/// The step, once it is known that it can be made.
Status Optimizer::clip_and_step(Weights &weights, const Outputs &outputs, float norm) {
  if (options_.clip_norm > 0 && !std::isfinite(norm))
    return Status::error(Code::bad_call, weights.info().name +
                                             ": the norm of the gradients is beyond what a float holds; they "
                                             "cannot be clipped to one");
  try {
    make_room(weights, outputs);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, weights.info().name + ": not enough memory for the optimizer's state");
  }
  // As torch.nn.utils.clip_grad_norm_ has it.
  const float scale = options_.clip_norm > 0 ? std::min(1.0F, options_.clip_norm / (norm + 1e-6F)) : 1.0F;
  for (int32_t param = 0; param < weights.count(); ++param) {
    ParamChange &change = changes_[param];
    change.kind = ParamChange::Kind::None;
    if (!takes_part(param, outputs))
      continue;
    OptimizerState &state = states_[param];
    OptimizerStep step = step_of(param, ++state.steps);
    step.scale = scale;
    const bool all = changes_without_gradient(param);
    const GradientRows rows = outputs.gradient_rows(param);
    const ParamRange part = range_of(param, weights);
    if (const double *wide = outputs.gradient_f64(param))
      apply(step, all, weights.data_of(param), state, wide, rows, part);
    else
      apply(step, all, weights.data_of(param), state, outputs.gradient_f32(param), rows, part);
    change.kind = rows && !all ? ParamChange::Kind::Rows : ParamChange::Kind::All;
    change.width = rows.width;
    change.rows.clear();
    if (change.kind == ParamChange::Kind::Rows)
      change.rows.append(rows.rows, static_cast<size_t>(rows.count));
  }
  ++steps_;
  return Status();
}

const char *name_of(OptimizerOptions::Kind kind) {
  switch (kind) {
  case OptimizerOptions::Kind::Sgd:
    return "sgd";
  case OptimizerOptions::Kind::Adagrad:
    return "adagrad";
  case OptimizerOptions::Kind::Adam:
    return "adam";
  case OptimizerOptions::Kind::AdamW:
    break;
  }
  return "adamw";
}

} // namespace dbc
