// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// time-training LOSS INPUTS BATCH SECONDS: how long steps of plain SGD take, in batches of BATCH lines, on
// each path. Batches are interleaved, so that none finds its own rows in the device's cache; medians, in
// microseconds. Prints one line of JSON.
#include "Watch.h"

#include "Lines.h"

#include <dbc/cuda/optimizer.h>
#include <dbc/optimizer.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace dbc;
using namespace dbc::gpu;

namespace {

constexpr size_t kBatches = 8; ///< that are interleaved
constexpr size_t kLeast = 20, kMost = 2000;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// What is known of a path: a value a step.
struct Times {
  std::vector<double> gradients; ///< by the device's clock, between the copies
  std::vector<double> update;    ///< by the host's clock, until weights are changed
  std::vector<double> whole;     ///< from structure to new weights, by the host's clock
  std::vector<double> schedule;  ///< of this from structure to index arrays
};

void print_stages(const RunProfile &profile, double batches) {
  bool first = true;
  for (const StageProfile &stage : profile.stages) {
    std::printf("%s{\"name\": \"%s\", \"launches\": %.1f, \"rows\": %.1f, \"us\": %.2f}", first ? "" : ", ",
                stage.name, static_cast<double>(stage.launches) / batches,
                static_cast<double>(stage.rows) / batches, 1e-3 * static_cast<double>(stage.ns) / batches);
    first = false;
  }
}

} // namespace

int main(int argc, char **argv) {
  expect(argc == 5, "usage: time-training LOSS INPUTS BATCH SECONDS");
  const ModelCode code = watched(*DBC_GPU_CODE());
  Program program(argv[1], code);
  const auto size = static_cast<size_t>(std::atoi(argv[3]));
  const double seconds = std::atof(argv[4]);
  expect(size > 0 && seconds > 0, "BATCH and SECONDS are above 0");
  std::deque<LineBatch> batches =
      batches_of(*code.info, program.info(), read_lines(argv[2], kBatches * size), size, kBatches);
  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::Sgd;
  options.lr = 1e-4F;
  dbc::Optimizer optimizer(options);
  std::unique_ptr<cuda::Optimizer> stepping;
  expect(cuda::Optimizer::make(on_device, program.model, program.weights, optimizer, &stepping));

  Session session(program.model);
  std::printf("{\"batch\": %zu, \"batches\": %zu, \"paths\": [", size, batches.size());
  for (const NamedPath &path : kPaths) {
    cuda::Context context(on_device);
    context.choose_path(path.path);
    context.keep_gradients_on_device(true);
    session.compute_on(&context);
    for (LineBatch &batch : batches) { // memory grows, modules load
      expect(session.run(program.entry, batch.batch));
      expect(stepping->step(context));
    }
    if (context.path() != path.path)
      continue; // what cannot be a graph has no row of one
    Times times;
    const double end = now_us() + 1e6 * seconds;
    for (size_t n = 0; n < kLeast || (now_us() < end && n < kMost); ++n) {
      begin_watch();
      const double start = now_us();
      expect(session.run(program.entry, batches[n % batches.size()].batch));
      expect(session.failed() == 0, "an input failed");
      const double middle = now_us();
      const DeviceTimes gradients = end_watch();
      const double again = now_us();
      expect(stepping->step(context));
      times.update.push_back(now_us() - again);
      times.whole.push_back(times.update.back() + middle - start);
      times.gradients.push_back(gradients.kernels);
      times.schedule.push_back(1e-3 * static_cast<double>(session.profile(program.entry).schedule_ns));
    }
    std::printf("%s{\"path\": \"%s\", \"launches\": %lld, \"runs\": %zu, \"gradients_us\": %.3f, "
                "\"update_us\": %.3f, \"step_us\": %.3f, \"schedule_us\": %.3f, \"stages\": [",
                &path == kPaths ? "" : ", ", path.name, static_cast<long long>(context.launches()),
                times.whole.size(), median(times.gradients), median(times.update), median(times.whole),
                median(times.schedule));
    // Then stage by stage: each launch waits for its end, so the sum is above what was measured.
    session.time_stages(true);
    RunProfile profile;
    for (LineBatch &batch : batches) {
      expect(session.run(program.entry, batch.batch));
      profile.add(session.profile(program.entry));
    }
    session.time_stages(false);
    print_stages(profile, static_cast<double>(batches.size()));
    std::printf("]}");
  }
  std::printf("]}\n");
  return 0;
}
