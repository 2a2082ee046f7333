// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs kernels on the CPU, for tests on machines without a GPU. Every thread of a block is a fiber; a few
// blocks are there at once. The interleaving comes from a seed (DBC_SHIM_SEED in the environment, or seed()):
// one warp is favoured for a while and the others are held back, so that a barrier that is missing shows.
// Shared memory begins as what is no number.
//
// It reports threads of a block that end, or wait at another barrier, while others wait at one, and a kernel
// in which nobody can go on; loads of 16 bytes at other addresses than multiples of 16; arrays of a stage
// that overlap in shared memory; and what is written behind an array of the device's memory, where a guard
// zone stands (with DBC_SHIM_GUARD_ZONES=0 there are none, and memory is as on a GPU). It does not see what
// the memory model allows beyond an interleaving, or limits of launches: these need a GPU.
//
// Each thread of the host has a machine of its own.
#pragma once

#include <dbc/cuda/shim_machine.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define DBC_SHIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DBC_SHIM_ASAN 1
#endif
#endif
#ifdef DBC_SHIM_ASAN
#include <sanitizer/asan_interface.h>
#endif

#ifndef DBC_SHIM_GUARD_ZONES
#define DBC_SHIM_GUARD_ZONES 1
#endif

// The words of CUDA that emitted kernels use.
#define __global__
#define __device__
#define __forceinline__ inline
#define DBC_UNROLL
#define DBC_NO_UNROLL
#define __launch_bounds__(...)
#define __syncthreads() ::dbc::cuda::shim::Machine::own().barrier(__LINE__)
#define __syncwarp() ::dbc::cuda::shim::Machine::own().warp_barrier(__LINE__)
#define threadIdx (::dbc::cuda::shim::Machine::own().thread())
#define blockIdx (::dbc::cuda::shim::Machine::own().block())
#define blockDim (::dbc::cuda::shim::Machine::own().block_size())
#define gridDim (::dbc::cuda::shim::Machine::own().grid_size())
#define DBC_SHARED(type, name, offset, count)                                                                \
  type *const name = ::dbc::cuda::shim::Machine::own().shared<type>(__LINE__, __func__, offset, count)
#define DBC_RESIDENT(type, name, offset, count)                                                              \
  type *const name = ::dbc::cuda::shim::Machine::own().shared<type>(__LINE__, nullptr, offset, count)

namespace dbc::cuda {
namespace shim {

inline void *allocate(size_t bytes) {
  constexpr size_t kLine = 256;
  return std::aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
}

#ifdef DBC_SHIM_ASAN
/// Whether the sanitizer heeds what is poisoned: it may be told not to (allow_user_poisoning=0), as where
/// LLVM's libraries are in the program. Guard zones are filled then, as without it.
inline bool poisons() {
  alignas(8) static char probe[8];
  __asan_poison_memory_region(probe, sizeof probe);
  const bool heeded = __asan_address_is_poisoned(probe) != 0;
  __asan_unpoison_memory_region(probe, sizeof probe);
  return heeded;
}

/// Makes a guard zone that nobody may read or write, or takes it down.
inline void poison(void *memory, size_t bytes, bool up) {
  (up ? __asan_poison_memory_region : __asan_unpoison_memory_region)(memory, bytes);
}
#endif

} // namespace shim

inline int32_t atomicAdd(int32_t *at, int32_t value) { return std::exchange(*at, *at + value); }

/// Waiting in a loop for what another block does.
struct Spin {
  void wait(const Progress &at = {}) { shim::Machine::own().spin(at); }
};

/// Whether a kernel may have so much: here there is any.
template <class... Parameters> bool give_shared(void (*)(Parameters...), size_t) { return true; }

/// Runs a kernel to its end; what goes wrong is reported by Backend::wait.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int32_t blocks, size_t shared, void *, Parameters... arguments) {
  shim::Machine::own().perform([=] {
    shim::Machine::own().launch([&] { kernel(arguments...); }, {blocks, 1}, kThreads, shared, false);
  });
}

/// Blocks of each group that are there at once.
template <class... Parameters>
int32_t blocks_per_group(void (*)(Parameters...), const PersistentLoop &loop, size_t) {
  return std::min(loop.blocks, shim::Machine::own().co_resident()) / loop.block_groups;
}

/// Runs a kernel with so many: block groups are rows of the grid.
template <class... Parameters>
void launch_cooperative(void (*kernel)(Parameters...), const PersistentLoop &loop, size_t shared, void *,
                        Parameters... arguments) {
  shim::Machine::own().perform([=] {
    shim::Machine::own().launch([&] { kernel(arguments...); },
                                {std::max(1, blocks_per_group(kernel, loop, shared)), loop.block_groups},
                                kThreads, shared, true);
  });
}

// A program may have several models: each has its own, and must not get one that runs on a GPU.
namespace {
[[maybe_unused]] const Backend &backend() {
  static const Backend backend = {
      [](int32_t device, void **stream) {
        static char only; // a stream is never null
        if (stream != nullptr)
          *stream = &only;
        return device == 0 ? Status()
                           : Status::error(Code::bad_call, "CUDA on the CPU: there is no device " +
                                                               std::to_string(device) + ", only device 0");
      },
      [](int32_t) {},
      [](void *) {},
      shim::allocate,
      [](void *memory) { std::free(memory); },
      shim::allocate,
      [](void *memory) { std::free(memory); },
      nullptr,
      [](void *to, const void *from, size_t bytes, void *) {
        shim::Machine::own().perform([=] { std::memcpy(to, from, bytes); });
      },
      [](void *memory, size_t bytes, void *) {
        shim::Machine::own().perform([=] { std::memset(memory, 0xff, bytes); });
      },
      [] { return Status(); },
      [](void *) {
        if (shim::Machine::own().capturing())
          return Status::error(Code::internal, "CUDA on the CPU: what is only written down is waited for");
        std::string failure = shim::Machine::own().take_failure();
        return failure.empty() ? Status() : Status::error(Code::internal, "CUDA on the CPU: " + failure);
      },
      [](void *memory, size_t bytes) { std::memset(memory, shim::Machine::own().rubbish(), bytes); },
      [](int32_t) { return shim::Machine::own().co_resident(); },
      [](void **stream) {
        static char other;
        *stream = &other;
        shim::Machine::own().capture();
        return Status();
      },
      [](void *, void **graph) {
        *graph = new shim::Machine::Graph(shim::Machine::own().end_capture());
        return Status();
      },
      [](void *graph, void *) {
        for (const std::function<void()> &work : *static_cast<shim::Machine::Graph *>(graph))
          shim::Machine::own().perform(work);
      },
      [](void *graph) { delete static_cast<shim::Machine::Graph *>(graph); },
#ifdef DBC_SHIM_ASAN
      shim::poisons() ? shim::poison : shim::set_guard_zone,
      nullptr,
      nullptr,
      shim::poisons() ? nullptr : shim::untouched,
#elif DBC_SHIM_GUARD_ZONES
      shim::set_guard_zone,
      nullptr,
      nullptr,
      shim::untouched,
#else
      nullptr,
#endif
  };
  return backend;
}
} // namespace

} // namespace dbc::cuda
