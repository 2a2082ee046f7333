// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// memory ENTRY LINES: runs the lines as batches of several sizes on a device whose allocator counts. Prints
// for each a line of JSON: the number of the first input and behind the last, what the batch has and the
// bytes of its arrays (for that the model's code calls count and begin), the bytes of the model and those of
// the batch. Fails where another number of bytes is given than the context says, where a byte less would do,
// or where the same batch again is given more.
#include "Lines.h"

#include <cstdio>
#include <cstdlib>
#include <string>

using dbc::gpu::expect;

/// What the batch in hand has, and the bytes of its arrays, as JSON.
static std::string counts, arrays;
void count(const char *what, int64_t number) {
  counts += std::string(counts.empty() ? "" : ", ") + "\"" + what + "\": " + std::to_string(number);
}
void begin_to_count() { counts.clear(); }
int64_t begin(dbc::cuda::Context &device, std::initializer_list<dbc::cuda::Region> regions) {
  arrays.clear();
  for (const dbc::cuda::Region &region : regions)
    arrays += (arrays.empty() ? "" : ", ") + std::to_string(region.bytes);
  return device.begin(regions);
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

static dbc::Status run(const dbc::cuda::Model &on, int32_t entry, dbc::Batch &batch, Memory &memory,
                       size_t limit, size_t *needed) {
  dbc::cuda::ContextOptions options;
  options.limit_bytes = limit;
  options.allocator = memory.allocator();
  dbc::cuda::Context context(on, options);
  dbc::Session session(on.host());
  session.compute_on(&context);
  if (dbc::Status status = session.run(entry, batch); !status.ok())
    return status;
  *needed = context.needed_bytes();
  const size_t bytes = memory.bytes;
  const int requests = memory.requests;
  expect(limit == 0 || bytes == *needed, std::to_string(bytes) + " bytes were given, but " +
                                             std::to_string(*needed) + " are said to be needed");
  expect(session.run(entry, batch));
  expect(memory.bytes == bytes && memory.requests == requests, "the same batch was given more memory");
  return dbc::Status();
}

int main(int, char **argv) {
  const dbc::gpu::Program program(argv[1], *DBC_GPU_CODE());
  Memory of_model;
  dbc::cuda::Model on;
  expect(dbc::cuda::Model::make(program.model, /*device=*/0, &on, of_model.allocator()));

  const std::vector<std::string> lines = dbc::gpu::read_lines(argv[2]);
  for (const auto [begin, end] : {std::pair<size_t, size_t>{0, 0}, {0, 1}, {1, 4}, {0, lines.size()}}) {
    dbc::gpu::LineBatch read(*program.code.info, program.info(), lines, begin, end);
    dbc::Batch &batch = read.batch;
    const int32_t entry = program.entry;
    Memory memory;
    size_t needed = 0, same = 0;
    expect(run(on, entry, batch, memory, /*limit=*/0, &needed));
    expect(run(on, entry, batch, memory, /*limit=*/needed, &same));
    expect(same == needed, "with a limit other bytes are needed");
    const dbc::Status status = run(on, entry, batch, memory, needed - 1, &same);
    const std::string wanted =
        std::to_string(needed) + " bytes are needed, " + std::to_string(needed - 1) + " may be held";
    expect(status.code == dbc::Code::limit && status.message.find(wanted) != std::string::npos,
           "a byte less does too: " + status.message);
    expect(memory.bytes == 0, "not all memory was given back");
    std::printf("{\"begin\": %zu, \"end\": %zu, \"counts\": {%s}, \"arrays\": [%s], \"model\": %zu, "
                "\"batch\": %zu}\n",
                begin, end, counts.c_str(), arrays.c_str(), of_model.bytes, needed);
  }
  return 0;
}
