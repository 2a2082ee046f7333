// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products of rows and matrices in kernels of compiled models. All functions that say "by the block" are
// called by all threads of a block alike, and do not wait for the others before they begin or behind their
// end, which is the caller's to do.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/loops.h>
#include <dbc/cuda/ptx.h>
#include <dbc/math.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace dbc::cuda {

DBC_DEVICE float fused(float a, float b, float c) { return math::detail::fma(a, b, c); }
DBC_DEVICE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

/// Rows of an operand: row i is row via[i] of the array, or row i where there is no `via`; `length` elements
/// of each are read, as `block_group` reads what others write in a persistent kernel.
template <class From, class BlockGroup = Blocks> struct Segment {
  Column<From> base;
  const int32_t *via;
  int64_t stride;
  int32_t length;
  BlockGroup block_group;
  DBC_DEVICE const From *at(int32_t i) const { return base + (via != nullptr ? via[i] : i) * stride; }
  DBC_DEVICE From read(const From *row, int32_t k) const { return block_group.read(row[k]); }
};
template <class From, class BlockGroup = Blocks>
DBC_DEVICE Segment<From, BlockGroup> segment(const Column<From> &base, const int32_t *via, int64_t stride,
                                             int32_t length, const BlockGroup &block_group = {}) {
  return {base, via, stride, length, block_group};
}
template <class From, class BlockGroup = Blocks>
DBC_DEVICE Segment<From, BlockGroup> segment(const From *base, const int32_t *via, int64_t stride,
                                             int32_t length, const BlockGroup &block_group = {}) {
  return {{base}, via, stride, length, block_group};
}

/// The outputs of a product that a block computes: gates x width of them. Output number g * width + j is
/// output g * channels + from + j of the matrix.
struct Tile {
  int32_t gates, channels, width, from;
  DBC_DEVICE int32_t outputs() const { return gates * width; }
  DBC_DEVICE int32_t column(int32_t output) const {
    return output / width * channels + from + output % width;
  }
};
DBC_DEVICE Tile all_of(int32_t outputs) { return {1, outputs, outputs, 0}; }
/// Tile number `number` of `width` channels of all gates; the last one ends with the last channel.
DBC_DEVICE Tile tile_of(int32_t number, int32_t gates, int32_t channels, int32_t width) {
  return {gates, channels, width, std::min(number * width, channels - width)};
}

//===-- One accumulator an output -----------------------------------------------------------------------===//

/// into[i * outputs + o] = bias[o] + the sum over k, in order, of x[i][k] * weight (k, o): one accumulator an
/// output, fused multiply-adds. x[i] is made of row i of each segment, one behind the other. By the block.
template <class Real, class... From>
DBC_DEVICE void product(int32_t count, Matrix<Real> matrix, Tile tile, Real *into, From... x) {
  const int32_t outputs = tile.outputs(), groups = (count + kRowsAtOnce - 1) / kRowsAtOnce;
  for (int32_t n = threadIdx.x; n < groups * outputs; n += blockDim.x) {
    const int32_t first = n / outputs * kRowsAtOnce, output = n % outputs, column = tile.column(output);
    Real sum[kRowsAtOnce];
    for (int32_t r = 0; r < kRowsAtOnce; ++r)
      sum[r] = matrix.bias[column];
    const Real *weight = matrix.weights + column;
    auto add = [&](const auto &segment) {
      // The last row stands for those behind it, which nobody wants.
      decltype(segment.at(0)) row[kRowsAtOnce];
      for (int32_t r = 0; r < kRowsAtOnce; ++r)
        row[r] = segment.at(std::min(first + r, count - 1));
      for (int32_t k = 0; k < segment.length; ++k) {
        for (int32_t r = 0; r < kRowsAtOnce; ++r)
          sum[r] = fused(static_cast<Real>(segment.read(row[r], k)), *weight, sum[r]);
        weight += matrix.outputs;
      }
    };
    (add(x), ...);
    for (int32_t r = 0; r < kRowsAtOnce && first + r < count; ++r)
      into[(first + r) * outputs + output] = sum[r];
  }
}

