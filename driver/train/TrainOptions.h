// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What `dbc train` is asked for, beside the model.
#pragma once

#include <cstdint>
#include <dbc/learning_rate.h>
#include <dbc/optimizer.h>
#include <map>
#include <string>
#include <vector>

namespace dbc::driver {

struct TrainOptions {
  std::string loss;       ///< empty: the model's only one
  std::string train, dev; ///< JSON lines; dev may be empty: then the loss on train decides
  std::string metric;     ///< empty: the loss on dev
  std::string target;     ///< name of what metrics compare with where a line has no "target"
  std::string weights;    ///< what is trained from on; empty: all drawn
  int32_t batch = 25;     ///< inputs of a step
  int64_t epochs = 10;
  uint64_t seed = 0; ///< of weights, order of inputs and dropout
  int32_t threads = 1;
  OptimizerOptions optimizer;
  LearningRate rate;                             ///< without `every` and `total`, which the trainer sets
  int64_t everyEpochs = 1;                       ///< LearningRate::Kind::Step
  std::map<std::string, double> rateOf, decayOf; ///< of parameters, by path or the beginning of one
  std::vector<std::string> freeze;               ///< likewise
  int64_t patience = 0;        ///< epochs without a better metric after which training ends; 0: it does not
  int64_t checkpointEvery = 0; ///< steps; 0: at the end of an epoch only
  std::string out;             ///< a folder for checkpoints and the log; empty: nothing is kept
  std::string log;             ///< a CSV file, in place of that in `out`
  std::string plot;            ///< an SVG file
  bool resume = false;
};

} // namespace dbc::driver
