// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/learning_rate.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace dbc {

Status check(const LearningRate &rate) {
  using Kind = LearningRate::Kind;
  const auto must = [](const char *what, double is) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", is);
    return Status::error(Code::bad_call, std::string(what) + ", not " + text);
  };
  const auto is_at_least_0 = [](double x) { return x >= 0 && std::isfinite(x); };
  const bool is_plateau = rate.kind == Kind::Plateau;
  if (!is_at_least_0(rate.base))
    return must("the learning rate must be finite and at least 0", rate.base);
  if (rate.warm_up < 0)
    return must("the steps of the warm-up must be at least 0", static_cast<double>(rate.warm_up));
  if (rate.kind == Kind::Step && rate.every < 1)
    return must("the steps of one rate must be at least 1", static_cast<double>(rate.every));
  if ((rate.kind == Kind::Step || is_plateau) && !is_at_least_0(rate.gamma))
    return must("the factor of the learning rate must be finite and at least 0", rate.gamma);
  if (is_plateau && !(rate.gamma < 1))
    return must("the factor of a plateau must be below 1", rate.gamma);
  if (rate.kind == Kind::Cosine && rate.total <= rate.warm_up)
    return must("the steps of a cosine must be more than those of its warm-up",
                static_cast<double>(rate.total));
  if ((rate.kind == Kind::Cosine || is_plateau) && !(rate.floor >= 0 && rate.floor <= rate.base))
    return must("the lowest learning rate must be at least 0 and at most the first one", rate.floor);
  if (is_plateau && rate.patience < 0)
    return must("the patience must be at least 0", static_cast<double>(rate.patience));
  if (is_plateau && !is_at_least_0(rate.threshold))
    return must("the threshold must be finite and at least 0", rate.threshold);
  return Status();
}

double rate_at(const LearningRate &rate, int64_t steps, const Plateau &plateau) {
  const double base =
      rate.kind == LearningRate::Kind::Plateau ? std::max(rate.base * plateau.scale, rate.floor) : rate.base;
  if (steps < rate.warm_up)
    return base * static_cast<double>(steps + 1) / static_cast<double>(rate.warm_up + 1);
  steps -= rate.warm_up;
  switch (rate.kind) {
  case LearningRate::Kind::Step:
    return base * std::pow(rate.gamma, static_cast<double>(steps / rate.every));
  case LearningRate::Kind::Cosine: {
    const int64_t total = rate.total - rate.warm_up;
    if (steps >= total)
      return rate.floor;
    constexpr double pi = 3.14159265358979323846;
    const double part = static_cast<double>(steps) / static_cast<double>(total);
    return rate.floor + (base - rate.floor) * (1 + std::cos(pi * part)) / 2;
  }
  case LearningRate::Kind::Constant:
  case LearningRate::Kind::Plateau:
    break;
  }
  return base;
}

void observe(const LearningRate &rate, double metric, Plateau &plateau) {
  const bool is_better = plateau.metrics == 0  ? !std::isnan(metric)
                         : rate.more_is_better ? metric > plateau.best * (1 + rate.threshold)
                                               : metric < plateau.best * (1 - rate.threshold);
  plateau.metrics += std::isnan(metric) ? 0 : 1;
  if (is_better) {
    plateau.best = metric;
    plateau.no_better = 0;
  } else if (++plateau.no_better > rate.patience) {
    plateau.scale *= rate.gamma;
    plateau.no_better = 0;
  }
}

const char *name_of(LearningRate::Kind kind) {
  switch (kind) {
  case LearningRate::Kind::Constant:
    return "constant";
  case LearningRate::Kind::Step:
    return "step";
  case LearningRate::Kind::Cosine:
    return "cosine";
  case LearningRate::Kind::Plateau:
    break;
  }
  return "plateau";
}

} // namespace dbc
