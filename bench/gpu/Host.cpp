// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// host ENTRY INPUTS BATCH SECONDS: what the host does for a batch of BATCH lines on each path until all is
// begun: it checks the batch, schedules, fills the memory that is copied from, begins copies and launches;
// and how long it takes to hand over results. The device does nothing, and there is no driver, whose time
// comes on top; `time` has both together. Paths are interleaved, and so are batches; each is filled anew,
// which is not timed, as what was checked once is not checked again. Quartiles, in microseconds. Prints one
// line of JSON.
#include "Lines.h"

#include <dbc/cuda/shim.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace dbc;
using namespace dbc::gpu;

namespace {

constexpr size_t kBatches = 8, kLeast = 24, kMost = 4000;

/// What no copy ever writes says that nothing was wrong.
void *zeroed(size_t bytes) {
  void *memory = cuda::shim::allocate(bytes);
  return memory != nullptr ? std::memset(memory, 0, bytes) : nullptr;
}
cuda::Backend resting;
const cuda::Backend &backend() { return resting; }

/// A session of a path, and what its batches took.
struct Contestant {
  Contestant(const Program &program, const cuda::Model &on, const NamedPath &path)
      : path(path), context(on), session(program.model) {
    context.choose_path(path.path);
    session.compute_on(&context);
  }
  const NamedPath &path;
  cuda::Context context;
  Session session;
  std::vector<double> host, schedule, finish;
};

void print(const char *name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t count = values.size();
  std::printf("\"%s\": [%.2f, %.2f, %.2f]", name, values[count / 4], values[count / 2],
              values[count * 3 / 4]);
}

} // namespace

int main(int argc, char **argv) {
  expect(argc == 5, "usage: host ENTRY INPUTS BATCH SECONDS");
  ModelCode code = *DBC_GPU_CODE();
  resting = cuda::backend();
  resting.allocate_host = zeroed;
  resting.poison = nullptr;
  code.cuda = backend;
  const Program program(argv[1], code);
  const int wanted = std::atoi(argv[3]);
  const double seconds = std::atof(argv[4]);
  expect(wanted > 0 && seconds > 0, "BATCH and SECONDS are above 0");
  const auto size = static_cast<size_t>(wanted);
  const std::vector<std::string> lines = read_lines(argv[2], kBatches * size);
  const size_t batches = std::max<size_t>(lines.size() / size, 1);
  cuda::Model on;
  expect(cuda::Model::make(program.model, /*device=*/0, &on));
  cuda::shim::Machine::own().rest();

  std::deque<Contestant> contestants;
  for (const NamedPath &path : kPaths)
    contestants.emplace_back(program, on, path);
  LineBatch read(*code.info, program.info(), lines, 0, 0);
  int64_t nodes = 0, runs = 0;
  const double end = now_us() + 1e6 * seconds;
  for (size_t n = 0; n < batches + kLeast || (now_us() < end && n < kMost); ++n)
    for (Contestant &contestant : contestants) {
      read.reader.clear(read.batch);
      for (size_t line = 0; line < size; ++line)
        expect(read.reader.append(lines[(n % batches * size + line) % lines.size()], read.batch));
      const double start = now_us();
      expect(contestant.session.begin(program.entry, read.batch));
      const double took = now_us() - start;
      const double begun = now_us();
      expect(contestant.session.finish());
      const double finish = now_us() - begun;
      expect(contestant.session.failed() == 0, "an input failed");
      if (n < batches) // memory grows
        continue;
      const RunProfile &profile = contestant.session.profile(program.entry);
      contestant.host.push_back(took);
      contestant.schedule.push_back(1e-3 * static_cast<double>(profile.schedule_ns));
      contestant.finish.push_back(finish);
      nodes += profile.nodes;
      ++runs;
    }
  std::printf("{\"batch\": %zu, \"batches\": %zu, \"nodes\": %.1f, \"paths\": [", size, batches,
              static_cast<double>(nodes) / static_cast<double>(runs));
  for (const Contestant &contestant : contestants) {
    std::printf("%s{\"path\": \"%s\", \"launches\": %lld, \"runs\": %zu, ",
                &contestant == &contestants[0] ? "" : ", ", contestant.path.name,
                static_cast<long long>(contestant.context.launches()), contestant.host.size());
    print("host_us", contestant.host);
    std::printf(", ");
    print("schedule_us", contestant.schedule);
    std::printf(", ");
    print("finish_us", contestant.finish);
    std::printf("}");
  }
  std::printf("]}\n");
  return 0;
}
