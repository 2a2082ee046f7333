// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Marks short functions that are called for each row or number: compilers give up on inlining long before
// generated code is done. Kernels have them, too.
#pragma once

#if defined(__CUDACC__)
#define DBC_INLINE __host__ __device__ __forceinline__
#else
#define DBC_INLINE inline __attribute__((always_inline))
#endif
