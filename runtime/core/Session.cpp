// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The course of a run: check, schedule, again without the inputs that failed, compute.
#include <dbc/session.h>

#include <algorithm>
#include <chrono>
#include <new>

namespace dbc {

namespace {
int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}
} // namespace

Session::Session(const Model &model, int32_t threads) noexcept : model_(model), pool_(threads) {}
Session::~Session() = default;

const RunProfile &Session::profile(int32_t entry) const {
  static const RunProfile none;
  return has_run(entry) ? entries_[entry].profile : none;
}

/// Plans and profiles exist from an entry's first run on.
void Session::prepare(int32_t number) {
  if (entries_.empty())
    entries_.resize(model_.code().entries.size());
  if (scratch_.empty())
    scratch_.resize(pool_.threads());
  Entry &entry = entries_[number];
  if (entry.plan)
    return;
  const EntryCode &code = model_.code().entries[number];
  entry.profile.stages.resize(code.stages.size());
  for (size_t s = 0; s < code.stages.size(); ++s)
    entry.profile.stages[s].name = code.stages[s];
  entry.out.prepare(model_.info().entries[code.entry], model_.code().f64);
  entry.plan = code.make_plan();
}

Status Session::run(int32_t entry, Batch &batch) { return run_or_blank(entry, batch, nullptr); }
Status Session::run(int32_t entry, Batch &batch, Outputs &out) { return run_or_blank(entry, batch, &out); }

/// A run that fails as a whole leaves that failure at every input, and zeros, so that nobody reads results of
/// an earlier run.
Status Session::run_or_blank(int32_t entry, Batch &batch, Outputs *out) {
  Status status = run_guarded(entry, batch, out);
  if (status.ok())
    return status;
  try {
    statuses_.begin(batch.inputs());
    for (int32_t input = 0; input < batch.inputs(); ++input)
      statuses_.fail(input, status);
    if (!out && entry >= 0 && static_cast<size_t>(entry) < entries_.size())
      out = &entries_[entry].out;
    if (out) {
      out->begin(batch.inputs());
      if (out->commit().ok())
        for (int32_t input = 0; input < batch.inputs(); ++input)
          out->blank(input);
    }
  } catch (const std::bad_alloc &) {
    // Then there is no room for zeros either.
  }
  return status;
}

Status Session::run_guarded(int32_t entry, Batch &batch, Outputs *out) {
  if (model_.empty())
    return Status::error(Code::bad_call, "the session's model was never made");
  const std::string &name = model_.info().name;
  if (&batch.info() != &model_.info())
    return Status::error(Code::bad_call, name + ": the batch is of another model, " + batch.info().name);
  if (entry < 0 || static_cast<size_t>(entry) >= model_.code().entries.size())
    return Status::error(Code::bad_call, name + ": there is no entry number " + std::to_string(entry));
  try {
    prepare(entry);
    if (out)
      out->prepare(model_.info().entries[model_.code().entries[entry].entry], model_.code().f64);
    Outputs &into = out ? *out : entries_[entry].out;
    if (shares_ && model_.code().entries[entry].shares)
      try {
        return run_checked(entry, batch, into, /*share=*/true);
      } catch (const std::bad_alloc &) { // there may be enough for a part at a time
      }
    return run_checked(entry, batch, into, /*share=*/false);
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, name + ": not enough memory for a batch of " +
                                          std::to_string(batch.inputs()) +
                                          " inputs, or more than 2^31 - 1 rows");
  }
}

