// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// check ENTRY INPUTS OUTPUTS REPEATS: computes the lines of INPUTS on the device and writes the results to
// OUTPUTS, for another program to compare with the oracle's. Then on each path, in batches of several sizes,
// in the other order and with few blocks of threads, and REPEATS times as one batch: no bit may change.
// Prints one line of JSON.
#include "Lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

using namespace dbc;
using namespace dbc::gpu;

namespace {

/// Computes lines in batches of `size`.
std::vector<std::string> compute(const Program &program, Session &session,
                                 const std::vector<std::string> &lines, size_t size) {
  std::vector<std::string> results;
  for (size_t begin = 0; begin < lines.size(); begin += size) {
    LineBatch batch(*program.code.info, program.info(), lines, begin, std::min(begin + size, lines.size()));
    expect(session.run(program.entry, batch.batch));
    for (std::string &line : results_of(session, program.entry, program.info(), batch))
      results.push_back(std::move(line));
  }
  return results;
}

/// The results' memory: values of 4 bytes, and where lists begin.
std::string bits_of(const Outputs &results) {
  std::string bits;
  auto append = [&](const void *from, int64_t count) {
    bits.append(static_cast<const char *>(from), static_cast<size_t>(count) * sizeof(float));
  };
  for (int32_t component = 0; component < results.components(); ++component) {
    const Outputs::Component &info = results.component(component);
    append(results.data(component), info.values * info.info.extent);
    for (int32_t depth = 0; depth < info.info.depth; ++depth)
      append(results.offsets(component, depth), results.lists(component, depth) + 1);
  }
  return bits;
}

} // namespace

int main(int argc, char **argv) {
  expect(argc == 5, "usage: check ENTRY INPUTS OUTPUTS REPEATS");
  Program program(argv[1], *DBC_GPU_CODE());
  const std::vector<std::string> lines = read_lines(argv[2]);
  const int repeats = std::atoi(argv[4]);
  cuda::Model on_device;
  expect(cuda::Model::make(program.model, /*device=*/0, &on_device));

  Session session(program.model);
  cuda::Context first(on_device);
  session.compute_on(&first);
  const std::vector<std::string> expected = compute(program, session, lines, lines.size());
  {
    std::ofstream out(argv[3]);
    for (const std::string &line : expected)
      out << line << "\n";
    expect(bool(out.flush()), std::string(argv[3]) + ": cannot be written");
  }

  std::string differences;
  int compared = 0;
  auto compare = [&](const std::string &what, const std::vector<std::string> &found) {
    ++compared;
    if (found != expected)
      differences += (differences.empty() ? "\"" : ", \"") + what + "\"";
  };
  std::vector<std::string> backwards(lines.rbegin(), lines.rend());
  for (const NamedPath &path : kPaths)
    for (const char *way : {"", ", few blocks", ", large-M tiles", ", barriers", ", two block groups"}) {
      const std::string name = std::string(path.name) + way;
      auto is = [&](const char *word) { return name.find(word) != std::string::npos; };
      if ((is("barriers") || is("block groups")) && path.path != cuda::Path::Persistent)
        continue;
      cuda::Context context(on_device);
      context.choose_path(path.path);
      context.limit_blocks(is("few") ? 3 : 0);
      context.use_large_m_from(is("large-M") ? 1 : 0);
      context.distribute_to(is("block groups") ? 2 : 0);
      context.choose_waits(is("barriers") ? cuda::Waits::Barriers : cuda::Waits::Elements);
      session.compute_on(&context);
      for (size_t size : {size_t(1), size_t(3), lines.size()})
        compare(name + ", batch " + std::to_string(size), compute(program, session, lines, size));
      std::vector<std::string> found = compute(program, session, backwards, lines.size());
      std::reverse(found.begin(), found.end());
      compare(name + ", other order", found);
    }

  // Nothing but the run itself: the batch is read once.
  LineBatch batch(*program.code.info, program.info(), lines, 0, lines.size());
  cuda::Context context(on_device);
  session.compute_on(&context);
  expect(session.run(program.entry, batch.batch));
  const std::string bits = bits_of(session.outputs(program.entry));
  int different = results_of(session, program.entry, program.info(), batch) != expected;
  for (int n = 1; n < repeats; ++n) {
    expect(session.run(program.entry, batch.batch));
    different += bits_of(session.outputs(program.entry)) != bits;
  }
  std::printf(
      "{\"inputs\": %zu, \"compared\": %d, \"differences\": [%s], \"repeats\": %d, \"different\": %d, "
      "\"launches\": %lld}\n",
      lines.size(), compared, differences.c_str(), repeats, different,
      static_cast<long long>(context.launches()));
  return differences.empty() && different == 0 ? 0 : 3;
}
