// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// CUDA itself, as nvcc sees it: shared memory, launches, and the functions of a Backend.
#pragma once

#include <dbc/cuda/arrays.h>

#include <cuda_runtime.h>

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#error "kernels are for GPUs with sm_80 or later, whose tensor cores have tf32"
#endif

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>

/// Memory that the threads of a block have in common: `count` elements from byte `offset` on.
#define DBC_SHARED(type, name, offset, count)                                                                \
  type *const name = reinterpret_cast<type *>(dbc_shared_memory + (offset))
/// The same where nothing else may lie as long as the kernel runs: arrays of functions that it calls neither.
#define DBC_RESIDENT(type, name, offset, count) DBC_SHARED(type, name, offset, count)
extern __shared__ __align__(16) unsigned char dbc_shared_memory[];

/// Before loops whose arrays are registers when all counters are known.
#define DBC_UNROLL _Pragma("unroll")
/// Before loops whose loads would take all registers, were they begun together.
#define DBC_NO_UNROLL _Pragma("unroll 1")

namespace dbc::cuda {

/// Waiting in a loop for what another block does. In builds without NDEBUG there is an end to it, and it is
/// reported which block waits and how far it came.
class Spin {
public:
  __device__ __forceinline__ void wait([[maybe_unused]] const Progress &at = {}) {
#ifndef NDEBUG
    if (++rounds_ == 1u << 27) {
      printf("dbc: block %d of %d waits for blocks that do not come, at %s, level or step %d, row %d\n",
             int(blockIdx.y * gridDim.x + blockIdx.x), int(gridDim.x * gridDim.y),
             at.stage != nullptr ? at.stage : "no stage", int(at.time_step), int(at.row));
      __trap();
    }
#endif
  }

private:
#ifndef NDEBUG
  unsigned rounds_ = 0;
#endif
};

/// Of what the calling thread began, the first failure that is not yet reported: of the program, whatever
/// models it has, as each call is asked for its own and the thread's last error may be the application's.
inline cudaError_t &failed_to_begin() {
  static thread_local cudaError_t first = cudaSuccess;
  return first;
}
inline void note(cudaError_t code) {
  if (code == cudaSuccess)
    return;
  (void)cudaGetLastError(); // it is reported by Backend::begun
  if (failed_to_begin() == cudaSuccess)
    failed_to_begin() = code;
}

/// A kernel on a device: what the device says of it stays so, and a thread asks once.
using KernelOnDevice = std::pair<const void *, int>;
template <class... Parameters> KernelOnDevice on_device(void (*kernel)(Parameters...)) {
  int device = 0;
  note(cudaGetDevice(&device));
  return {reinterpret_cast<const void *>(kernel), device};
}

/// What GPUs give a block of threads without being asked.
constexpr size_t kSharedUnasked = 48 << 10;
/// Whether the device has `shared` bytes of shared memory for a block of a kernel; then it gives them. A
/// kernel has one such number.
template <class... Parameters> bool give_shared(void (*kernel)(Parameters...), size_t shared) {
  if (shared <= kSharedUnasked)
    return true;
  static thread_local std::map<KernelOnDevice, bool> asked;
  auto [given, is_new] = asked.try_emplace(on_device(kernel), false);
  if (is_new) {
    const cudaError_t code =
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared));
    (void)cudaGetLastError(); // it is reported here
    given->second = code == cudaSuccess;
    if (code != cudaSuccess && code != cudaErrorInvalidValue) { // that is not for want of it
      asked.erase(given);
      return false;
    }
  }
  return given->second;
}

/// Runs a kernel with `shared` bytes of shared memory; what goes wrong is reported by Backend::begun and
/// wait.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int32_t blocks, size_t shared, void *stream,
            Parameters... arguments) {
  give_shared(kernel, shared);
  void *pointers[] = {static_cast<void *>(&arguments)...};
  note(cudaLaunchKernel(reinterpret_cast<void *>(kernel), dim3(blocks), dim3(kThreads), pointers, shared,
                        static_cast<cudaStream_t>(stream)));
}

