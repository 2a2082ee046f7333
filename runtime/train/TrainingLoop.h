// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The loop of a training: epochs of steps, a metric after each, checkpoints, the log.
#pragma once

#include "Checkpoint.h"
#include "DataSet.h"
#include "DevMetric.h"
#include "DeviceSteps.h"
#include "GradientSum.h"
#include "Json.h"
#include "LeftOut.h"
#include "Log.h"
#include "Meter.h"
#include "Ranks.h"
#include "StepProfile.h"

#include <dbc/batch.h>
#include <dbc/io/instances.h>
#include <dbc/model.h>
#include <dbc/session.h>
#include <dbc/train/communicator.h>
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
  /// `communicator` is borrowed; null: this process trains alone.
  TrainingLoop(const TrainOptions &options, const ModelCode &code, Communicator *communicator);

  /// Reads the data, and what is to be resumed.
  Status prepare();
  /// Trains to the end. Of an error in the course the last checkpoint is kept.
  Status run();
  /// The best epoch; of an epoch 0 there is none.
  const EpochResult &best() const { return progress_.best; }
  const Weights &weights() const { return weights_; }
  /// Whether the error that ended it is one that all ranks have.
  bool failed_together() const { return ranks_.is_agreed(); }

private:
  /// What a rank has computed of a step, or all of them.
  struct Computed {
    double loss_sum = 0;
    int64_t inputs = 0;   ///< without those that failed
    int64_t left_out = 0; ///< those that failed
  };
  Status make_model();
  Status renew_model();
  Status move_steps();
  Status read_data();
  Status prepare_alone();
  Status compare_ranks();
  Status begin_keeping();
  Status share_start();
  Json asked() const;
  Status run_epoch();
  Status step(const std::vector<size_t> &order, size_t begin, size_t end);
  std::vector<size_t> own_lines(const std::vector<size_t> &order, size_t begin, size_t end) const;
  Status compute(const std::vector<size_t> &lines, size_t batch, Computed &computed);
  Status add_up(const Status &status, const std::vector<size_t> &lines, Computed &computed);
  Status name_left_out(const std::vector<size_t> &lines);
  Status descend(const std::vector<size_t> &lines, bool has_gradient);
  Status finish_epoch();
  Status keep_epoch(const LogRow &row, int64_t inputs, bool better);
  Status checkpoint();
  Status check_finite();
  Status plot() const;
  Status write_profile() const;
  /// The metric after an epoch.
  Status measure(double &metric);
  /// What stops a training: a loss or gradient that is infinite or NaN, in words; empty: all are finite.
  Status not_finite(const std::vector<size_t> &lines, const std::string &otherwise);
  std::string find_not_finite(const std::vector<size_t> &lines);
  std::optional<std::string> not_finite_gradient() const;
  Status fill(const std::vector<size_t> &lines, size_t batch);
  void warn_of_drawn();
  void warn_of_untrained();
  bool due_to_stop() const;

  const TrainOptions options_;
  const ModelCode &code_;
  const ModelInfo &info_;
  Ranks ranks_;
  Weights weights_;
  Model model_;
  DeviceSteps device_;
  int32_t loss_ = -1;
  std::optional<DataSet> train_;
  std::optional<InstanceReader> reader_;
  Batch batch_;
  DevMetric dev_;
  std::vector<float> input_weights_;
  std::vector<int64_t> input_numbers_;
  std::optional<Session> session_; ///< of the model, which is made first
  Optimizer optimizer_;
  GradientSum sum_; ///< where there are several ranks
  LearningRate rate_;
  std::string weights_hash_;               ///< of the file that is trained from on
  std::optional<CheckpointFolder> folder_; ///< of the first rank, as the log
  std::optional<Log> log_;
  Progress progress_;
  double epoch_rate_ = 0; ///< inputs a second of the last epoch, as far as it was run here
  Meter meter_;
  LeftOut left_out_; ///< of both data sets
  StepProfile profile_;
};

} // namespace dbc::train
