// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// memory ENTRY LINES: runs the lines as batches of several sizes, one of them in sub-batches, on a device
// whose allocator counts. Prints for each sub-batch a line of JSON: the number of the first input and behind
// the last, what the sub-batch has and the bytes of its arrays (for that the model's code calls count and
// begin), the bytes of the model and those of the sub-batch. Fails where another number of bytes is given for
// a batch than the largest of its sub-batches needs, where a byte less would do, or where the same batch
// again is given more.
#include "Lines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>

using dbc::gpu::expect;

/// What a sub-batch has, and the bytes of its arrays, as JSON; what it needs.
struct SubBatch {
  std::string counts, arrays;
  size_t needed;
};
/// Of the batch in hand.
static std::vector<SubBatch> sub_batches;
static std::string counts;
void count(const char *what, int64_t number) {
  counts += std::string(counts.empty() ? "" : ", ") + "\"" + what + "\": " + std::to_string(number);
}
void begin_to_count() { counts.clear(); }
int64_t begin(dbc::cuda::Context &device, std::initializer_list<dbc::cuda::Region> regions) {
  std::string arrays;
  for (const dbc::cuda::Region &region : regions)
    arrays += (arrays.empty() ? "" : ", ") + std::to_string(region.bytes);
  const int64_t sub_batch = device.begin(regions);
  sub_batches.push_back({counts, arrays, device.needed_bytes()});
  return sub_batch;
}

/// Memory of the device, and how often some was asked for.
struct Memory {
  size_t bytes = 0;
  int requests = 0;

  dbc::cuda::Allocator allocator() {
    return {[](size_t size, void *self) {
              static_cast<Memory *>(self)->bytes += size;
              ++static_cast<Memory *>(self)->requests;
              return std::aligned_alloc(dbc::cuda::kLine, dbc::cuda::lines(size));
            },
            [](void *memory, size_t size, void *self) {
              static_cast<Memory *>(self)->bytes -= size;
              std::free(memory);
            },
            this};
  }
};

/// Runs a batch twice in sub-batches of so many inputs; `needed`: what the largest of them needs.
static dbc::Status run(const dbc::cuda::Model &on, int32_t entry, dbc::Batch &batch, int32_t sub_batch,
                       Memory &memory, size_t limit, size_t *needed) {
  dbc::cuda::ContextOptions options;
  options.limit_bytes = limit;
  options.allocator = memory.allocator();
  dbc::cuda::Context context(on, options);
  dbc::Session session(on.host());
  session.compute_on(&context);
  session.limit_sub_batch(sub_batch);
  if (dbc::Status status = session.run(entry, batch); !status.ok())
    return status;
  const size_t bytes = memory.bytes;
  const int requests = memory.requests;
  sub_batches.clear();
  expect(session.run(entry, batch));
  expect(memory.bytes == bytes && memory.requests == requests, "the same batch was given more memory");
  *needed =
      std::max_element(sub_batches.begin(), sub_batches.end(), [](const SubBatch &a, const SubBatch &b) {
        return a.needed < b.needed;
      })->needed;
  expect(limit == 0 || bytes == *needed, std::to_string(bytes) + " bytes were given, but " +
                                             std::to_string(*needed) + " are said to be needed");
  return dbc::Status();
}

int main(int, char **argv) {
  const dbc::gpu::Program program(argv[1], *DBC_GPU_CODE());
  Memory of_model;
  dbc::cuda::Model on;
  expect(dbc::cuda::Model::make(program.model, /*device=*/0, &on, of_model.allocator()));

  const std::vector<std::string> lines = dbc::gpu::read_lines(argv[2]);
  const size_t all = lines.size();
  for (const auto [begin, end, sub_batch] : {std::tuple<size_t, size_t, size_t>{0, 0, all},
                                             {0, 1, all},
                                             {1, 4, all},
                                             {0, all, all},
                                             {0, all, 5}}) {
    if (sub_batch < all && program.info().is_differentiated())
      continue; // gradients are of a whole batch
    dbc::gpu::LineBatch read(*program.code.info, program.info(), lines, begin, end);
    const auto run_with = [&](Memory &memory, size_t limit, size_t *needed) {
      return run(on, program.entry, read.batch, static_cast<int32_t>(sub_batch), memory, limit, needed);
    };
    Memory memory;
    size_t needed = 0, same = 0;
    expect(run_with(memory, /*limit=*/0, &needed));
    expect(run_with(memory, /*limit=*/needed, &same));
    expect(same == needed, "with a limit other bytes are needed");
    for (size_t n = 0; n < sub_batches.size(); ++n)
      std::printf("{\"begin\": %zu, \"end\": %zu, \"counts\": {%s}, \"arrays\": [%s], \"model\": %zu, "
                  "\"batch\": %zu}\n",
                  begin + n * sub_batch, std::min(begin + (n + 1) * sub_batch, end),
                  sub_batches[n].counts.c_str(), sub_batches[n].arrays.c_str(), of_model.bytes,
                  sub_batches[n].needed);
    const dbc::Status status = run_with(memory, needed - 1, &same);
    const std::string wanted =
        std::to_string(needed) + " bytes are needed, " + std::to_string(needed - 1) + " may be held";
    expect(status.code == dbc::Code::limit && status.message.find(wanted) != std::string::npos,
           "a byte less does too: " + status.message);
    expect(memory.bytes == 0, "not all memory was given back");
  }
  return 0;
}
