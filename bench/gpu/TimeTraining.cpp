// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// time-training LOSS INPUTS BATCH SECONDS: how long steps of plain SGD take, in batches of BATCH lines, on
// each path. Batches are interleaved, so that none finds its own rows in the device's cache; medians, in
// microseconds. Prints one line of JSON.
#include "Timing.h"
#include "Watch.h"

#include <dbc/cuda/optimizer.h>
#include <dbc/optimizer.h>

using namespace dbc;
using namespace dbc::gpu;

namespace {

/// What is known of a path: a value a step.
struct Times {
  std::vector<double> gradients; ///< by the device's clock, between the copies
  std::vector<double> update;    ///< by the host's clock, until weights are changed
  std::vector<double> whole;     ///< from structure to new weights, by the host's clock
  std::vector<double> schedule;  ///< of this from structure to index arrays
};

} // namespace

int main(int argc, char **argv) {
  const ModelCode code = watched(*DBC_GPU_CODE());
  TimedProgram timed(argc, argv, code);
  Program &program = timed.program;
  std::deque<LineBatch> &batches = timed.batches;
  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));
  OptimizerOptions options;
  options.kind = OptimizerOptions::Kind::Sgd;
  options.lr = 1e-4F;
  dbc::Optimizer optimizer(options);
  std::unique_ptr<cuda::Optimizer> stepping;
  expect(cuda::Optimizer::make(on_device, program.model, program.weights, optimizer, &stepping));

  Session session(program.model);
  std::printf("{\"batch\": %zu, \"batches\": %zu, \"paths\": [", timed.size, batches.size());
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
    const double end = now_us() + 1e6 * timed.seconds;
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
    (void)print_stages(session, timed);
    std::printf("]}");
  }
  std::printf("]}\n");
  return 0;
}
