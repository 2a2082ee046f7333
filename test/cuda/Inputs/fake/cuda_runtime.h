// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A stand-in for CUDA's runtime that computes nothing, but fails as it does: a call returns what went wrong
// with it and leaves that for cudaGetLastError; what a kernel does to the device every call returns from then
// on.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>

#define __global__
#define __device__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorECCUncorrectable = 214,
  cudaErrorNvlinkUncorrectable = 220,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
  cudaErrorAssert = 710,
  cudaErrorHardwareStackError = 714,
  cudaErrorIllegalInstruction = 715,
  cudaErrorMisalignedAddress = 716,
  cudaErrorInvalidAddressSpace = 717,
  cudaErrorInvalidPc = 718,
  cudaErrorLaunchFailure = 719
};

namespace fake {
inline cudaError_t last = cudaSuccess;   ///< for cudaGetLastError
inline cudaError_t broken = cudaSuccess; ///< what a kernel has done to the device
inline cudaError_t breaks = cudaSuccess; ///< what the next kernel will
inline bool busy = false;                ///< streams are at work
inline cudaError_t result(cudaError_t code = cudaSuccess) {
  const cudaError_t reported = broken != cudaSuccess ? broken : code;
  if (reported != cudaSuccess)
    last = reported;
  return reported;
}
} // namespace fake

using cudaStream_t = struct FakeStream *;
using cudaGraph_t = struct FakeGraph *;
using cudaGraphExec_t = struct FakeGraphExec *;
struct dim3 {
  explicit dim3(unsigned) {}
};
struct cudaFuncAttributes {};
enum { cudaMemcpyDefault, cudaStreamNonBlocking, cudaStreamCaptureModeThreadLocal };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaDeviceAttr {
  cudaDevAttrComputeCapabilityMajor,
  cudaDevAttrComputeCapabilityMinor,
  cudaDevAttrCooperativeLaunch,
  cudaDevAttrMultiProcessorCount
};

inline cudaError_t cudaGetLastError() {
  const cudaError_t was = fake::broken != cudaSuccess ? fake::broken : fake::last;
  fake::last = cudaSuccess;
  return was;
}
inline const char *cudaGetErrorString(cudaError_t code) {
  return code == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "another error";
}
inline cudaError_t cudaGetDeviceCount(int *count) { return *count = 1, fake::result(); }
inline cudaError_t cudaGetDevice(int *device) { return *device = 0, fake::result(); }
inline cudaError_t cudaSetDevice(int) { return fake::result(); }
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int) {
  return *value = 8, fake::result();
}
template <class Kernel> cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *, Kernel) {
  return fake::result();
}
template <class Kernel> cudaError_t cudaFuncSetAttribute(Kernel, int, int) { return fake::result(); }
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, Kernel, int, size_t) {
  return *blocks = 1, fake::result();
}
inline cudaError_t cudaLaunchKernel(void *, dim3, dim3, void **, size_t, cudaStream_t) {
  const cudaError_t code = fake::result();
  if (fake::breaks != cudaSuccess)
    fake::broken = fake::breaks; // reported by what comes behind it
  return code;
}
inline cudaError_t cudaLaunchCooperativeKernel(void *kernel, dim3 blocks, dim3 threads, void **arguments,
                                               size_t shared, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, blocks, threads, arguments, shared, stream);
}
inline cudaError_t cudaMalloc(void **memory, size_t bytes) {
  const cudaError_t code = fake::result(bytes > size_t(1) << 40 ? cudaErrorMemoryAllocation : cudaSuccess);
  *memory = code == cudaSuccess ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
  return code;
}
inline cudaError_t cudaMallocHost(void **memory, size_t bytes) { return cudaMalloc(memory, bytes); }
inline cudaError_t cudaFree(void *memory) { return std::free(memory), fake::result(); }
inline cudaError_t cudaFreeHost(void *memory) { return cudaFree(memory); }
inline cudaError_t cudaMemGetInfo(size_t *free, size_t *all) { return *free = *all = 0, fake::result(); }
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t) {
  return std::memcpy(to, from, bytes), fake::result();
}
inline cudaError_t cudaMemsetAsync(void *memory, int byte, size_t bytes, cudaStream_t) {
  return std::memset(memory, byte, bytes), fake::result();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int) {
  static char only;
  return *stream = reinterpret_cast<cudaStream_t>(&only), fake::result();
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return fake::result(); }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return fake::result(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) {
  return fake::result(fake::busy ? cudaErrorNotReady : cudaSuccess);
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int) { return fake::result(); }
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *graph) {
  return *graph = nullptr, fake::result();
}
inline cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t, unsigned) {
  return *made = nullptr, fake::result();
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) { return fake::result(); }
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return fake::result(); }
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return fake::result(); }
