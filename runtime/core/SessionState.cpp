// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The course of a run: check, schedule, again without the inputs that failed, compute; in sub-batches, of
// which a device may compute one while the next is scheduled.
#include "SessionState.h"

#include <algorithm>
#include <new>

namespace dbc {

namespace {
constexpr const char *kBegun = "a run has begun that is not finished";
/// So many inputs are one sub-batch in the first run of an entry.
constexpr int32_t kUntried = 8;
} // namespace

const Status &Session::State::status(int32_t input) const {
  const std::string &name = model_.info().name;
  if (begun_)
    return not_there(name, kBegun);
  if (!ran_)
    return not_there(name, "the session has not run");
  if (input < 0 || input >= inputs_)
    return no_such_input(name, input, inputs_, "the last run");
  return last_.ok() ? statuses_[input] : last_;
}

int32_t Session::State::failed() const {
  if (!ran_ || begun_)
    return 0;
  return last_.ok() ? statuses_.failed() : inputs_;
}

/// Plans and profiles exist from an entry's first run on.
void Session::State::prepare(int32_t number) {
  code_ = &model_.code();
  if (entries_.empty())
    entries_.resize(code_->entries.size());
  memory_.serve(pool_.threads());
  Entry &entry = entries_[number];
  if (entry.plan)
    return;
  const EntryCode &code = model_.code().entries[number];
  entry.profile.stages.resize(code.stages.size());
  for (size_t s = 0; s < code.stages.size(); ++s)
    entry.profile.stages[s].name = code.stages[s];
  for (int32_t stage : code.backward)
    entry.profile.stages[stage].backward = true;
  entry.out.prepare(model_.info().entries[code.entry], model_.code().f64);
  entry.plan = code.make_plan();
}

/// A run that fails as a whole leaves that failure as every input's, and zeros, so that nobody reads results
/// of an earlier run.
template <class Step> Status Session::State::guarded(int32_t entry, int32_t inputs, Outputs *out, Step step) {
  ran_ = true;
  inputs_ = inputs;
  last_ = Status();
  Status status;
  try {
    status = step();
  } catch (const std::bad_alloc &) {
    status.code = Code::limit;
  }
  if (status.ok())
    return status;
  last_.code = status.code;
  try {
    if (status.message.empty())
      status.message = model_.info().name + ": not enough memory for a batch of " + std::to_string(inputs) +
                       " inputs, or more than 2^31 - 1 rows";
    last_ = status;
    if (!out && entry >= 0 && static_cast<size_t>(entry) < entries_.size())
      out = &entries_[entry].out;
    if (out) {
      out->begin(inputs);
      if (out->commit().ok())
        for (int32_t input = 0; input < inputs; ++input)
          out->blank(input);
    }
  } catch (const std::bad_alloc &) {
    // Then there is no room for words or zeros either.
  }
  return status;
}

Status Session::State::check(int32_t entry, const Batch &batch) const {
  if (model_.empty())
    return Status::error(Code::bad_call, "the session's model was never made");
  const std::string &name = model_.info().name;
  if (threads_ < 1 || threads_ > kMostThreads)
    return Status::error(Code::bad_call,
                         name + ": a session of " + std::to_string(threads_) + " threads; it has " +
                             (threads_ < 1 ? "one at least" : std::to_string(kMostThreads) + " at most"));
  if (code_ != nullptr && code_ != &model_.code())
    return Status::error(Code::bad_call,
                         name + ": the session has run another model, which this one was made in place of");
  if (&batch.info() != &model_.info())
    return Status::error(Code::bad_call, name + ": the batch is of another model, " + batch.info().name);
  if (batch.empty())
    return Status::error(Code::bad_call, name + ": the batch was moved from");
  if (entry < 0 || static_cast<size_t>(entry) >= model_.code().entries.size())
    return Status::error(Code::bad_call, name + ": there is no entry number " + std::to_string(entry));
  return Status();
}

/// What may be refused without harm to the run that has begun.
Status Session::State::not_now(const char *what) const {
  return Status::error(Code::bad_call, model_.empty() ? what : model_.info().name + ": " + what);
}

Status Session::State::run(int32_t entry, Batch &batch, Outputs *out) {
  if (begun_)
    return not_now(kBegun);
  return guarded(entry, batch.inputs(), out, [&] {
    if (Status wrong = check(entry, batch); !wrong.ok())
      return wrong;
    prepare(entry);
    begin_step(entry, batch.inputs());
    if (out)
      out->prepare(model_.info().entries[model_.code().entries[entry].entry], model_.code().f64);
    Outputs &into = out ? *out : entries_[entry].out;
    if (shares_ && model_.code().entries[entry].shares)
      try {
        return run_checked(entry, batch, into, /*share=*/true);
      } catch (const std::bad_alloc &) { // there may be enough for a sub-batch at a time
      }
    return run_checked(entry, batch, into, /*share=*/false);
  });
}

Status Session::State::begin(int32_t entry, Batch &batch) {
  if (begun_)
    return not_now(kBegun);
  Status status = guarded(entry, batch.inputs(), nullptr, [&] {
    if (Status wrong = check(entry, batch); !wrong.ok())
      return wrong;
    prepare(entry);
    begin_step(entry, batch.inputs());
    Status started = start(entry, batch, entries_[entry].out, shares_ && model_.code().entries[entry].shares);
    return started.ok() ? begin_sub_batch(sub_batches_[0], batch.all()) : started;
  });
  begun_ = status.ok();
  return status;
}

Status Session::State::finish() {
  if (!begun_)
    return not_now("no run has begun");
  begun_ = false;
  return guarded(current_.entry, inputs_, nullptr, [&] {
    if (current_.batch->fill() != current_.fill) {
      sub_batches_[0].begun = false; // the context waits for it when it is next used
      return not_now("the batch was changed between begin() and finish()");
    }
    Status status = finish_sub_batch(sub_batches_[0]);
    if (shared_in_vain())
      return run_checked(current_.entry, *current_.batch, *current_.out, /*share=*/false);
    if (status.ok())
      complete();
    return status;
  });
}

/// With `share` an input may miss a failure of its own, at a node that another one's stands for. So where
/// there is any, the run starts again without.
Status Session::State::run_checked(int32_t number, Batch &batch, Outputs &out, bool share) {
  if (Status status = start(number, batch, out, share); !status.ok())
    return status;
  const Entry &entry = entries_[number];
  if (entry.sub_batch_size == 0 && sub_batch_inputs_ == 0 && device_ == nullptr && !share &&
      !out.is_one_sub_batch() && batch.inputs() > kUntried) {
    // The whole batch at once may take far more memory than good sub-batches: the first input says what these
    // are.
    Status status = begin_sub_batch(sub_batches_[0], {0, 1});
    if (status.ok())
      status = start(number, batch, out, share);
    if (!status.ok())
      return status;
  }
  const bool interleaved = device_ != nullptr && next_ != nullptr && !entry.plan->decides();
  SubBatch *before = nullptr; // on a device
  Range range;
  do {
    const int32_t left = batch.inputs() - range.end;
    const int32_t most = sub_batch_inputs_ > 0                  ? sub_batch_inputs_
                         : entry.sub_batch_size > 0 && !device_ ? entry.sub_batch_size
                                                                : left;
    range = {range.end, range.end + (share || out.is_one_sub_batch() ? left : std::min(most, left))};
    SubBatch &sub_batch = sub_batches_[before == &sub_batches_[0] ? 1 : 0];
    Status status = begin_sub_batch(sub_batch, range);
    if (before != nullptr) { // also where this one failed: the device must be done with the batch
      Status done = finish_sub_batch(*before);
      if (status.ok())
        status = std::move(done);
    }
    before = interleaved ? &sub_batch : nullptr;
    if (status.ok() && !interleaved)
      status = finish_sub_batch(sub_batch);
    if (!status.ok())
      return status;
    if (shared_in_vain())
      return run_checked(number, batch, out, /*share=*/false);
  } while (range.end < batch.inputs());
  if (before != nullptr)
    if (Status status = finish_sub_batch(*before); !status.ok())
      return status;
  complete();
  return Status();
}

/// Checks the batch, and readies everything for its sub-batches.
Status Session::State::start(int32_t number, Batch &batch, Outputs &out, bool share) {
  const int64_t begin = now_ns();
  const EntryCode &code = model_.code().entries[number];
  Entry &entry = entries_[number];
  RunProfile &profile = entry.profile;
  for (StageProfile &stage : profile.stages) {
    StageProfile fresh;
    fresh.name = stage.name;
    fresh.backward = stage.backward;
    stage = fresh;
  }
  profile.rounds = 1;
  profile.compute_ns = 0;
  profile.buffer_bytes = 0;
  if (log_ != nullptr)
    log_->clear();

  entry.reads.assign(code.reads.begin(), code.reads.end());
  for (int32_t component : code.reads_args)
    entry.reads.push_back({batch.args(), batch.arg_column(code.entry, component)});
  Status whole = batch.validate(entry.reads.data(), entry.reads.size(), statuses_);
  if (!whole.ok())
    return whole;
  for (const ColumnRef &read : entry.reads)
    if (batch.column(read.table, read.column).device >= 0) {
      share = false; // nodes would be compared by what the host cannot see
      if (device_ == nullptr)
        return Status::error(Code::bad_call, model_.info().name + ": `" +
                                                 batch.column_info(read.table, read.column).name +
                                                 "` is in the memory of a device, which does not compute");
    }
  profile.nodes = 0;
  for (int32_t data = 0; data < batch.args(); ++data)
    profile.nodes += batch.rows(data);

  out.prepare(model_.info().entries[code.entry], model_.code().f64);
  out.begin(batch.inputs());
  if (share)
    shared_.find(batch, code.shared_reads, statuses_);
  current_.entry = number;
  current_.batch = &batch;
  current_.fill = batch.fill();
  current_.out = &out;
  current_.errors.emplace(batch, statuses_);
  current_.share = share;
  current_.failed_before = statuses_.failed();
  current_.host_ns = now_ns() - begin;
  return Status();
}

void Session::State::complete() {
  const EntryCode &code = model_.code().entries[current_.entry];
  current_.errors->select_first(code.order, code.entry);
  for (int32_t input = 0; statuses_.failed() > 0 && input < statuses_.inputs(); ++input)
    if (!statuses_[input].ok())
      current_.out->blank(input);
  RunProfile &profile = entries_[current_.entry].profile;
  profile.schedule_ns = current_.host_ns - profile.compute_ns;
}

/// From what a sub-batch of `inputs` inputs took: how many the next ones should have. What stages hand on
/// should stay in the caches near the core. But weights are read once a launch, where they are large it takes
/// many rows to repay that; and where launches are small, a smaller sub-batch would have smaller ones.
void Session::State::learn(Entry &entry, int32_t inputs) {
  constexpr size_t kBytes = 3 << 20;
  constexpr double kOperations = 4e6; // of a launch: some ten microseconds
  if (packed_bytes_ == 0)             // a table of matrices has many
    packed_bytes_ = model_.packed_bytes();
  const size_t most = std::max(kBytes, packed_bytes_) * static_cast<size_t>(pool_.threads());
  int32_t fit = 1;
  while (fit < (1 << 30) &&
         memory_.sub_batch_bytes() / static_cast<size_t>(inputs) * static_cast<size_t>(2 * fit) <= most)
    fit *= 2;
  double operations = 0, launches = 0;
  for (const StageProfile &stage : entry.profile.stages) {
    operations += static_cast<double>(stage.operations);
    launches += static_cast<double>(stage.launches);
  }
  while (fit < (1 << 30) && operations > 0 && operations / launches * fit / inputs < kOperations)
    fit *= 2;
  // A little more than before is not worth new memory.
  if (fit < entry.sub_batch_size || fit / 4 >= entry.sub_batch_size)
    entry.sub_batch_size = fit;
}

/// Schedules a sub-batch, and computes it, or has a device begin to.
/// `again`: as it was begun before, for its gradient, as one input is left out now.
Status Session::State::begin_sub_batch(SubBatch &sub_batch, Range inputs, bool again) {
  const int64_t begin = now_ns();
  const EntryCode &code = model_.code().entries[current_.entry];
  Entry &entry = entries_[current_.entry];
  const bool second = &sub_batch == &sub_batches_[1];
  if (second && !entry.next)
    entry.next = code.make_plan();
  sub_batch.plan = second ? entry.next.get() : entry.plan.get();
  sub_batch.device = second ? next_ : device_;
  sub_batch.begun = false;
  Outputs &out = *current_.out;
  sub_batch.run.emplace(Run{model_, *current_.batch, memory_, statuses_, pool_, *current_.errors, budget_,
                            out, entry.profile.stages.data(), timed_, code.entry, inputs});
  Run &run = *sub_batch.run;
  run.log = log_;
  if (again) {
    run.loss_weights = weights_in_use_.data();
    run.gradients = true;
  } else {
    if (model_.info().entries[code.entry].is_differentiated())
      run.loss_weights = weigh_losses(run.batch.inputs());
    run.gradients = gradients_;
  }
  run.dropout = dropout_;
  run.shared = current_.share ? &shared_ : nullptr;
  out.begin_sub_batch(inputs);
  Status status;
  int64_t unscheduled = begin;
  do {
    if (!schedule(sub_batch, inputs)) {
      current_.host_ns += now_ns() - begin;
      return Status(); // from the beginning
    }
    status = out.commit();
    if (!status.ok()) {
      status.message = model_.info().name + ": " + status.message;
      return status;
    }
    const int64_t scheduled = now_ns();
    if (run.log != nullptr)
      run.log->add_sub_batch(unscheduled, scheduled);
    memory_.begin_sub_batch();
    if (sub_batch.device != nullptr) {
      out.leave_sub_batch(sub_batch.out);
      status = sub_batch.plan->begin_on(run, *sub_batch.device);
      sub_batch.begun = status.ok();
    } else {
      sub_batch.plan->compute(run);
      entry.profile.buffer_bytes =
          std::max(entry.profile.buffer_bytes, static_cast<int64_t>(memory_.sub_batch_bytes()));
      if (run.input_count > 0 && !run.shared)
        learn(entry, run.input_count);
    }
    unscheduled = now_ns();
    entry.profile.compute_ns += unscheduled - scheduled;
    // Again without the inputs that failed; where one may have failed for another one, the run starts again
    // without sharing (see run_checked).
  } while (sub_batch.device == nullptr && is_gradient_spoilt(run));
  current_.host_ns += now_ns() - begin;
  return status;
}

/// Whether an input that failed while it was computed has taken its part of the gradient with it.
bool Session::State::is_gradient_spoilt(const Run &run) const {
  return run.gradients && model_.info().entries[run.entry].is_differentiated() && !run.shared &&
         run.errors.any();
}

/// Schedules the inputs that have not failed. False where the run must begin again without sharing.
bool Session::State::schedule(SubBatch &sub_batch, Range inputs) {
  Run &run = *sub_batch.run;
  // Every round that fails drops at least one input, so this ends; mostly after one round, or two.
  for (;;) {
    sub_batch.live.clear();
    for (int32_t input = inputs.begin; input < inputs.end; ++input)
      if (statuses_[input].ok())
        sub_batch.live.push(input);
    run.inputs = sub_batch.live.data();
    run.input_count = static_cast<int32_t>(sub_batch.live.size());
    run.errors.begin_round();
    budget_.begin(run.batch, inputs, input_bytes_);
    sub_batch.plan->schedule(run);
    if (!run.errors.any())
      return true;
    if (run.shared)
      return false;
    ++entries_[current_.entry].profile.rounds;
  }
}

/// What each input's loss weighs in the gradient: what was asked for, else the same.
const float *Session::State::weigh_losses(int32_t inputs) {
  const auto all = static_cast<size_t>(inputs);
  weights_in_use_.assign(all, inputs > 0 ? 1.0F / static_cast<float>(inputs) : 0.0F);
  std::copy_n(loss_weights_.begin(), std::min(all, loss_weights_.size()), weights_in_use_.data());
  return weights_in_use_.data();
}

/// A run of a loss drops by a step of its own, however often it starts again.
void Session::State::begin_step(int32_t entry, int32_t inputs) {
  dropout_ = Dropout();
  if (!drops_ || !model_.info().entries[model_.code().entries[entry].entry].is_loss)
    return;
  const auto step = static_cast<int64_t>(dropout_step_++);
  dropout_keys_.resize(static_cast<size_t>(inputs));
  for (int32_t input = 0; input < inputs; ++input) {
    const bool numbered = static_cast<size_t>(input) < input_numbers_.size();
    dropout_keys_[input] = dropout_key(dropout_seed_, step, numbered ? input_numbers_[input] : input);
  }
  dropout_ = {true, dropout_key(dropout_seed_, step), dropout_keys_.data()};
}

/// Waits for the device, if it computes the sub-batch.
Status Session::State::finish_sub_batch(SubBatch &sub_batch) {
  if (!sub_batch.begun)
    return Status();
  const int64_t begin = now_ns();
  sub_batch.begun = false;
  current_.out->enter_sub_batch(sub_batch.out);
  Status status = sub_batch.plan->finish_on(*sub_batch.run, *sub_batch.device);
  const int64_t ns = now_ns() - begin;
  entries_[current_.entry].profile.compute_ns += ns;
  current_.host_ns += ns;
  if (!status.ok() || !is_gradient_spoilt(*sub_batch.run))
    return status;
  status = begin_sub_batch(sub_batch, sub_batch.run->range, /*again=*/true); // with at least one input less
  return status.ok() ? finish_sub_batch(sub_batch) : status;
}

} // namespace dbc
