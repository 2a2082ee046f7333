// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The instructions of NVIDIA's GPUs that C++ has no words for, each beside what it means in C++.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/math.h>

#include <cstdint>
#include <cstring>

#ifndef __CUDACC__
#include <dbc/cuda/shim.h>
#endif

namespace dbc::cuda {

/// Adds to a number that other blocks read; what the thread wrote before is seen by whoever sees the sum with
/// load_acquire.
__device__ __forceinline__ void add_release(int32_t *at, int32_t value) {
#ifdef __CUDACC__
  asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
  *at = static_cast<int32_t>(static_cast<uint32_t>(*at) + static_cast<uint32_t>(value)); // goes round
#endif
}

/// A number that other blocks add to.
__device__ __forceinline__ int32_t load_acquire(const int32_t *at) {
#ifdef __CUDACC__
  int32_t value;
  asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
  return value;
#else
  return *at;
#endif
}

/// A number that another block may write meanwhile: before it is, or behind that. No other number is ordered
/// by it.
__device__ __forceinline__ float load_relaxed(const float *at) {
#ifdef __CUDACC__
  float value;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(value) : "l"(at) : "memory");
  return value;
#else
  return *at;
#endif
}
/// Writes a number once that other blocks may wait for, or several times the same.
__device__ __forceinline__ void store_relaxed(float *at, float value) {
#ifdef __CUDACC__
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(at), "f"(value) : "memory");
#else
  uint32_t before, now;
  std::memcpy(&before, at, sizeof before);
  std::memcpy(&now, &value, sizeof now);
  if (before != kUnset && before != now)
    shim::Machine::own().fail("an element that blocks wait for is written twice");
  *at = value;
#endif
}

/// The leading 11 bits of a number, which tensor cores take of it.
__device__ __forceinline__ float cut_to_tf32(float x) {
#ifdef __CUDACC__
  return __uint_as_float(__float_as_uint(x) & 0xffffe000u);
#else
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0xffffe000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
#endif
}
/// One of the two numbers of 11 bits next to x: the nearer one, but for rests of 0.32 to 0.66 of the way, as
/// it is one multiplication, where the GPU's own rounding is three instructions. It adds half a unit of the
/// 11 bits on the average, so that what is lost has no sign on the whole. What has 11 bits stays.
__device__ __forceinline__ float round_to_tf32(float x) { return cut_to_tf32(x * (1 + 0.34f / 1024)); }

/// Four numbers at a multiple of 16 bytes.
__device__ __forceinline__ float4 load_quad(const float *at) {
#ifdef __CUDACC__
  return *reinterpret_cast<const float4 *>(at);
#else
  if (reinterpret_cast<uintptr_t>(at) % 16 != 0)
    shim::Machine::own().fail("16 bytes are loaded that begin at no multiple of 16");
  float4 quad;
  std::memcpy(&quad, at, sizeof quad);
  return quad;
#endif
}

/// The same where other blocks may write them meanwhile, each by itself.
__device__ __forceinline__ float4 load_quad_relaxed(const float *at) {
#ifdef __CUDACC__
  float4 quad;
  asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(quad.x), "=f"(quad.y), "=f"(quad.z), "=f"(quad.w)
               : "l"(at)
               : "memory");
  return quad;
#else
  return load_quad(at);
#endif
}

/// Two numbers to a multiple of 8 bytes.
__device__ __forceinline__ void store_pair(float *at, float a, float b) {
#ifdef __CUDACC__
  *reinterpret_cast<float2 *>(at) = {a, b};
#else
  if (reinterpret_cast<uintptr_t>(at) % 8 != 0)
    shim::Machine::own().fail("8 bytes are stored that begin at no multiple of 8");
  at[0] = a;
  at[1] = b;
#endif
}

/// Begins to copy four numbers into memory that the threads of a block share, both at multiples of 16 bytes;
/// of these only the first `count` are read, the others are 0. They are there for this thread behind
/// wait_for_copies().
__device__ __forceinline__ void copy_quad(float *shared, const float *from, int32_t count = 4) {
#ifdef __CUDACC__
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(from), "r"(count * 4)
               : "memory");
#else
  shim::Machine::own().copy_later(shared, from, 4, count);
#endif
}
/// The same of one number, or of none.
__device__ __forceinline__ void copy_number(float *shared, const float *from, int32_t count) {
#ifdef __CUDACC__
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(shared))),
               "l"(from), "r"(count * 4)
               : "memory");
#else
  shim::Machine::own().copy_later(shared, from, 1, count);
#endif
}

/// Until all copies are there that this thread began.
__device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_all;" ::: "memory");
#else
  shim::Machine::own().land_copies();
