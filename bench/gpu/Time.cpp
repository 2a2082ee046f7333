// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// time ENTRY INPUTS BATCH SECONDS: how long batches of BATCH lines take on each path. Batches are
// interleaved, so that none finds its own rows in the device's cache; medians, in microseconds. Prints one
// line of JSON.
#include "Timing.h"
#include "Watch.h"

using namespace dbc;
using namespace dbc::gpu;

namespace {

/// What is known of a path: a value a batch.
struct Times {
  std::vector<double> with_copies, kernels, whole, schedule, host;
};

void print(const NamedPath &path, const Times &times, int64_t launches, bool first) {
  std::printf(
      "%s{\"path\": \"%s\", \"launches\": %lld, \"runs\": %zu, \"kernels_us\": %.3f, "
      "\"with_copies_us\": %.3f, \"whole_us\": %.3f, \"host_us\": %.3f, \"schedule_us\": %.3f, \"stages\": [",
      first ? "" : ", ", path.name, static_cast<long long>(launches), times.kernels.size(),
      median(times.kernels), median(times.with_copies), median(times.whole), median(times.host),
      median(times.schedule));
}

} // namespace

int main(int argc, char **argv) {
  const ModelCode code = watched(*DBC_GPU_CODE());
  TimedProgram timed(argc, argv, code);
  const Program &program = timed.program;
  std::deque<LineBatch> &batches = timed.batches;
  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));

  int64_t nodes = 0;
  Session session(program.model);
  std::printf("{\"batch\": %zu, \"batches\": %zu, \"paths\": [", timed.size, batches.size());
  for (const NamedPath &path : kPaths) {
    cuda::Context context(on_device);
    context.choose_path(path.path);
    session.compute_on(&context);
    for (LineBatch &batch : batches) // memory grows, modules load
      expect(session.run(program.entry, batch.batch));
    if (context.path() != path.path)
      continue; // what cannot be a graph has no row of one
    Times times;
    const double end = now_us() + 1e6 * timed.seconds;
    for (size_t n = 0; n < kLeast || (now_us() < end && n < kMost); ++n) {
      begin_watch();
      const double start = now_us();
      expect(session.begin(program.entry, batches[n % batches.size()].batch));
      times.host.push_back(now_us() - start); // all is begun
      expect(session.finish());
      times.whole.push_back(now_us() - start);
      expect(session.failed() == 0, "an input failed");
      const DeviceTimes found = end_watch();
      times.with_copies.push_back(found.with_copies);
      times.kernels.push_back(found.kernels);
      times.schedule.push_back(1e-3 * static_cast<double>(session.profile(program.entry).schedule_ns));
    }
    print(path, times, context.launches(), &path == kPaths);
    nodes = print_stages(session, timed).nodes;
    std::printf("]}");
  }
  std::printf("], \"nodes\": %.1f}\n", static_cast<double>(nodes) / static_cast<double>(batches.size()));
  return 0;
}
