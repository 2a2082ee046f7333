// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The trainer of `dbc train`, for programs of one's own: library dbc::trainer.
#pragma once

#include <dbc/model.h>
#include <dbc/model_info.h>
#include <dbc/status.h>
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
class Trainer {
public:
  /// `code` is what the model's `code()` gives. Throws std::bad_alloc.
  Trainer(const TrainOptions &options, const ModelCode &code);
  ~Trainer();
  Trainer(const Trainer &) = delete;
  Trainer &operator=(const Trainer &) = delete;

  /// Reads the data and what is to be resumed, and trains to the end; once. Of an error in the course the
  /// last checkpoint is kept. Codes: bad_call for options that are wrong, bad_input for data, bad_weights and
  /// io for files, limit without memory. Never throws.
  Status run();
  /// The best epoch; of an epoch 0 there is none.
  const EpochResult &best() const;
  /// As they are after the last step; the best ones are in the folder of TrainOptions::out.
  const Weights &weights() const;

private:
  std::unique_ptr<train::TrainingLoop> loop_;
  bool ran_ = false;
};

/// A whole `main`: trains, and says on stdout what the best epoch is, as JSON, or on stderr what is wrong.
/// Gives what `main` gives: 0, or 1, or 70 if the mistake is in dbc.
int train_main(const TrainOptions &options, const ModelCode &code);
/// The same with the options as the program's one argument, as to_json(options) writes them; 2 if it is none.
/// Signals of a crash say that the mistake is in dbc, too, and exit with 70.
int train_main(int argc, char **argv, const ModelCode &code);

} // namespace dbc