#endif
}
/// What this thread began to copy since it called this last is a group, which may be empty.
__device__ __forceinline__ void end_copy_group() {
#ifdef __CUDACC__
  asm volatile("cp.async.commit_group;" ::: "memory");
#else
  shim::Machine::own().end_copy_group();
#endif
}
/// Until all groups but the last kPending are there.
template <int32_t kPending> __device__ __forceinline__ void wait_for_copies() {
#ifdef __CUDACC__
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
#else
  shim::Machine::own().land_copies(kPending);
#endif
}

/// What the lane of this warp has whose number differs in the bit `bit`. By a warp.
template <class T> __device__ __forceinline__ T of_other_lane(T mine, int32_t bit) {
#ifdef __CUDACC__
  return __shfl_xor_sync(0xffffffffu, mine, bit);
#else
  float mail[4] = {};
  static_assert(sizeof mine <= sizeof mail, "what lanes send each other");
  std::memcpy(mail, &mine, sizeof mine);
  const auto *of_all = shim::Machine::own().exchange(mail);
  T other;
  std::memcpy(&other, of_all[threadIdx.x % kWarp ^ bit], sizeof other);
  return other;
#endif
}

/// The sum of what the lanes of a warp have: that of each and that of the lane 16 numbers from it, then 8, 4,
/// 2 and 1. All lanes have the result. By a warp.
template <class T> __device__ __forceinline__ T sum_of_lanes(T mine) {
  DBC_UNROLL
  for (int32_t bit = kWarp / 2; bit > 0; bit /= 2)
    mine = mine + of_other_lane(mine, bit);
  return mine;
}
/// Of what the lanes of a warp have the one that comes before all others; of equals, which zeros of both
/// signs are, that with the least `at`, a position in the row. What is no number comes first. By a warp.
template <class T, class Before>
__device__ __forceinline__ T first_of_lanes(T mine, int32_t at, Before before) {
  DBC_UNROLL
  for (int32_t bit = kWarp / 2; bit > 0; bit /= 2) {
    const T other = of_other_lane(mine, bit);
    const int32_t other_at = of_other_lane(at, bit);
    if (before(other, mine) || other != other || (other == mine && other_at < at)) {
      mine = other;
      at = other_at;
    }
  }
  return mine;
}
template <class T> __device__ __forceinline__ T most_of_lanes(T mine, int32_t at) {
  return first_of_lanes(mine, at, [](T a, T b) { return a > b; });
}
template <class T> __device__ __forceinline__ T least_of_lanes(T mine, int32_t at) {
  return first_of_lanes(mine, at, [](T a, T b) { return a < b; });
}

