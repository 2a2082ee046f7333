// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include <dbc/cuda/block_groups.h>

#include <climits>

namespace dbc::cuda {

void BlockGroups::begin(const Run &run, int32_t most) {
  run_ = &run;
  index_sets_ = 0;
  // Nodes that are alike share an instance, whichever input they are of.
  count_ = run.shared != nullptr ? 1 : std::clamp(std::min(most, run.input_count), 1, kMaxBlockGroups);
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
    const int32_t input = run_->inputs[int64_t(run_->input_count) * group / count_];
    ends_[group - 1] = table == run_->batch.args() ? input : run_->batch.begin(table)[input];
  }
  ends_[count_ - 1] = INT_MAX;
  return distribution;
}

} // namespace dbc::cuda
