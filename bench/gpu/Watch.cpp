// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Watch.h"

#include "Lines.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace dbc::gpu {
namespace {

/// What there is once in a program: a backend is a set of functions without a state of their own.
struct State {
  const cuda::Backend *real = nullptr;
  cuda::Backend backend;
  std::vector<std::pair<const unsigned char *, size_t>> host; ///< memory for fast copies
  cudaEvent_t first, in, out, last;
  bool begun = false, leaving = false; ///< a copy was seen; copies come from the device
} state;

void check(cudaError_t code) { expect(code == cudaSuccess, cudaGetErrorString(code)); }
void record(cudaEvent_t event, void *stream) {
  check(cudaEventRecord(event, static_cast<cudaStream_t>(stream)));
}

bool is_host(const void *memory) {
  auto *at = static_cast<const unsigned char *>(memory);
  for (const auto &[begin, bytes] : state.host)
    if (at >= begin && at < begin + bytes)
      return true;
  return false;
}

void copy(void *to, const void *from, size_t bytes, void *stream) {
  const bool leaves = is_host(to);
  if (!state.begun)
    record(state.first, stream);
  // Behind kernels; the last time counts.
  if (leaves && !state.leaving)
    record(state.out, stream);
  state.real->copy(to, from, bytes, stream);
  if (!leaves && !state.begun)
    record(state.in, stream);
  state.begun = true;
  state.leaving = leaves;
  if (leaves)
    record(state.last, stream);
}

void *allocate_host(size_t bytes) {
  void *memory = state.real->allocate_host(bytes);
  if (memory != nullptr)
    state.host.push_back({static_cast<const unsigned char *>(memory), bytes});
  return memory;
}

Status wait(void *stream) {
  state.leaving = false;
  return state.real->wait(stream);
}

const cuda::Backend &backend() { return state.backend; }

} // namespace

ModelCode watched(const ModelCode &code) {
  state.real = &code.cuda();
  state.backend = *state.real;
  state.backend.copy = copy;
  state.backend.allocate_host = allocate_host;
  state.backend.wait = wait;
  for (cudaEvent_t *event : {&state.first, &state.in, &state.out, &state.last})
    check(cudaEventCreate(event));
  ModelCode own = code;
  own.cuda = backend;
  return own;
}

void begin_watch() { state.begun = state.leaving = false; }

DeviceTimes end_watch() {
  float whole = 0, kernels = 0;
  check(cudaEventSynchronize(state.last));
  check(cudaEventElapsedTime(&whole, state.first, state.last));
  check(cudaEventElapsedTime(&kernels, state.in, state.out));
  return {1e3 * whole, 1e3 * kernels};
}

} // namespace dbc::gpu
