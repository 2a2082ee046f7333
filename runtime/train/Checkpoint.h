// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A training kept in a folder, from which it goes on with the same bits after being killed at any moment.
#pragma once

#include "Json.h"

#include <cstdint>
#include <dbc/learning_rate.h>
#include <dbc/optimizer.h>
#include <dbc/status.h>
#include <dbc/train/trainer.h>
#include <dbc/weights.h>
#include <string>
#include <utility>
#include <vector>

namespace dbc::train {

/// How far a training has come, beside its weights and the optimizer's state.
struct Progress {
  int64_t epoch = 0;   ///< epochs that are done
  int64_t batch = 0;   ///< of the next epoch: batches that are done
  int64_t step = 0;    ///< steps of all epochs
  double loss_sum = 0; ///< over inputs of these batches
  int64_t inputs = 0;  ///< of these batches, without those that failed
  double seconds = 0;  ///< spent on steps so far
  EpochResult best;
  int64_t since_best = 0; ///< epochs
  Plateau plateau;
  uint64_t log_bytes = 0; ///< of the log's file, up to the last whole epoch
};

/// The files of a training:
///   last.safetensors            weights
///   last.optimizer.safetensors  the optimizer's state
///   state.json                  the rest: Progress, what was asked for, and hashes of these two
///   best.safetensors            weights of the best epoch
///   log.csv                     a row an epoch
/// The first two are written beside the old ones under names of their own; then state.json is replaced, which
/// is the moment at which the new checkpoint holds; then they take their names. load() completes what was
/// cut behind that moment and throws away what was cut before.
class CheckpointFolder {
public:
  explicit CheckpointFolder(std::string folder) : folder_(std::move(folder)) {}
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder &) = delete;
  CheckpointFolder &operator=(const CheckpointFolder &) = delete;

  std::string file(const char *name) const { return folder_ + "/" + name; }
  /// All that it has, but the log.
  std::vector<std::string> files() const;
  /// Whether there is a checkpoint.
  bool exists() const;
  /// Makes the folder, if it is not there, and keeps others away until this is gone: an error if another
  /// training has it. Without a checkpoint nothing of a training is left in it, but weights that are there
  /// are an error.
  Status open();

  /// Writes a checkpoint. `asked` is what the training was asked for, with the keys `model`, `dims` and
  /// `program` among others. After an error load() gives this checkpoint or the one before.
  Status save(const Weights &weights, const Optimizer &optimizer, const Progress &progress,
              const Json &asked) const;
  /// Reads the checkpoint. An error, and nothing is changed, if it belongs to another model or dims, if
  /// something else was asked for there (the first difference is named), or if a file is not the one that was
  /// written.
  Status load(Weights &weights, Optimizer &optimizer, Progress &progress, const Json &asked) const;

private:
  Status check(const Json &state, const Json &asked) const;
  Status write_new(const Weights &weights, const Optimizer &optimizer, const Progress &progress,
                   const Json &asked, std::string &state) const;
  std::string folder_;
  int lock_ = -1; ///< the folder, open
};

} // namespace dbc::train
