// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The course of a training: epochs of steps, a metric after each, checkpoints, the log.
#pragma once

#include "driver/Commands.h"
#include "driver/train/Checkpoint.h"
#include "driver/train/DataSet.h"
#include "driver/train/Log.h"
#include "driver/train/Meter.h"
#include "driver/train/Metric.h"
#include "driver/train/TrainOptions.h"
#include <dbc/session.h>
#include <optional>
#include <set>

namespace dbc::driver {

/// The number of the loss of that name; without a name of the only one.
llvm::Expected<int32_t> findLoss(const ModelInfo &info, const std::string &name);

/// Trains the parameters of a model. What it does depends on options, data and seed alone: neither on the
/// number of threads nor on whether it was interrupted.
class Trainer {
public:
  /// `loaded` is borrowed: a model compiled with its gradients, and the weights to begin with. `dims` are
  /// those that were set.
  Trainer(const TrainOptions &options, LoadedModel &loaded, const std::map<std::string, int64_t> &dims);

  /// Reads the data, and what is to be resumed.
  llvm::Error prepare();
  /// Trains to the end. Of an error in the course the last checkpoint is kept.
  llvm::Error run();
  /// The best epoch; of an epoch 0 there is none.
  const EpochResult &best() const { return progress_.best; }

private:
  llvm::Error setParameters();
  /// Calls `set` with each parameter of that path, or under it; an error if there is none.
  llvm::Error setEach(const std::string &option, const std::string &name,
                      llvm::function_ref<void(int32_t)> set) const;
  llvm::json::Object asked() const;
  llvm::Error runEpoch();
  llvm::Error step(const std::vector<size_t> &order, size_t begin, size_t end);
  llvm::Error finishEpoch();
  llvm::Error checkpoint();
  llvm::Error plot() const;
  /// The metric after an epoch.
  llvm::Expected<double> measure();
  /// What stops a training: a loss or gradient that is infinite or NaN, in words; none: all are finite.
  std::optional<std::string> findNotFinite(const std::vector<size_t> &order, size_t begin, size_t end);
  std::optional<std::string> notFiniteGradient() const;
  llvm::Error fill(const std::vector<size_t> &order, size_t begin, size_t end);
  void warn(const DataSet &data, size_t line, const Status &status);
  bool dueToStop() const;

  const TrainOptions options_;
  LoadedModel &loaded_;
  const std::map<std::string, int64_t> dims_;
  const ModelInfo &info_;
  int32_t loss_ = -1;
  std::optional<Metric> metric_;
  std::optional<DataSet> train_, dev_;
  std::optional<InstanceReader> reader_, devReader_;
  Batch batch_;
  std::vector<float> inputWeights_;
  std::vector<int64_t> inputNumbers_;
  Session session_;
  Optimizer optimizer_;
  LearningRate rate_;
  std::string weightsHash_; ///< of the file that is trained from on
  std::optional<CheckpointFolder> folder_;
  std::optional<Log> log_;
  Progress progress_;
  double epochRate_ = 0; ///< inputs a second of the last epoch, as far as it was run here
  Meter meter_;
  std::set<std::pair<const DataSet *, size_t>> warned_; ///< lines that could not be computed
};

} // namespace dbc::driver