#ifdef __CUDACC__
/// sum += a b of a 16 x 8 and an 8 x 8 matrix, by a warp: volatile, as it must not move to where some of its
/// threads do not come.
__device__ __forceinline__ void mma_tf32(float (&sum)[4], const float (&a)[4], float b0, float b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
               "%9}, {%0, %1, %2, %3};"
               : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
               : "r"(__float_as_uint(a[0])), "r"(__float_as_uint(a[1])), "r"(__float_as_uint(a[2])),
                 "r"(__float_as_uint(a[3])), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
#endif

/// Adds to the sums of a warp what a K tile gives. `weights` are the K tile's kNTiles fragments, for tf32
/// rounded already; x of thread 4 g + t inputs 4 t .. 4 t + 3 of row g of an M tile. Of each N tile that
/// thread has the sums of outputs g and g + 8, and of each of these those of rows 2 t and 2 t + 1. By a warp.
template <Math kMath, int32_t kNTiles>
__device__ __forceinline__ void multiply_k_tile(float (&sums)[kNTiles][4], const float *weights,
                                                const float (&x)[4]) {
#ifdef __CUDACC__
  float high[4], low[4];
  DBC_UNROLL
  for (int32_t n = 0; n < 4; ++n) {
    high[n] = round_to_tf32(x[n]); // what is left has either sign, and so has what is cut of it
    low[n] = x[n] - high[n];
  }
  const float *quads = weights + threadIdx.x % kWarp * 4;
  // N tiles at once, so that no sum waits for itself. Up to five, the gates of a cell, are multiplied all at
  // once: five in two parts took more registers.
  constexpr int32_t kInterleaved = kNTiles <= 5 ? kNTiles : 3;
  DBC_UNROLL
  for (int32_t first = 0; first < kNTiles; first += kInterleaved)
    DBC_UNROLL
  for (int32_t step = 0; step < 2; ++step) {
    float weight[kInterleaved][4], rest[kInterleaved][4];
    DBC_UNROLL
    for (int32_t t = 0; t < kInterleaved && first + t < kNTiles; ++t) {
      const float4 quad = load_quad(quads + ((first + t) * 2 + step) * kWarp * 4);
      const float whole[4] = {quad.x, quad.z, quad.y, quad.w};
      DBC_UNROLL
      for (int32_t n = 0; n < 4; ++n) {
        weight[t][n] = kMath == Math::tf32 ? whole[n] : round_to_tf32(whole[n]);
        rest[t][n] = whole[n] - weight[t][n];
      }
    }
    auto multiply = [&](const float(&a)[kInterleaved][4], const float(&b)[4]) {
      DBC_UNROLL
      for (int32_t t = 0; t < kInterleaved && first + t < kNTiles; ++t)
        mma_tf32(sums[first + t], a[t], b[2 * step], b[2 * step + 1]);
    };
    if (kMath == Math::tf32x3) {
      multiply(rest, high);
      multiply(weight, low);
    }
    multiply(weight, high);
  }
#else
  const int32_t g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
  const auto *of_all = shim::Machine::own().exchange(x); // each row's are those of four threads
  const shim::KTile rows[2] = {shim::k_tile_of_row(of_all[2 * t * 4]),
                               shim::k_tile_of_row(of_all[(2 * t + 1) * 4])};
  for (int32_t n_tile = 0; n_tile < kNTiles; ++n_tile)
    for (int32_t half = 0; half < 2; ++half) {
      const shim::KTile of_output =
          shim::k_tile_of_weights(kMath, weights + n_tile * kFragment, g + half * 8);
      for (int32_t row = 0; row < 2; ++row)
        shim::add_as_tensor_cores(kMath, sums[n_tile][half * 2 + row], of_output, rows[row]);
    }
#endif
}

/// Adds to the sums of a warp what 16 rows give: of element i of the first operand's rows and j of the
/// second's their products, row by row. Rows are `pitch` numbers apart. Of M tile m and N tile n thread
/// 4 g + t has in sums[m][n] those of i = 16 m + g and 16 m + g + 8, of each j = 8 n + 2 t and the next one.
/// By a warp.
template <Math kMath, int32_t kMTiles, int32_t kNTiles>
__device__ __forceinline__ void multiply_columns(float (&sums)[kMTiles][kNTiles][4], const float *first,
                                                 const float *second, int32_t pitch) {
  const int32_t g = threadIdx.x % kWarp / 4, t = threadIdx.x % 4;
#ifdef __CUDACC__
  DBC_UNROLL
  for (int32_t step = 0; step < 2; ++step) {
    float high[kMTiles][4], low[kMTiles][4], weight[kNTiles][2], rest[kNTiles][2];
    auto cut = [](float whole, float &kept, float &left) {
      kept = round_to_tf32(whole);
      left = whole - kept;
    };
    DBC_UNROLL
    for (int32_t m = 0; m < kMTiles; ++m)
      DBC_UNROLL
    for (int32_t n = 0; n < 4; ++n)
      cut(first[(step * 8 + t + n / 2 * 4) * pitch + m * 16 + n % 2 * 8 + g], high[m][n], low[m][n]);
    DBC_UNROLL
    for (int32_t m = 0; m < kNTiles; ++m)
      DBC_UNROLL
    for (int32_t n = 0; n < 2; ++n)
      cut(second[(step * 8 + t + n * 4) * pitch + m * 8 + g], weight[m][n], rest[m][n]);
    auto multiply = [&](const float(&a)[kMTiles][4], const float(&b)[kNTiles][2]) {
      DBC_UNROLL
      for (int32_t m = 0; m < kMTiles; ++m)
        DBC_UNROLL
      for (int32_t n = 0; n < kNTiles; ++n)
        mma_tf32(sums[m][n], a[m], b[n][0], b[n][1]);
    };
    if (kMath == Math::tf32x3) { // one sum behind the other, so that none waits for itself
      multiply(high, rest);
      multiply(low, weight);
    }
    multiply(high, weight);
  }
#else
  auto column = [&](const float *rows, int32_t at) { // instructions have rows 0 .. 7 and 8 .. 15
    float numbers[kKTile];
    for (int32_t k = 0; k < kKTile; ++k)
      numbers[k] = rows[(k % 4 / 2 * 8 + k / 4 + k % 2 * 4) * pitch + at];
    return shim::k_tile_of_row(numbers);
  };
  shim::KTile of_first[kMTiles * 2], of_second[kNTiles * 2];
  for (int32_t n = 0; n < kMTiles * 2; ++n)
    of_first[n] = column(first, n * 8 + g);
  for (int32_t n = 0; n < kNTiles * 2; ++n)
    of_second[n] = column(second, n / 2 * 8 + 2 * t + n % 2);
  for (int32_t m = 0; m < kMTiles; ++m)
    for (int32_t n = 0; n < kNTiles; ++n)
      for (int32_t number = 0; number < 4; ++number)
        shim::add_as_tensor_cores(kMath, sums[m][n][number], of_second[n * 2 + number % 2],
                                  of_first[m * 2 + number / 2]);
#endif
}

/// Products of rows and weights in shared memory, by a warp: of kMTiles * 16 rows and kNTiles N tiles. Of
/// each kPeriod N tiles only the first kHalves halves, of 8 outputs each, are multiplied. The operations on
/// each sum are those of multiply_k_tile(), in their order; but rows are the operand of 16, so that an empty
/// half of an N tile costs nothing.
template <Math kMath, int32_t kMTiles, int32_t kNTiles, int32_t kPeriod, int32_t kHalves>
struct StagedProduct {
  /// Adds what a K tile gives. `rows` are kKTile inputs each, one row behind the other; `fragments` those of
  /// the N tiles, for tf32 rounded already. Of M tile m and N tile n thread 4 g + t has in sums[m][n][half]
  /// rows g and g + 8, of each outputs 8 half + 2 t and the next one. Meanwhile it calls do_beside().
  template <class Beside>
  __device__ __forceinline__ static void add(float (&sums)[kMTiles][kNTiles][2][4], const float *rows,
                                             const float *fragments, Beside do_beside) {
    const int32_t lane = threadIdx.x % kWarp;
#ifdef __CUDACC__
    float4 inputs[kMTiles][2];
    DBC_UNROLL
    for (int32_t m = 0; m < kMTiles; ++m)
      DBC_UNROLL
    for (int32_t second = 0; second < 2; ++second)
      inputs[m][second] = load_quad(rows + (m * 16 + second * 8) * kKTile + lane * 4);
    DBC_UNROLL
    for (int32_t step = 0; step < 2; ++step) {
      float high[kMTiles][4], low[kMTiles][4];
      DBC_UNROLL
      for (int32_t m = 0; m < kMTiles; ++m) {
        const float4 &x = inputs[m][0], &y = inputs[m][1];
        const float whole[4] = {step == 0 ? x.x : x.z, step == 0 ? y.x : y.z, step == 0 ? x.y : x.w,
                                step == 0 ? y.y : y.w};
        DBC_UNROLL
        for (int32_t n = 0; n < 4; ++n) {
          high[m][n] = round_to_tf32(whole[n]);
          low[m][n] = whole[n] - high[m][n];
        }
      }
      DBC_UNROLL
      for (int32_t n = 0; n < kNTiles; ++n)
        add_step(sums, n, high, low, load_quad(fragments + n * kFragment + (step * kWarp + lane) * 4));
      if (step == 0)
        do_beside(); // the tensor cores are busy
    }
#else
    do_beside();
    for (int32_t m = 0; m < kMTiles; ++m) {
      const float *row = rows + (m * 16 + lane / 4) * kKTile;
      const shim::KTile of_rows[2] = {shim::k_tile_of_row(row), shim::k_tile_of_row(row + 8 * kKTile)};
      for (int32_t n = 0; n < kNTiles; ++n)
        for (int32_t half = 0; half < (has_second(n) ? 2 : 1); ++half)
          for (int32_t number = 0; number < 2; ++number) {
            const shim::KTile of_output =
                shim::k_tile_of_weights(kMath, fragments + n * kFragment, half * 8 + lane % 4 * 2 + number);
            for (int32_t second = 0; second < 2; ++second)
              shim::add_as_tensor_cores(kMath, sums[m][n][half][second * 2 + number], of_output,
                                        of_rows[second]);
          }
    }
#endif
  }

private:
  static constexpr __device__ bool has_second(int32_t n) { return n % kPeriod * 2 + 1 < kHalves; }

#ifdef __CUDACC__
  /// What one step gives with the quad of N tile n that this thread has.
  __device__ __forceinline__ static void add_step(float (&sums)[kMTiles][kNTiles][2][4], int32_t n,
                                                  const float (&high)[kMTiles][4],
                                                  const float (&low)[kMTiles][4], const float4 &quad) {
    const float whole[4] = {quad.x, quad.y, quad.z, quad.w};
    float weight[4], rest[4];
    DBC_UNROLL
    for (int32_t k = 0; k < 4; ++k) {
      weight[k] = kMath == Math::tf32 ? whole[k] : round_to_tf32(whole[k]);
      rest[k] = whole[k] - weight[k];
    }
    auto multiply = [&](const float(&a)[kMTiles][4], const float(&b)[4]) {
      DBC_UNROLL
      for (int32_t half = 0; half < 2; ++half)
        if (half == 0 || has_second(n))
          DBC_UNROLL
      for (int32_t m = 0; m < kMTiles; ++m)
        mma_tf32(sums[m][n][half], a[m], b[2 * half], b[2 * half + 1]);
    };
    if (kMath == Math::tf32x3) { // one sum behind the other, so that none waits for itself
      multiply(high, rest);
      multiply(low, weight);
    }
    multiply(high, weight);
  }
#endif
};

} // namespace dbc::cuda
