// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Running a model: a session holds the threads and all scratch memory, and drives the generated plans.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/model.h>
#include <dbc/outputs.h>
#include <dbc/pool.h>
#include <dbc/profile.h>
#include <dbc/schedule.h>
#include <dbc/sharing.h>
#include <dbc/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace dbc {

class Session;

/// What generated plans see of a run: one part of it, some inputs next to each other.
struct Run {
  const Model &model;
  const Batch &batch;
  Session &session;
  Pool &pool;
  ScheduleErrors &errors;
  Budget &budget;
  Outputs &out;
  StageProfile *stages;
  bool timed;                      ///< whether launches are timed
  int32_t entry;                   ///< number of the entry, for Batch::arg_column
  Range range;                     ///< the part's inputs
  const int32_t *inputs = nullptr; ///< numbers of those that take part, ascending
  int32_t input_count = 0;
  const SharedNodes *shared = nullptr; ///< nodes that are alike, where instances are to be shared
  LaunchLog *log = nullptr;            ///< where launches are to be written down

  /// Argument leaf `leaf` of the entry being run; rows are inputs' numbers.
  const ColumnView &arg(int32_t leaf) const {
    return batch.column(batch.args(), batch.arg_column(entry, leaf));
  }
  /// Scratch number `slot` of the session, at least `count` elements, 64-byte aligned, contents undefined.
  /// Slots are shared by all entries; call once a run and slot, before compute's stages run. Throws
  /// std::bad_alloc.
  template <class Real> Real *buffer(int32_t slot, size_t count) const;
  /// Scratch of one worker; any earlier memory of that worker is gone.
  template <class Real> Real *scratch(int32_t worker, size_t count) const;
};

/// Threads, scratch memory and results of one thread's runs of one model. Not to be used by two threads at
/// once; any number of sessions may share a Model. In steady state (a batch no larger than earlier ones) a
/// run allocates nothing.
class Session {
public:
  /// `model` is borrowed and must outlive the session. Never throws: what there is no memory for is said by
  /// the first run, and where threads cannot be started there are fewer, see threads().
  explicit Session(const Model &model, int32_t threads = 1) noexcept;
  ~Session();
  Session(const Session &) = delete;
  Session &operator=(const Session &) = delete;

  /// Runs an entry (its number in ModelInfo::entries) on a batch into the session's own outputs, see
  /// `outputs`.
  ///
  /// A large batch is cut into parts of some inputs each, computed one after the other, so that what a part's
  /// stages hand on stays in the cache; results do not depend on it.
  ///
  /// Inputs that are wrong get a status of their own, see `status(input)`; the others are computed as if
  /// alone. The returned status tells of the run as a whole (bad_call, limit, internal) and is ok even if
  /// every input failed. If it is not ok it is the status of every input too, and results are zeros.
  Status run(int32_t entry, Batch &batch);
  /// The same into outputs of the caller.
  Status run(int32_t entry, Batch &batch, Outputs &out);

  /// A run in two halves, where a device computes: begin() checks, schedules, copies and launches, and
  /// returns while the device is at work; finish() waits, and then all is as after run(). With two sessions
  /// in turns, each with a context of its own, the next batch is scheduled and copied while the one before is
  /// computed:
  ///
  ///   first.begin(entry, batch);  second.begin(entry, next);  first.finish();  // results of `batch`
  ///
  /// The batch is one part, and must stay as it is until finish(). Until then there are no results of the
  /// entry, and another run of this session is refused: bad_call, as is finish() without begin(). A begin()
  /// that fails needs no finish(). Where no device computes, begin() does all of it.
  Status begin(int32_t entry, Batch &batch);
  Status finish();

  /// Results of the last run(entry, batch) of that entry; empty before the first one, while one has begun,
  /// and if there is no such entry. Valid until its next run.
  Outputs &outputs(int32_t entry) { return has_run(entry) ? entries_[entry].out : none_; }
  const Outputs &outputs(int32_t entry) const { return has_run(entry) ? entries_[entry].out : none_; }
  /// Status of an input in the last run, which must have had it.
  const Status &status(int32_t input) const { return statuses_[input]; }
  /// Number of inputs of the last run that failed.
  int32_t failed() const { return statuses_.failed(); }
  /// Of the last run of an entry.
  const RunProfile &profile(int32_t entry) const;
  /// Whether runs from now on say in their profiles how long each stage took. Off unless told: then a launch
  /// costs one test more than nothing.
  void time_stages(bool on) { timed_ = on; }

  /// Each run from now on writes its launches down, in place of those of the run before; null: no more, as
  /// unless told. `log` is borrowed. For sessions of one thread, or whose stages a device computes.
  void log_launches(LaunchLog *log) { log_ = log; }

