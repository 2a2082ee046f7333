// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The trainer of `dbc train`, for programs of one's own: library dbc::trainer.
#pragma once

#include <dbc/model.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
#include <dbc/train/communicator.h>
#include <dbc/train/options.h>
#include <dbc/weights.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

namespace dbc {

namespace train {
class TrainingLoop;
}

/// An epoch's numbers.
struct EpochResult {
  int64_t epoch = 0;                                        ///< counted from 1; 0: none
  double loss = std::numeric_limits<double>::quiet_NaN();   ///< mean over the inputs trained on
  double metric = std::numeric_limits<double>::quiet_NaN(); ///< after the epoch
};

/// The number of the loss of that name; without a name of the only one. Fails with bad_call, and the name of
/// one that is near, if there is none.
Status find_loss(const ModelInfo &info, const std::string &name, int32_t &loss);

/// Trains the parameters of a model that was compiled with `--mode train`, on inputs in files. What it does
/// depends on options, data and seed alone: neither on the number of threads nor on whether it was
/// interrupted. Tells of its course on stderr, and keeps what the options say. For one thread.
///
/// Over the ranks of a communicator it trains as one process on the joined batches, within rounding, and with
/// the same bits each time for as many ranks: inputs of a batch go to ranks by their sizes, gradients are
/// summed in the order of ranks. All ranks take the same options and read the same files; the first one tells
/// of the course, and writes. A training may go on over another number of ranks.
class Trainer {
public:
  /// `code` is what the model's `code()` gives. `communicator` is borrowed and must outlive this; null: this
  /// process trains alone. Throws std::bad_alloc.
  Trainer(const TrainOptions &options, const ModelCode &code, Communicator *communicator = nullptr);
  ~Trainer();
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;

  /// Reads the data and what is to be resumed, and trains to the end; once. Of an error in the course the
  /// last checkpoint is kept. Codes: bad_call for options that are wrong, bad_input for data, bad_weights and
  /// io for files, limit without memory. Over several ranks all have the same error; one that the others do
  /// not know of, as that there is no memory, is said on stderr and ends them all. Never throws.
  Status run();
  /// The best epoch; of an epoch 0 there is none.
  const EpochResult &best() const;
  /// As they are after the last step; the best ones are in the folder of TrainOptions::out.
  const Weights &weights() const;

private:
  Communicator *communicator_; ///< or null
  std::unique_ptr<train::TrainingLoop> loop_;
  bool ran_ = false;
};

/// A whole `main`: trains, and says on stdout what the best epoch is, as JSON, or on stderr what is wrong.
/// Gives what `main` gives: 0, or 1, or 70 if the mistake is in dbc. Over the ranks of a communicator the
/// first one says it; without one it is an error if this process was started as one of several
/// (launched_processes).
int train_main(const TrainOptions &options, const ModelCode &code, Communicator *communicator = nullptr);
/// The same with the options as the program's one argument, as to_json(options) writes them; 2 if it is none.
/// Signals of a crash say that the mistake is in dbc, too, and exit with 70.
int train_main(int argc, char **argv, const ModelCode &code, Communicator *communicator = nullptr);

/// As one of how many processes this one was started, by what Open MPI's launcher, or one that speaks PMI,
/// leaves in the environment; 1: alone.
int launched_processes();

} // namespace dbc
