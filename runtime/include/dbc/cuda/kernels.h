// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the kernels of compiled models are made of. NAME.cu includes it and is compiled by nvcc; or by any C++
// compiler, and then its kernels run on the CPU, see shim.h. Flags that results rely on: -fmad=false (nvcc),
// -ffp-contract=off.
//
// Functions named "by the block" are called by all threads of a block alike; none of them waits for the
// others, which is the caller's to do before and behind it.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/math.h>

#if defined(__CUDACC__)
#include <dbc/cuda/card.h>
#else
#include <dbc/cuda/shim.h>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#define DBC_DEVICE __device__ __forceinline__

#include <dbc/cuda/ptx.h>

namespace dbc::cuda {

//===-- Launching ---------------------------------------------------------------------------------------===//

/// All blocks of a launch wait for each other, and see what each wrote before; they must be there at once.
/// `arrived` is `before` before the launch. What other blocks wrote is read by plain loads behind wait():
/// load_acquire drops what the first-level cache held.
class GridBarrier {
public:
  DBC_DEVICE explicit GridBarrier(int32_t *arrived, uint32_t before = 0) : arrived_(arrived), all_(before) {}
  DBC_DEVICE void wait() {
    __syncthreads();
    if (threadIdx.x == 0) {
      all_ += gridDim.x;
      add_release(arrived_, 1);
      // In a long loop both come past 2^31: what counts is which one is ahead.
      for (Spin spin; static_cast<int32_t>(static_cast<uint32_t>(load_acquire(arrived_)) - all_) < 0;)
        spin.wait();
    }
    __syncthreads();
  }

private:
  int32_t *arrived_;
  uint32_t all_; ///< arrivals when all have come this time
};

//===-- Products ----------------------------------------------------------------------------------------===//

DBC_DEVICE float fused(float a, float b, float c) { return math::detail::fma(a, b, c); }
DBC_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Rows of an operand: row i is row via[i] of the array, or row i where there is no `via`; `length` numbers
/// of each are read.
template <class From> struct Segment {
  const From *base;
  const int32_t *via;
  int64_t stride;
  int32_t length;
  DBC_DEVICE const From *at(int32_t i) const { return base + (via != nullptr ? via[i] : i) * stride; }
};
template <class From>
DBC_DEVICE Segment<From> segment(const From *base, const int32_t *via, int64_t stride, int32_t length) {
  return {base, via, stride, length};
}

/// The outputs of a product that a block computes: gates x width of them. Output number g * width + j is
/// output g * units + from + j of the matrix.
struct Tile {
  int32_t gates, units, width, from;
  DBC_DEVICE int32_t outputs() const { return gates * width; }
  DBC_DEVICE int32_t column(int32_t output) const { return output / width * units + from + output % width; }
};
DBC_DEVICE Tile all_of(int32_t outputs) { return {1, outputs, outputs, 0}; }
/// Tile number `number` of `width` units of all gates; the last one ends with the last unit.
DBC_DEVICE Tile tile_of(int32_t number, int32_t gates, int32_t units, int32_t width) {
  return {gates, units, width, std::min(number * width, units - width)};
}

/// into[i * outputs + o] = bias[o] + the sum over k, in order, of x[i][k] * weight (k, o): one accumulator an
/// output, fused multiply-adds. x[i] is made of row i of each segment, one behind the other. By the block.
template <class Real, class... From>
DBC_DEVICE void product(int32_t count, Matrix<Real> matrix, Tile tile, Real *into, Segment<From>... x) {
  constexpr int32_t kRows = 4; // that share each load of a weight
  const int32_t outputs = tile.outputs(), groups = (count + kRows - 1) / kRows;
  for (int32_t n = threadIdx.x; n < groups * outputs; n += blockDim.x) {
    const int32_t first = n / outputs * kRows, output = n % outputs, column = tile.column(output);
    Real sum[kRows];
    for (int32_t r = 0; r < kRows; ++r)
      sum[r] = matrix.bias[column];
    const Real *weight = matrix.weights + column;
    auto add = [&](const auto &segment) {
      // The last row stands for those behind it, which nobody wants.
      decltype(segment.base) row[kRows];
      for (int32_t r = 0; r < kRows; ++r)
        row[r] = segment.at(std::min(first + r, count - 1));
      for (int32_t k = 0; k < segment.length; ++k) {
        for (int32_t r = 0; r < kRows; ++r)
          sum[r] = fused(static_cast<Real>(row[r][k]), *weight, sum[r]);
        weight += matrix.outputs;
      }
    };
    (add(x), ...);
    for (int32_t r = 0; r < kRows && first + r < count; ++r)
      into[(first + r) * outputs + output] = sum[r];
  }
}

/// The same where row i has matrix number table[i]; they have one bias. By the block.
template <class Real, class... From>
DBC_DEVICE void product_of_tables(int32_t count, const int32_t *table, Matrix<Real> matrix, Tile tile,
                                  Real *into, Segment<From>... x) {
  const int32_t outputs = tile.outputs();
  for (int32_t n = threadIdx.x; n < count * outputs; n += blockDim.x) {
    const int32_t i = n / outputs, output = n % outputs, column = tile.column(output);
    Real sum = matrix.bias[column];
    const Real *weight = matrix.weights + int64_t(table[i]) * matrix.inputs * matrix.outputs + column;
    auto add = [&](const auto &segment) {
      const auto *row = segment.at(i);
      for (int32_t k = 0; k < segment.length; ++k) {
        sum = fused(static_cast<Real>(row[k]), *weight, sum);
        weight += matrix.outputs;
      }
    };
    (add(x), ...);
    into[i * outputs + output] = sum;
  }
}

/// A product of two matrices of row `row`: into[i * outputs + j] = the sum over k, in order, of a[i][k] *
/// b[k][j]. a has `height` rows; the rows k of b are those of the segments, `length` of each. By the block.
template <class Real, class A, class... B>
DBC_DEVICE void multiply(int32_t row, int32_t height, int32_t outputs, Real *into, Segment<A> a,
                         Segment<B>... b) {
  const A *left = a.at(row);
  for (int32_t n = threadIdx.x; n < height * outputs; n += blockDim.x) {
    const A *factor = left + n / outputs * a.length;
    const int32_t column = n % outputs;
    Real sum = 0;
    auto add = [&](const auto &part) {
      const auto *right = part.at(row) + column;
      for (int32_t k = 0; k < part.length; ++k)
        sum = fused(static_cast<Real>(*factor++), static_cast<Real>(right[int64_t(k) * outputs]), sum);
    };
    (add(b), ...);
    into[n] = sum;
  }
}

//===-- Memory of a block -------------------------------------------------------------------------------===//

/// That of this block, from byte `offset` on.
template <class T> DBC_DEVICE T *block_scratch(const BlockScratch &scratch, int64_t offset) {
  return reinterpret_cast<T *>(scratch.memory + int64_t(blockIdx.x) * scratch.bytes + offset);
}

//===-- Rows and what is wrong in them ------------------------------------------------------------------===//

/// The row at a position of a space's order list, null where rows are in order.
DBC_DEVICE int32_t row_at(const int32_t *order, int32_t position) {
  return order != nullptr ? order[position] : position;
}

/// Writes down that something is wrong. Of any thread; what one thread finds stands in its order.
DBC_DEVICE void fault(const Faults &faults, int32_t launch, int32_t site, Place place, int32_t a = 0,
                      int32_t b = 0, int32_t c = 0) {
  const int32_t number = atomicAdd(faults.count, 1);
  if (number < faults.capacity)
    faults.records[number] = {launch, place, site, {a, b, c}};
}

// Whole numbers as the language means them: each returns whether the result exists; where not, *out is 0.
DBC_DEVICE bool exact(int64_t value, int32_t *out) {
  const bool fits = value >= INT32_MIN && value <= INT32_MAX;
  *out = fits ? static_cast<int32_t>(value) : 0;
  return fits;
}
DBC_DEVICE bool checked_add(int32_t a, int32_t b, int32_t *out) { return exact(int64_t(a) + b, out); }
DBC_DEVICE bool checked_sub(int32_t a, int32_t b, int32_t *out) { return exact(int64_t(a) - b, out); }
DBC_DEVICE bool checked_mul(int32_t a, int32_t b, int32_t *out) { return exact(int64_t(a) * b, out); }
/// Rounded down.
DBC_DEVICE bool checked_div(int32_t a, int32_t b, int32_t *out) {
  *out = 0;
  if (b == 0)
    return false;
  int64_t quotient = int64_t(a) / b;
  return exact(quotient - (int64_t(a) % b != 0 && (a < 0) != (b < 0)), out);
}
/// Has the sign of b.
DBC_DEVICE bool checked_mod(int32_t a, int32_t b, int32_t *out) {
  *out = 0;
  if (b == 0)
    return false;
  const int64_t rest = int64_t(a) % b;
  return exact(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest, out);
}

} // namespace dbc::cuda