  /// Whether cells compute what nodes have in common once: all nodes of the batch that are alike in the
  /// fields which the entry's cells read, down to the leaves, share an instance. Off unless told. Each node
  /// has its result all the same, with the same bits; but the nodes of every batch have to be compared, and
  /// the batch is then one part, whatever limit_part says. What limit_input counts is charged to one of the
  /// inputs that share.
  ///
  /// Cells share whose keys are a node, or a node and a whole number of a constant range of at most 16, and
  /// that neither compare nodes, nor are given values, nor call cells that do. Others compute as if it were
  /// off. So does a run in which scheduling or computing an input fails, again from its beginning.
  void share_subtrees(bool on) { shares_ = on; }

  /// What one input may claim in a run with lists that it does not hold itself, in bytes: ranges, a list
  /// once for each element of another. An input that asks for more fails with a message that says how much.
  /// One GiB unless told.
  void limit_input(int64_t bytes) { input_bytes_ = bytes; }

  /// Parts of a run have at most so many inputs; 0, as it is unless told: as many as the caches like, which
  /// the first run of an entry, one part, finds out.
  void limit_part(int32_t inputs) { part_inputs_ = inputs; }

  /// Stages of runs from now on are computed on a device, see dbc/cuda/context.h; null: on the CPU, as unless
  /// told. `device` is borrowed. Scheduling stays on the CPU, and in the calling thread.
  ///
  /// With a second context of the same model the parts of a run (limit_part) are computed by both in turns:
  /// the host schedules a part and copies it to one while the other computes the part before. Not where a
  /// `while` has the host decide in the course of a part: those come one after the other.
  void compute_on(cuda::Context *device, cuda::Context *next = nullptr) {
    device_ = device;
    next_ = next != device ? next : nullptr;
  }

  int32_t threads() const { return pool_.threads(); }
  const Model &model() const { return model_; }

  template <class Real> Real *buffer(int32_t slot, size_t count) {
    if (static_cast<size_t>(slot) >= buffers_.size())
      buffers_.resize(slot + 1);
    part_bytes_ += count * sizeof(Real);
    return buffers_[slot].get<Real>(count);
  }
  template <class Real> Real *scratch(int32_t worker, size_t count) {
    return scratch_[worker].get<Real>(count);
  }

private:
  struct Entry {
    std::unique_ptr<EntryPlan> plan, next; ///< `next`: of parts on the second context
    std::vector<ColumnRef> reads;
    Outputs out;
    RunProfile profile;
    int32_t part = 0; ///< inputs of a part; 0 before the first run, which is one part
  };
  /// A part that was scheduled; of two one may be scheduled while a device computes the other.
  struct Part {
    EntryPlan *plan = nullptr;
    cuda::Context *device = nullptr;
    std::optional<Run> run;
    IntColumn live;
    Outputs::Part out;
    bool begun = false; ///< computed by a device, and not yet finished
  };
  /// The run in hand.
  struct Current {
    int32_t entry = -1;
    Batch *batch = nullptr;
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
  template <class Step> Status guarded(int32_t entry, Batch &batch, Outputs *out, Step step);
  Status check(int32_t entry, const Batch &batch) const;
  Status run_or_blank(int32_t entry, Batch &batch, Outputs *out);
  Status run_checked(int32_t entry, Batch &batch, Outputs &out, bool share);
  Status start(int32_t entry, Batch &batch, Outputs &out, bool share);
  Status begin_part(Part &part, Range inputs);
  Status finish_part(Part &part);
  bool shared_in_vain() const { return current_.share && statuses_.failed() > current_.failed_before; }
  void complete();
  void learn(Entry &entry, int32_t inputs);

  const Model &model_;
  Pool pool_;
  std::vector<Entry> entries_; ///< none before the first run
  Outputs none_;
  std::vector<Scratch> buffers_, scratch_;
  InputStatuses statuses_;
  Budget budget_;
  int64_t input_bytes_ = int64_t(1) << 30;
  int32_t part_inputs_ = 0;
  size_t part_bytes_ = 0; ///< of the buffers of the part in hand
  SharedNodes shared_;
  LaunchLog *log_ = nullptr;
  cuda::Context *device_ = nullptr, *next_ = nullptr;
  Part parts_[2];
  Current current_;
  bool timed_ = false, shares_ = false, begun_ = false;
};

template <class Real> Real *Run::buffer(int32_t slot, size_t count) const {
  return session.buffer<Real>(slot, count);
}
template <class Real> Real *Run::scratch(int32_t worker, size_t count) const {
  return session.scratch<Real>(worker, count);
}

} // namespace dbc