/// How many blocks of a kernel the device has room for at once; none where it has not so much shared memory
/// for one. A kernel has one such number.
template <class... Parameters> int32_t max_resident_blocks(void (*kernel)(Parameters...), size_t shared) {
  static thread_local std::map<KernelOnDevice, int32_t> asked;
  const KernelOnDevice asking = on_device(kernel);
  if (const auto known = asked.find(asking); known != asked.end())
    return known->second;
  if (!give_shared(kernel, shared))
    return 0;
  int processors = 0, on_each = 0;
  cudaError_t code = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, asking.second);
  if (code == cudaSuccess)
    code = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_each, kernel, kThreads, shared);
  note(code);
  if (code != cudaSuccess) // that passes
    return 0;
  return asked[asking] = processors * on_each;
}

/// Blocks of each group that a device has at once in a launch of a persistent kernel.
template <class... Parameters>
int32_t blocks_per_group(void (*kernel)(Parameters...), const PersistentLoop &loop, size_t shared) {
  return std::min(loop.blocks, max_resident_blocks(kernel, shared)) / loop.block_groups;
}

/// Runs a kernel with so many blocks that all of them are there at once: they may wait for each other. Block
/// groups are rows of the grid.
template <class... Parameters>
void launch_cooperative(void (*kernel)(Parameters...), const PersistentLoop &loop, size_t shared,
                        void *stream, Parameters... arguments) {
  const dim3 grid(std::max(1, blocks_per_group(kernel, loop, shared)), loop.block_groups);
  void *pointers[] = {static_cast<void *>(&arguments)...};
  note(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(kernel), grid, dim3(kThreads), pointers, shared,
                                   static_cast<cudaStream_t>(stream)));
}

// A program may have several models, each compiled for GPUs of its own: what asks for its kernels must not
// be merged with another one's.
namespace {
namespace gpu {
inline Status error(const char *what, cudaError_t code, Code kind = Code::limit) {
  return Status::error(kind, std::string("CUDA: ") + what + ": " + cudaGetErrorString(code));
}
/// Whether the device does not get over that: from then on every call of the program fails with it, whatever
/// is called.
inline bool lasts(cudaError_t code) {
  switch (code) {
  case cudaErrorECCUncorrectable:
  case cudaErrorNvlinkUncorrectable:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalAddress:
  case cudaErrorIllegalInstruction:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorLaunchFailure:
  case cudaErrorLaunchTimeout:
  case cudaErrorMisalignedAddress:
  case cudaErrorAssert:
    return true;
  default:
    return false;
  }
}
/// What goes wrong before anything was begun here: that may be due to what the program did before.
inline Status error_before(const char *what, cudaError_t code) {
  return error(lasts(code) ? "the device failed before, at something else that the program began" : what,
               code);
}
inline Status failed_before(void *stream) {
  const cudaError_t code = cudaStreamQuery(static_cast<cudaStream_t>(stream));
  if (code == cudaSuccess)
    return Status();
  if (code == cudaErrorNotReady) {
    (void)cudaGetLastError(); // it is no failure
    return Status();
  }
  return error_before("the stream cannot be used", code);
}

__global__ void probe() {}

inline Status open(int32_t device, void **stream) {
  int count = 0;
  if (cudaError_t code = cudaGetDeviceCount(&count); code != cudaSuccess) {
    (void)cudaGetLastError(); // it is reported here
    return error_before("there is no device to compute on", code);
  }
  if (device < 0 || device >= count)
    return Status::error(Code::bad_call, "CUDA: there is no device " + std::to_string(device) + ", only " +
                                             std::to_string(count));
  if (cudaError_t code = cudaSetDevice(device); code != cudaSuccess)
    return error_before("the device cannot be used", code);
  cudaFuncAttributes attributes;
  if (cudaError_t code = cudaFuncGetAttributes(&attributes, probe); code != cudaSuccess) {
    (void)cudaGetLastError(); // it is reported here
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    std::string architecture = "sm_" + std::to_string(major) + std::to_string(minor);
#ifdef DBC_CUDA_ARCHITECTURES
    return error_before(
        ("the program has code for " DBC_CUDA_ARCHITECTURES ", the device is " + architecture).c_str(), code);
#else
    return error_before(("the program has no code for the device, " + architecture).c_str(), code);
#endif
  }
  if (stream == nullptr)
    return Status();
  cudaStream_t made;
  if (cudaError_t code = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking); code != cudaSuccess)
    return error_before("no stream can be made", code);
  *stream = made;
  return Status();
}

inline void *allocate(size_t bytes) {
  void *memory = nullptr;
  if (cudaMalloc(&memory, bytes) == cudaSuccess)
    return memory;
  (void)cudaGetLastError(); // said by the null
  return nullptr;
}
inline void *allocate_host(size_t bytes) {
  void *memory = nullptr;
  if (cudaMallocHost(&memory, bytes) == cudaSuccess)
    return memory;
  (void)cudaGetLastError();
  return nullptr;
}

inline int32_t co_resident(int32_t device) {
  int does = 0, processors = 0;
  if (cudaDeviceGetAttribute(&does, cudaDevAttrCooperativeLaunch, device) == cudaSuccess &&
      cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) == cudaSuccess)
    return does != 0 ? processors : 0;
  (void)cudaGetLastError(); // it does not
  return 0;
}

