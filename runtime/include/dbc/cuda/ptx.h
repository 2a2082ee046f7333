// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The instructions of NVIDIA's cards that C++ has no words for, each beside what it means in C++.
#pragma once

#include <cstdint>

#ifndef __CUDACC__
#include <dbc/cuda/shim.h>
#endif

namespace dbc::cuda {

/// Adds to a number that other blocks read; what the thread wrote before is seen by whoever sees the sum with
/// load_acquire.
__device__ __forceinline__ void add_release(int32_t *at, int32_t value) {
#ifdef __CUDA_ARCH__
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
  *at = static_cast<int32_t>(static_cast<uint32_t>(*at) + static_cast<uint32_t>(value)); // goes round
#endif
}

/// A number that other blocks add to.
__device__ __forceinline__ int32_t load_acquire(const int32_t *at) {
#ifdef __CUDA_ARCH__
  int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
#else
  return *at;
#endif
}

} // namespace dbc::cuda