/// The same where row i has matrix number table[i]; they have one bias. By the block.
template <class Real, class... From>
DBC_DEVICE void product_of_tables(int32_t count, const int32_t *table, Matrix<Real> matrix, Tile tile,
                                  Real *into, From... x) {
  const int32_t outputs = tile.outputs();
  for (int32_t n = threadIdx.x; n < count * outputs; n += blockDim.x) {
    const int32_t i = n / outputs, output = n % outputs, column = tile.column(output);
    Real sum = matrix.bias[column];
    const Real *weight = matrix.weights + int64_t(table[i]) * matrix.inputs * matrix.outputs + column;
    auto add = [&](const auto &segment) {
      const auto *row = segment.at(i);
      for (int32_t k = 0; k < segment.length; ++k) {
        sum = fused(static_cast<Real>(segment.read(row, k)), *weight, sum);
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
DBC_DEVICE void multiply(int32_t row, int32_t height, int32_t outputs, Real *into, A a, B... b) {
  const auto *left = a.at(row);
  for (int32_t n = threadIdx.x; n < height * outputs; n += blockDim.x) {
    const auto *factor = left + n / outputs * a.length;
    const int32_t column = n % outputs;
    Real sum = 0;
    auto add = [&](const auto &slice) {
      const auto *right = slice.at(row) + column;
      for (int32_t k = 0; k < slice.length; ++k)
        sum = fused(static_cast<Real>(a.read(factor++, 0)),
                    static_cast<Real>(slice.read(right + int64_t(k) * outputs, 0)), sum);
    };
    (add(b), ...);
    into[n] = sum;
  }
}

//===-- On the tensor cores -----------------------------------------------------------------------------===//

/// Rows of an operand, which begin at multiples of 16 bytes, as does each behind the one before; what lies
/// between them may be read.
template <class From, class BlockGroup> struct AlignedSegment : Segment<From, BlockGroup> {};
template <class From, class BlockGroup = Blocks>
DBC_DEVICE AlignedSegment<From, BlockGroup> aligned_segment(const Column<From> &base, const int32_t *via,
                                                            int64_t stride, int32_t length,
                                                            const BlockGroup &block_group = {}) {
  return {{base, via, stride, length, block_group}};
}
template <class From, class BlockGroup = Blocks>
DBC_DEVICE AlignedSegment<From, BlockGroup> aligned_segment(const From *base, const int32_t *via,
                                                            int64_t stride, int32_t length,
                                                            const BlockGroup &block_group = {}) {
  return {{{base}, via, stride, length, block_group}};
}

/// Begins to load inputs k .. k + 3 of a row; 0 from `length` on. They are all there behind
/// wait_for_inputs().
template <class BlockGroup>
DBC_DEVICE void load_inputs(const Segment<float, BlockGroup> &x, const float *row, int32_t k,
                            float (&inputs)[4]) {
  for (int32_t n = 0; n < 4; ++n)
    inputs[n] = k + n < x.length ? x.block_group.load(row + k + n) : 0;
}
template <class BlockGroup>
DBC_DEVICE void load_inputs(const AlignedSegment<float, BlockGroup> &x, const float *row, int32_t k,
                            float (&inputs)[4]) {
  const float4 quad = k < x.length ? x.block_group.load_quad(row + k) : float4{0, 0, 0, 0};
  const float all[4] = {quad.x, quad.y, quad.z, quad.w};
  for (int32_t n = 0; n < 4; ++n)
    inputs[n] = k + n < x.length ? all[n] : 0;
}
/// Until those are there that another block writes.
template <class Operand>
DBC_DEVICE void wait_for_inputs(const Operand &x, const float *row, int32_t k, float (&inputs)[4]) {
  x.block_group.wait_for_elements(inputs, [&] { load_inputs(x, row, k, inputs); });
}

template <class Operand> struct IsAligned : std::false_type {};
template <class From, class BlockGroup>
struct IsAligned<AlignedSegment<From, BlockGroup>> : std::true_type {};

/// The same rows, which threads of the block wrote into memory that they share.
template <class Of> struct SharedSegment : Of {};
template <class Of> DBC_DEVICE SharedSegment<Of> shared_segment(const Of &of) { return {of}; }

/// Begins to copy inputs k .. k + 3 of a row into shared memory, at a multiple of 16 bytes; 0 from `length`
/// on. They are there behind wait_for_copies() and a barrier.
template <class BlockGroup>
DBC_DEVICE void copy_inputs(const Segment<float, BlockGroup> &x, float *to, const float *row, int32_t k) {
  for (int32_t n = 0; n < 4; ++n)
    copy_number(to + n, k + n < x.length ? row + k + n : row, k + n < x.length);
}
template <class BlockGroup>
DBC_DEVICE void copy_inputs(const AlignedSegment<float, BlockGroup> &x, float *to, const float *row,
                            int32_t k) {
  copy_quad(to, k < x.length ? row + k : row, std::clamp(x.length - k, 0, 4));
}
template <class Of>
DBC_DEVICE void copy_inputs(const SharedSegment<Of> &x, float *to, const float *row, int32_t k) {
  for (int32_t n = 0; n < 4; ++n)
    to[n] = k + n < x.length ? row[k + n] : 0;
}

/// `sum`, which the tensor cores made of row i and output o of a tile, where it is finite; else that of the
/// plain product. `weights` are the tile's fragments.
template <class... From>
DBC_DEVICE float finite_or_plain(float sum, int32_t i, int32_t o, const Fragments &matrix,
                                 const float *weights, const Tile &tile, From... x) {
  if (sum - sum == 0)
    return sum;
  sum = matrix.bias[tile.column(o)];
  const float *fragment = weights + o / kNTile * kFragment;
  auto add = [&](const auto &operand) {
    const float *row = operand.at(i);
    DBC_NO_UNROLL
    for (int32_t k = 0; k < operand.length; ++k)
      sum = fused(
          operand.read(row, k),
          fragment[int64_t(k / kKTile) * matrix.n_tiles * kFragment + fragment_of(o % kNTile, k % kKTile)],
          sum);
    fragment += int64_t(operand.length + kKTile - 1) / kKTile * matrix.n_tiles * kFragment;
  };
  (add(x), ...);
  return sum;
}

} // namespace dbc::cuda