inline Status no_graph(cudaError_t code) {
  (void)cudaGetLastError(); // it is reported here
  return error("no graph of launches can be made", code,
               code == cudaErrorMemoryAllocation ? Code::limit : Code::internal);
}
inline Status capture(void **stream) {
  cudaStream_t made = nullptr;
  cudaError_t code = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
  if (code == cudaSuccess)
    code = cudaStreamBeginCapture(made, cudaStreamCaptureModeThreadLocal);
  if (code != cudaSuccess && made != nullptr)
    cudaStreamDestroy(made);
  *stream = made;
  return code == cudaSuccess ? Status() : no_graph(code);
}
inline Status end_capture(void *stream, void **graph) {
  cudaGraph_t written = nullptr;
  cudaError_t code = cudaStreamEndCapture(static_cast<cudaStream_t>(stream), &written);
  cudaStreamDestroy(static_cast<cudaStream_t>(stream));
  cudaGraphExec_t made = nullptr;
  if (code == cudaSuccess)
    code = cudaGraphInstantiateWithFlags(&made, written, 0);
  if (written != nullptr)
    cudaGraphDestroy(written);
  *graph = made;
  return code == cudaSuccess ? Status() : no_graph(code);
}

inline Status begun() {
  const cudaError_t code = std::exchange(failed_to_begin(), cudaSuccess);
  return code == cudaSuccess ? Status()
                             : error("a kernel or a copy could not be begun", code, Code::internal);
}
inline Status wait(void *stream) {
  const cudaError_t code = cudaStreamSynchronize(static_cast<cudaStream_t>(stream));
  if (code == cudaSuccess)
    return Status();
  (void)cudaGetLastError(); // it is reported here
  return error("a kernel failed", code, Code::internal);
}
} // namespace gpu

const Backend &backend() {
  static const Backend backend = {
      gpu::open,
      [](int32_t device) { cudaSetDevice(device); },
      [](void *stream) { cudaStreamDestroy(static_cast<cudaStream_t>(stream)); },
      gpu::allocate,
      [](void *memory) { cudaFree(memory); },
      gpu::allocate_host,
      [](void *memory) { cudaFreeHost(memory); },
      [] {
        size_t free = 0, all = 0;
        cudaMemGetInfo(&free, &all);
        return free;
      },
      [](void *to, const void *from, size_t bytes, void *stream) {
        note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
      },
      [](void *memory, size_t bytes, void *stream) {
        note(cudaMemsetAsync(memory, 0xff, bytes, static_cast<cudaStream_t>(stream)));
      },
      gpu::begun,
      gpu::wait,
      nullptr,
      gpu::co_resident,
      gpu::capture,
      gpu::end_capture,
      [](void *graph, void *stream) {
        note(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), static_cast<cudaStream_t>(stream)));
      },
      [](void *graph) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph)); },
      nullptr,
      nullptr,
      gpu::failed_before,
  };
  return backend;
}
} // namespace

} // namespace dbc::cuda
