// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Running a model: a session holds the threads and all scratch memory, and drives the generated plans.
#pragma once

#include <dbc/batch.h>
#include <dbc/model.h>
#include <dbc/outputs.h>
#include <dbc/profile.h>
#include <dbc/run.h>
#include <dbc/status.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace dbc {

/// Threads, scratch memory and results of one thread's runs of one model; any number of sessions may share a
/// Model. In steady state (a batch no larger than earlier ones) a run allocates nothing.
///
/// Not for two threads at once: a run, begin() or finish() of a second one fails with bad_call and changes
/// nothing, and what it asks meanwhile has the answers of a session that has not run. A setting that it
/// changes meanwhile stays as it was, and the next run fails with bad_call. One thread after the other is
/// fine, also between begin() and finish().
///
/// May be moved, also while a run has begun that is not finished; results stay where they are. What it was
/// moved from has no model: calls fail with bad_call. Not to be moved, assigned to or destroyed while another
/// thread is in a call of it.
class Session {
public:
  /// More are a mistake, which would take all threads that a machine gives.
  static constexpr int32_t kMostThreads = 1024;

  /// `model` is borrowed and must outlive the session. Never throws: what there is no memory for is said by
  /// the first run, as is a number of threads below 1 or above kMostThreads (bad_call); where threads cannot
  /// be started there are fewer, see threads().
  explicit Session(const Model &model, int32_t threads = 1) noexcept;
  explicit Session(const Model &&model,
                   int32_t threads = 1) = delete; // it would be gone before the first run
  ~Session();
  Session(Session &&other) noexcept;
  Session &operator=(Session &&other) noexcept;

  /// Runs an entry (its number in ModelInfo::entries) on a batch into the session's own outputs, see
  /// `outputs`.
  ///
  /// A large batch is cut into sub-batches of some inputs each, computed one after the other, so that what
  /// the stages of one hand on stays in the cache; results do not depend on it.
  ///
  /// Inputs that are wrong get a status of their own, see `status(input)`; the others are computed as if
  /// alone. The returned status tells of the run as a whole (bad_call, limit, internal) and is ok even if
  /// every input failed. If it is not ok it is the status of every input too, and results are zeros.
  Status run(int32_t entry, Batch &batch);
  /// The same into outputs of the caller.
  Status run(int32_t entry, Batch &batch, Outputs &out);

  /// A run in two halves, where a device computes: begin() checks, schedules, copies and launches, and
  /// returns while the device is at work; finish() waits, and then all is as after run(). With two sessions
  /// interleaved, each with a context of its own, the next batch is scheduled and copied while the one before
  /// is computed:
  ///
  ///   first.begin(entry, batch);  second.begin(entry, next);  first.finish();  // results of `batch`
  ///
  /// The batch is one sub-batch, and must stay as it is until finish(), which fails with bad_call where it
  /// was filled anew in between. Until then there are no results of the entry, and another run of this
  /// session is refused: bad_call, as is finish() without begin(). A begin() that fails needs no finish().
  /// Where no device computes, begin() does all of it.
  Status begin(int32_t entry, Batch &batch);
  Status finish();

  /// Results of the last run(entry, batch) of that entry; empty before the first one, while one has begun,
  /// and if there is no such entry. Valid until its next run.
  const Outputs &outputs(int32_t entry) const;
  /// Status of an input in the last run, valid until the next one. Where there is none, as before the first
  /// run, while one has begun, and of an input that it did not have, that is said: bad_call, valid until the
  /// calling thread has asked kWordsOfThread times more.
  const Status &status(int32_t input) const;
  /// Number of inputs of the last run that failed.
  int32_t failed() const;
  /// Of the last run of an entry.
  const RunProfile &profile(int32_t entry) const;
  /// Whether runs from now on say in their profiles how long each stage took. Off by default: then a launch
  /// costs one test more than nothing.
  void time_stages(bool on);