/// With `share` an input may miss a failure of its own, at a node that another one's stands for. So where
/// there is any, the run starts again without.
Status Session::run_checked(int32_t number, Batch &batch, Outputs &out, bool share) {
  const EntryCode &code = model_.code().entries[number];
  Entry &entry = entries_[number];
  RunProfile &profile = entry.profile;
  for (StageProfile &stage : profile.stages) {
    const char *name = stage.name;
    stage = StageProfile();
    stage.name = name;
  }
  profile.rounds = 1;
  profile.compute_ns = 0;
  int64_t start = now_ns();

  entry.reads.assign(code.reads.begin(), code.reads.end());
  for (int32_t leaf : code.reads_args)
    entry.reads.push_back({batch.args(), batch.arg_column(code.entry, leaf)});
  Status whole = batch.validate(entry.reads.data(), entry.reads.size(), statuses_);
  if (!whole.ok())
    return whole;
  profile.nodes = 0;
  for (int32_t data = 0; data < batch.args(); ++data)
    profile.nodes += batch.rows(data);

  ScheduleErrors errors(batch, statuses_);
  out.prepare(model_.info().entries[code.entry], model_.code().f64);
  out.begin(batch.inputs());
  Run run{model_, batch,      *this,  pool_, errors, budget_, out, profile.stages.data(),
          timed_, code.entry, Range()};
  run.log = log_;
  const int32_t failed_before = statuses_.failed();
  if (share) {
    shared_.find(batch, code.shared_reads, statuses_);
    run.shared = &shared_;
  }
  do {
    const int32_t left = batch.inputs() - run.range.end;
    const int32_t part = part_inputs_ > 0 ? part_inputs_ : entry.part > 0 && !device_ ? entry.part : left;
    run.range = {run.range.end, run.range.end + (share || out.is_one_part() ? left : std::min(part, left))};
    Status status = run_part(run, entry);
    if (share && statuses_.failed() > failed_before)
      return run_checked(number, batch, out, /*share=*/false);
    if (!status.ok())
      return status;
  } while (run.range.end < batch.inputs());
  for (int32_t input = 0; statuses_.failed() > 0 && input < batch.inputs(); ++input)
    if (!statuses_[input].ok())
      out.blank(input);
  profile.schedule_ns = computed_ns_ - start - profile.compute_ns;
  return Status();
}

/// From what a part of `inputs` inputs took: how many the next ones should have. What stages hand on should
/// stay in the caches near the core. But weights are read once a launch, where they are large it takes many
/// rows to repay that; and where launches are small, a smaller part would have smaller ones.
void Session::learn(Entry &entry, int32_t inputs) {
  constexpr size_t kBytes = 3 << 20;
  constexpr double kOperations = 4e6; // of a launch: some ten microseconds
  const size_t most = std::max(kBytes, model_.packed_bytes()) * static_cast<size_t>(pool_.threads());
  int32_t fit = 1;
  while (fit < (1 << 30) && part_bytes_ / static_cast<size_t>(inputs) * static_cast<size_t>(2 * fit) <= most)
    fit *= 2;
  double operations = 0, launches = 0;
  for (const StageProfile &stage : entry.profile.stages) {
    operations += static_cast<double>(stage.operations);
    launches += static_cast<double>(stage.launches);
  }
  while (fit < (1 << 30) && operations > 0 && operations / launches * fit / inputs < kOperations)
    fit *= 2;
  // A little more than before is not worth new memory.
  if (fit < entry.part || fit / 4 >= entry.part)
    entry.part = fit;
}

Status Session::run_part(Run &run, Entry &entry) {
  run.out.begin_part(run.range);
  // Every round that fails drops at least one input, so this ends; mostly after one round, or two.
  for (;;) {
    live_.clear();
    for (int32_t input = run.range.begin; input < run.range.end; ++input)
      if (statuses_[input].ok())
        live_.push(input);
    run.inputs = live_.data();
    run.input_count = static_cast<int32_t>(live_.size());
    run.errors.begin_round();
    budget_.begin(run.batch, run.range, input_bytes_);
    entry.plan->schedule(run);
    if (!run.errors.any())
      break;
    if (run.shared)
      return Status(); // from the beginning
    ++entry.profile.rounds;
  }
  Status room = run.out.commit();
  if (!room.ok()) {
    room.message = model_.info().name + ": " + room.message;
    return room;
  }
  int64_t scheduled = now_ns();
  part_bytes_ = 0;
  if (device_ != nullptr) {
    if (Status status = entry.plan->compute_on(run, *device_); !status.ok())
      return status;
  } else {
    entry.plan->compute(run);
    if (run.input_count > 0 && !run.shared)
      learn(entry, run.input_count);
  }
  computed_ns_ = now_ns();
  entry.profile.compute_ns += computed_ns_ - scheduled;
  return Status();
}

} // namespace dbc
