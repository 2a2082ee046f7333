// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Adding up and writing down what runs did, and the clock for it.
#include <dbc/profile.h>

#include <algorithm>
#include <chrono>

namespace dbc {

void LaunchLog::add(int32_t stage, int32_t count) {
  rows.resize(std::max(rows.size(), static_cast<size_t>(stage) + 1));
  rows[stage].push_back(std::max(count, 0));
}

void LaunchLog::add_time(int32_t stage, int64_t begin, int64_t end, size_t behind) {
  spans.resize(std::max(spans.size(), static_cast<size_t>(stage) + 1));
  spans[stage].resize(rows[stage].size());
  spans[stage][rows[stage].size() - 1 - behind] = {begin, end - begin};
}

void LaunchLog::add_sub_batch(int64_t begin, int64_t end) {
  sub_batches.push_back({{begin, end - begin}, {}});
  for (const std::vector<int32_t> &launches : rows)
    sub_batches.back().first.push_back(launches.size());
}

void LaunchLog::clear() {
  rows.clear();
  spans.clear();
  sub_batches.clear();
}

void RunProfile::add(const RunProfile &other) {
  stages.resize(other.stages.size());
  for (size_t i = 0; i < stages.size(); ++i) {
    StageProfile &stage = stages[i];
    const StageProfile &more = other.stages[i];
    stage.name = more.name;
    stage.backward = more.backward;
    stage.launches += more.launches;
    stage.rows += more.rows;
    stage.bytes_read += more.bytes_read;
    stage.bytes_written += more.bytes_written;
    stage.gathers += more.gathers;
    stage.operations += more.operations;
    stage.ns += more.ns;
  }
  schedule_ns += other.schedule_ns;
  compute_ns += other.compute_ns;
  nodes += other.nodes;
  rounds += other.rounds;
  buffer_bytes = std::max(buffer_bytes, other.buffer_bytes);
}

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

} // namespace dbc
