// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include <dbc/cuda/teams.h>

#include <climits>

namespace dbc::cuda {

void Teams::begin(const Run &run, int32_t most) {
  run_ = &run;
  spaces_ = 0;
  // Nodes that are alike share an instance, whichever input they are of.
  count_ = run.shared != nullptr ? 1 : std::clamp(std::min(most, run.input_count), 1, kMostTeams);
}

Teams::Dealt &Teams::next(const Ticks &ticks, int32_t table) {
  if (static_cast<size_t>(spaces_) == dealt_.size())
    dealt_.emplace_back();
  Dealt &dealt = dealt_[static_cast<size_t>(spaces_++)];
  dealt.ticks = &ticks;
  if (count_ == 1)
    return dealt;
  dealt.bounds.resize(static_cast<size_t>(ticks.count) * count_ + 1);
  for (int32_t team = 1; team < count_; ++team) {
    const int32_t input = run_->inputs[int64_t(run_->input_count) * team / count_];
    ends_[team - 1] = table == run_->batch.args() ? input : run_->batch.begin(table)[input];
  }
  ends_[count_ - 1] = INT_MAX;
  return dealt;
}

} // namespace dbc::cuda
