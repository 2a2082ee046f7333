// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The loop of a training: epochs of steps, a metric after each, checkpoints, the log.
#pragma once

#include "Checkpoint.h"
#include "DataSet.h"
#include "DevMetric.h"
#include "Json.h"
#include "LeftOut.h"
#include "Log.h"
#include "Meter.h"

#include <dbc/batch.h>
#include <dbc/io/instances.h>
#include <dbc/model.h>
#include <dbc/session.h>
#include <dbc/train/options.h>
#include <dbc/train/trainer.h>
#include <dbc/weights.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::train {

/// What dbc::Trainer does; may throw std::bad_alloc.
class TrainingLoop {
public:
  TrainingLoop(const TrainOptions &options, const ModelCode &code);

  /// Reads the data, and what is to be resumed.
  Status prepare();
  /// Trains to the end. Of an error in the course the last checkpoint is kept.
  Status run();
  /// The best epoch; of an epoch 0 there is none.
  const EpochResult &best() const { return progress_.best; }
  const Weights &weights() const { return weights_; }

private:
  Status check_files() const;
  Status make_model();
  Status read_data();
  Status begin_keeping();
  Json asked() const;
  Status run_epoch();
  Status step(const std::vector<size_t> &order, size_t begin, size_t end);
  Status finish_epoch();
  Status checkpoint();
  Status check_weights() const;
  Status plot() const;
  /// The metric after an epoch.
  Status measure(double &metric);
  /// What stops a training: a loss or gradient that is infinite or NaN, in words; none: all are finite.
  std::optional<std::string> find_not_finite(const std::vector<size_t> &order, size_t begin, size_t end);
  std::optional<std::string> not_finite_gradient() const;
  Status fill(const std::vector<size_t> &order, size_t begin, size_t end);
  void warn_of_untrained();
  bool due_to_stop() const;

  const TrainOptions options_;
  const ModelCode &code_;
  const ModelInfo &info_;
  Weights weights_;
  Model model_;
  int32_t loss_ = -1;
  std::optional<DataSet> train_;
  std::optional<InstanceReader> reader_;
  Batch batch_;
  DevMetric dev_;
  std::vector<float> input_weights_;
  std::vector<int64_t> input_numbers_;
  std::optional<Session> session_; ///< of the model, which is made first
  Optimizer optimizer_;
  LearningRate rate_;
  std::string weights_hash_; ///< of the file that is trained from on
  std::optional<CheckpointFolder> folder_;
  std::optional<Log> log_;
  Progress progress_;
  double epoch_rate_ = 0; ///< inputs a second of the last epoch, as far as it was run here
  Meter meter_;
  LeftOut left_out_; ///< of both data sets
};

} // namespace dbc::train
