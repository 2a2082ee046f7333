// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The insides of a Session. They stay where they are when it is moved, as a run that has begun refers to
// them.
#pragma once

#include <dbc/session.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dbc {

class Session::State {
public:
  State(const Model &model, int32_t threads) noexcept
      : model_(model), threads_(threads), pool_(threads > kMostThreads ? 1 : threads) {}

  Status run(int32_t entry, Batch &batch, Outputs *out);
  Status begin(int32_t entry, Batch &batch);
  Status finish();

  /// What the session is asked.
  const Outputs *outputs(int32_t entry) const { return has_run(entry) ? &entries_[entry].out : nullptr; }
  const RunProfile *profile(int32_t entry) const {
    return has_run(entry) ? &entries_[entry].profile : nullptr;
  }
  const Status &status(int32_t input) const;
  int32_t failed() const;
  int32_t threads() const { return pool_.threads(); }

  // Settings.
  int64_t input_bytes_ = int64_t(1) << 30;
  int32_t sub_batch_inputs_ = 0;
  LaunchLog *log_ = nullptr;
  cuda::Context *device_ = nullptr, *next_ = nullptr;
  bool timed_ = false, shares_ = false;
  std::vector<float> loss_weights_; ///< by input; none: all weigh the same
  uint64_t dropout_seed_ = 0;
  uint64_t dropout_step_ = 0; ///< of the next loss
  bool drops_ = true, gradients_ = true;
  std::vector<int64_t> input_numbers_; ///< by input; none: positions in the batch

private:
  struct Entry {
    std::unique_ptr<EntryPlan> plan, next; ///< `next`: of sub-batches on the second context
    std::vector<ColumnRef> reads;
    Outputs out;
    RunProfile profile;
    int32_t sub_batch_size = 0; ///< inputs of a sub-batch; 0 before the first run
  };
  /// A sub-batch that was scheduled; of two one may be scheduled while a device computes the other.
  struct SubBatch {
    EntryPlan *plan = nullptr;
    cuda::Context *device = nullptr;
    std::optional<Run> run;
    IndexArray live;
    Outputs::SubBatch out;
    bool begun = false; ///< computed by a device, and not yet finished
  };
  /// The run in hand.
  struct Current {
    int32_t entry = -1;
    Batch *batch = nullptr;
    uint64_t fill = 0; ///< of the batch
    Outputs *out = nullptr;
    std::optional<ScheduleErrors> errors;
    bool share = false;
    int32_t failed_before = 0;
    int64_t host_ns = 0; ///< spent on it
  };
  void prepare(int32_t entry);
  bool has_run(int32_t entry) const {
    return entry >= 0 && static_cast<size_t>(entry) < entries_.size() && !(begun_ && entry == current_.entry);
  }
  template <class Step> Status guarded(int32_t entry, int32_t inputs, Outputs *out, Step step);
  Status check(int32_t entry, const Batch &batch) const;
  Status not_now(const char *what) const;
  Status run_checked(int32_t entry, Batch &batch, Outputs &out, bool share);
  Status start(int32_t entry, Batch &batch, Outputs &out, bool share);
  Status begin_sub_batch(SubBatch &sub_batch, Range inputs, bool again = false);
  Status finish_sub_batch(SubBatch &sub_batch);
  bool schedule(SubBatch &sub_batch, Range inputs);
  bool is_gradient_spoilt(const Run &run) const;
  const float *weigh_losses(int32_t inputs);
  void begin_step(int32_t entry, int32_t inputs);
  bool shared_in_vain() const { return current_.share && statuses_.failed() > current_.failed_before; }
  void complete();
  void learn(Entry &entry, int32_t inputs);

  const Model &model_;
  const ModelCode *code_ = nullptr; ///< of the first run
  const int32_t threads_;           ///< asked for
  Pool pool_;
  std::vector<Entry> entries_; ///< none before the first run
  size_t packed_bytes_ = 0;    ///< of the model's weights; 0: not asked for yet
  SessionMemory memory_;
  bool ran_ = false;
  int32_t inputs_ = 0; ///< of the last run
  Status last_;        ///< of that as a whole
  InputStatuses statuses_;
  Array<float> weights_in_use_; ///< of the losses of the run in hand
  Dropout dropout_;             ///< of the run in hand
  Array<uint64_t> dropout_keys_;
  Budget budget_;
  SharedNodes shared_;
  SubBatch sub_batches_[2];
  Current current_;
  bool begun_ = false;
};

} // namespace dbc
