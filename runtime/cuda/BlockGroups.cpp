// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include <dbc/cuda/block_groups.h>

#include <climits>

namespace dbc::cuda {

/// What an input is to its group: itself, and its nodes.
static int64_t size_of(const Run &run, int32_t number) {
  const int32_t input = run.inputs[number];
  int64_t size = 1;
  for (int32_t table = 0; table < run.batch.args(); ++table)
    size += run.batch.begin(table)[input + 1] - run.batch.begin(table)[input];
  return size;
}

void BlockGroups::begin(const Run &run, int32_t most) {
  run_ = &run;
  index_sets_ = 0;
  // Nodes that are alike share an instance, whichever input they are of.
  count_ = run.shared != nullptr ? 1 : std::clamp(std::min(most, run.input_count), 1, kMaxBlockGroups);
  if (count_ == 1)
    return;
  int64_t all = 0, before = 0;
  for (int32_t number = 0; number < run.input_count; ++number)
    all += size_of(run, number);
  // An input is the group's that its middle lies in.
  int32_t group = 0;
  for (int32_t number = 0; number < run.input_count; ++number) {
    const int64_t size = size_of(run, number);
    while (group + 1 < count_ && (2 * before + size) * count_ >= 2 * all * (group + 1))
      firsts_[++group] = number;
    before += size;
  }
  while (group + 1 < count_)
    firsts_[++group] = run.input_count;
}

BlockGroups::Distribution &BlockGroups::next(const TimeSteps &time_steps, int32_t table) {
  if (static_cast<size_t>(index_sets_) == distributions_.size())
    distributions_.emplace_back();
  Distribution &distribution = distributions_[static_cast<size_t>(index_sets_++)];
  distribution.time_steps = &time_steps;
  if (count_ == 1)
    return distribution;
  distribution.bounds.resize(static_cast<size_t>(time_steps.count) * count_ + 1);
  for (int32_t group = 1; group < count_; ++group) {
    if (firsts_[group] == run_->input_count) { // it has none
      ends_[group - 1] = INT_MAX;
      continue;
    }
    const int32_t input = run_->inputs[firsts_[group]];
    ends_[group - 1] = table == run_->batch.args() ? input : run_->batch.begin(table)[input];
  }
  ends_[count_ - 1] = INT_MAX;
  return distribution;
}

} // namespace dbc::cuda
