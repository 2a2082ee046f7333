// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a training is asked for, beside the model.
#pragma once

#include <dbc/learning_rate.h>
#include <dbc/optimizer.h>
#include <dbc/status.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dbc {

/// The options of `dbc train`, by the same names, with the same defaults.
struct TrainOptions {
  /// A training has no more epochs or steps: products of two such numbers are still numbers.
  static constexpr int64_t most_steps = int64_t(1) << 30;

  std::string loss;       ///< empty: the model's only one
  std::string train, dev; ///< JSON lines; dev may be empty: then the loss on train decides
  std::string metric;     ///< empty: the loss on dev
  std::string label;      ///< name of what metrics compare with where a line has no "target"
  std::string weights;    ///< what is trained from on; empty: all drawn
  int32_t batch = 25;     ///< inputs of a step
  int64_t epochs = 10;
  uint64_t seed = 0; ///< of weights, order of inputs and dropout
  int32_t threads = 1;
  bool cuda = false; ///< whether a CUDA device computes losses and gradients, of a model compiled for one
  OptimizerOptions optimizer; ///< without `lr`, which the trainer sets
  LearningRate rate;          ///< without `every`, `total` and `more_is_better`, likewise
  int64_t every_epochs = 1;   ///< LearningRate::Kind::Step
  std::map<std::string, double> rate_of, decay_of; ///< of parameters, by path or the beginning of one
  std::vector<std::string> freeze;                 ///< likewise
  int64_t patience = 0;         ///< epochs without a better metric after which training ends; 0: it does not
  int64_t checkpoint_every = 0; ///< steps; 0: at the end of an epoch only
  std::string out;              ///< a folder for checkpoints and the log; empty: nothing is kept
  std::string log;              ///< a CSV file, in place of that in `out`
  std::string plot;             ///< an SVG file
  bool profile = false;         ///< whether stderr is told at the end where the time went, on the first rank
  std::string profile_json;     ///< a JSON file of the same
  bool resume = false;
  bool shard_optimizer = false; ///< of several processes: each keeps a part of the optimizer's state
  /// What the model was compiled from and for, as far as that is to be said: a training is not resumed by
  /// another program. `dbc train` gives a hash of the generated code, and the dims that were set.
  std::string program;
  std::map<std::string, int64_t> dims;
};

/// Ok if every number is in its range and there is something to train on, else bad_call with what is wrong.
Status check(const TrainOptions &options);

/// The epsilon with which `dbc train` calls an optimizer: torch.optim's.
float usual_epsilon(OptimizerOptions::Kind kind);

/// All options as one JSON object in one line, by their names in `dbc train --help`; NAME=X stands under
/// `lr-of` and `weight-decay-of`. A text that is not UTF-8, as a file's name may be, is a list of its bytes.
/// Throws std::bad_alloc.
std::string to_json(const TrainOptions &options);

/// Reads such an object; what it does not have stays as it is in `options`. Fails with bad_call, and changes
/// nothing, if it is no object of options, or if one is of another kind. Never throws.
Status parse_options(std::string_view json, TrainOptions &options);

} // namespace dbc
