// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Learning rates that change on the way. The rate follows from the number of steps made, and for the plateau
// rule from a few numbers beside it, so that a training that goes on from a file has the rates of one that
// was not interrupted. The formulas are those of torch.optim.lr_scheduler, in double.
#pragma once

#include <dbc/status.h>

#include <cstdint>

namespace dbc {

/// How the learning rate changes, with its defaults. Steps are those of Optimizer::steps: before the first
/// one it is 0. Where there is a warm-up, what is said here of steps counts from its end on.
struct LearningRate {
  enum class Kind {
    Constant,
    Step,   ///< base * gamma^(steps / every), rounded down (StepLR)
    Cosine, ///< from base along half a cosine to floor at step `total`, then floor (CosineAnnealingLR)
    Plateau ///< times gamma where a metric has not become better for a while (ReduceLROnPlateau)
  };
  Kind kind = Kind::Constant;
  double base = 0.01;
  /// So many steps lead linearly up to base: step s has (s + 1) / (warm_up + 1) of the rate, as
  /// LinearLR(start_factor=1 / (warm_up + 1), total_iters=warm_up) before the others by SequentialLR.
  int64_t warm_up = 0;
  int64_t every = 1;     ///< Step; so many epochs times the steps of one, for a rate by epochs
  double gamma = 0.1;    ///< Step, Plateau
  int64_t total = 0;     ///< Cosine: the steps of the whole training, those of the warm-up among them
  double floor = 0;      ///< Cosine, Plateau: the rate does not go below it
  int64_t patience = 10; ///< Plateau: so many metrics in a row may be no better, the next one lowers the rate
  /// Plateau: better is below best * (1 - threshold), or above best * (1 + threshold) where more is better.
  double threshold = 1e-4;
  bool more_is_better = false; ///< Plateau: an accuracy, not a loss
};

/// "constant", "step", "cosine" or "plateau".
const char *name_of(LearningRate::Kind kind);

/// What the plateau rule remembers: numbers, to be saved and read back beside the weights.
struct Plateau {
  double best = 0;       ///< metric so far; of no meaning while `metrics` is 0
  int64_t metrics = 0;   ///< how many were seen that are numbers
  int64_t no_better = 0; ///< how many in a row were no better, since the last better one or lower rate
  double scale = 1;      ///< of the rate
};

/// Ok if every number that the kind uses is in its range, else bad_call with what is wrong.
Status check(const LearningRate &rate);

/// The rate of the step that is made after `steps` steps, for OptimizerOptions::lr. Numbers are as check()
/// wants them.
double rate_at(const LearningRate &rate, int64_t steps, const Plateau &plateau = {});

/// Shows the plateau rule a metric of the dev set, mostly once an epoch. A NaN is no better than any.
void observe(const LearningRate &rate, double metric, Plateau &plateau);

} // namespace dbc
