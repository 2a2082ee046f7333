// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/profile/TimedLaunches.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <optional>

namespace dbc::driver {

void eachLaunch(const LaunchLog &log, size_t stage, llvm::function_ref<void(size_t, size_t, size_t)> each) {
  size_t subBatch = 0, first = 0;
  auto firstOf = [&](size_t number) {
    const std::vector<size_t> &begins = log.sub_batches[number].first;
    return stage < begins.size() ? begins[stage] : 0;
  };
  for (size_t launch = 0; launch < log.rows[stage].size(); ++launch) {
    for (; subBatch < log.sub_batches.size() && firstOf(subBatch) <= launch; ++subBatch)
      first = firstOf(subBatch);
    each(subBatch, launch - first, launch);
  }
}

int64_t TimedLaunch::rows() const {
  int64_t sum = 0;
  for (const Part &part : parts)
    sum += part.rows;
  return sum;
}

/// Adds rows that a loop's launch has computed of one of its stages in a time step.
static void addRows(TimedLaunch &launch, int32_t stage, int32_t step, int64_t rows) {
  if (launch.parts.back().stage != stage)
    launch.parts.push_back({stage, 0});
  launch.parts.back().rows += rows;
  launch.steps = std::max(launch.steps, step - launch.step + 1);
}

std::vector<TimedLaunch> timedLaunches(const LaunchLog &log) {
  std::vector<TimedLaunch> launches;
  // Rows without a time of their own were computed by a loop in one launch, whose time stands at its first
  // stage: of those up to theirs, what began last in their sub-batch.
  std::vector<std::optional<size_t>> last(log.sub_batches.size() + 1);
  for (size_t number = 0; number < log.rows.size(); ++number) {
    const llvm::ArrayRef<int32_t> rows = log.rows[number];
    const llvm::ArrayRef<TimeSpan> spans =
        number < log.spans.size() ? llvm::ArrayRef(log.spans[number]) : llvm::ArrayRef<TimeSpan>();
    auto timed = [&](size_t launch) { return launch < spans.size() && spans[launch].begin != 0; };
    const auto stage = static_cast<int32_t>(number);
    eachLaunch(log, number, [&](size_t subBatch, size_t step, size_t launch) {
      if (!timed(launch))
        return;
      std::optional<size_t> &latest = last[subBatch];
      if (!latest || launches[*latest].span.begin <= spans[launch].begin)
        latest = launches.size();
      launches.push_back({{{stage, rows[launch]}}, static_cast<int32_t>(step), 1, spans[launch]});
    });
    eachLaunch(log, number, [&](size_t subBatch, size_t step, size_t launch) {
      if (!timed(launch) && rows[launch] > 0 && last[subBatch])
        addRows(launches[*last[subBatch]], stage, static_cast<int32_t>(step), rows[launch]);
    });
  }
  llvm::stable_sort(launches,
                    [](const TimedLaunch &a, const TimedLaunch &b) { return a.span.begin < b.span.begin; });
  return launches;
}

} // namespace dbc::driver