  /// Each run from now on writes its launches down, in place of those of the run before; null: no more, as
  /// by default. `log` is borrowed. Meanwhile threads share each launch, but no loop has one of its own.
  void log_launches(LaunchLog *log);

  /// Whether cells compute what nodes have in common once: all nodes of the batch that are alike in the
  /// fields which the entry's cells read, down to the leaves, share an instance. Off by default. Each node
  /// has its result all the same, with the same bits; but the nodes of every batch have to be compared, and
  /// the batch is then one sub-batch, whatever limit_sub_batch says. What limit_input counts is charged to
  /// one of the inputs that share.
  ///
  /// Cells share whose keys are a node, or a node and an integer of a constant range of at most 16, and
  /// that neither compare nodes, nor have captured arguments, nor call cells that do; not in a loss that
  /// gives the gradient of a field or argument, as each node has its own. Others compute as if it were off.
  /// So does a run in which scheduling or computing an input fails, again from its beginning. The gradient of
  /// a parameter is summed over the instances that there are, so rounding may differ from that without.
  void share_subtrees(bool on);

  /// In the gradients of runs from now on the loss of input i counts weights[i] times; that of an input
  /// behind the last one, as of all by default and with null, 1 / inputs of the run (manual, G3). Copied.
  /// Losses themselves are not weighted.
  void weigh_losses(const float *weights, int32_t inputs);

  /// Whether losses that are compiled for training give gradients, as by default. Else runs from now on
  /// compute their values alone, as for data that is not trained on, and leave no gradients. Memory for
  /// gradients is taken all the same, and what they are added up by is prepared.
  void give_gradients(bool on);

  /// Dropout (manual, G2), of losses that are compiled for training; others have none. Which elements a run
  /// of a loss drops follows from a seed, the run's step and each input's own number, not from what else is
  /// in the batch, nor from threads. By default the seed is 0 and the first step is 0. The next run of a loss
  /// is step `step`, and each one after it that drops one more, whether it succeeds or not.
  void set_dropout(uint64_t seed, int64_t step);
  /// Whether they drop, as by default. Else `dropout(x, p)` is x in runs from now on, as for losses of data
  /// that is not trained on, and steps are not counted.
  void drop_elements(bool on);
  /// The number that input i has in the data set, in runs from now on; that of an input behind the last one,
  /// as of all by default and with null, is its position in the batch. Copied.
  void number_inputs(const int64_t *numbers, int32_t inputs);

  /// What one input may reserve in a run with lists that it does not hold itself, in bytes: ranges, a list
  /// once for each element of another. An input that asks for more fails with a message that says how much.
  /// One GiB by default.
  void limit_input(int64_t bytes);

  /// Sub-batches of a run have at most so many inputs; 0, the default: as many as the caches like. The
  /// first run of an entry finds that out: of more than 8 inputs it computes the first one twice.
  void limit_sub_batch(int32_t inputs);

  /// Stages of runs from now on are computed on a device, see dbc/cuda/context.h; null: on the CPU, as by
  /// default. `device` is borrowed. Scheduling stays on the CPU, and in the calling thread.
  ///
  /// With a second context of the same model the sub-batches of a run (limit_sub_batch) are computed by both,
  /// interleaved: the host schedules one and copies it to one context while the other computes the one
  /// before. Not where a `while` has the host decide in the course of a sub-batch: those come one after the
  /// other.
  void compute_on(cuda::Context *device, cuda::Context *next = nullptr);

  int32_t threads() const;
  /// Of what was moved from: one that was never made.
  const Model &model() const;

private:
  class State;
  template <class Step> Status with_state(Step step);
  template <class Setting> void set(Setting setting);
  bool make_state();
  const State *idle() const;
  const std::string &name() const { return model().info().name; }

  const Model *model_ = nullptr; ///< null: moved from
  int32_t threads_ = 0;
  std::unique_ptr<State> state_;    ///< null also where there was no memory for it yet
  std::atomic<bool> in_use_{false}; ///< a thread is in a call that changes the state
  std::atomic<bool> unset_{false};  ///< a setting could not be made
};

} // namespace dbc
