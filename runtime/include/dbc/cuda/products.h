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
      decltype(segment.at(0)) row[kRows];
      for (int32_t r = 0; r < kRows; ++r)
        row[r] = segment.at(std::min(first + r, count - 1));
      for (int32_t k = 0; k < segment.length; ++k) {
        for (int32_t r = 0; r < kRows; ++r)
          sum[r] = fused(static_cast<Real>(segment.read(row[r], k)), *weight, sum[r]);
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

/// Products with a matrix, of which each warp adds up a share. The order of additions is kMath's within a K
/// tile; K tile after K tile within a split-K slice, which has every kSlices-th K tile; then slice after
/// slice, from the bias on. It is the same whoever adds a slice up, and does not depend on other rows. What
/// is no finite number then is computed once more like the product of a cuda::Matrix: cutting an infinity in
/// two makes none of it.
template <Math kMath, int32_t kSlices, int32_t kNTiles> struct TensorCores {
  static constexpr int32_t kRows = kMTile; ///< of a tile of rows
  /// Elements that product() has for what warps add up.
  static constexpr int32_t kSums = kWarps * kNTiles * kNTile * kRows;

  /// into[i * outputs + o] for outputs o of a tile and count rows; x[i] is made of row i of each operand, one
  /// behind the other. Of at most 8 rows each warp adds up a slice, and the block's threads wait for each
  /// other in it; else a warp adds up all slices of 16 rows. By the block.
  template <int32_t kMost, class... From>
  static DBC_DEVICE void product(int32_t count, const Fragments &matrix, int32_t number, const Tile &tile,
                                 float *sums, float *into, From... x) {
    const float *weights =
        matrix.fragments +
        (matrix.resident ? 0 : int64_t(number) * matrix.k_tiles * matrix.n_tiles * kFragment);
    if constexpr (kMost <= kRows)
      by_slices(count, matrix, weights, tile, sums, into, x...);
    else
      by_rows(count, matrix, weights, tile, into, x...);
  }

private:
  static_assert(kWarps % kSlices == 0, "a slice is a warp's");

  template <class... From>
  static DBC_DEVICE void by_slices(int32_t count, const Fragments &matrix, const float *weights,
                                   const Tile &tile, float *sums, float *into, From... x) {
    constexpr int32_t kGroups = kWarps / kSlices, kWarpSums = kSums / kWarps;
    const int32_t warp = threadIdx.x / kWarp, groups = matrix.n_tiles / kNTiles, outputs = tile.outputs();
    for (int32_t first = 0; first < groups; first += kGroups) {
      if (const int32_t group = first + warp / kSlices; group < groups) {
        float sum[1][kNTiles][4] = {};
        add_slice(sum, warp % kSlices, 0, count, matrix, weights + group * kNTiles * kFragment, x...);
        each(sum[0], [&](float number, int32_t output, int32_t row) {
          sums[warp * kWarpSums + output * kRows + row] = number;
        });
      }
      __syncthreads();
      for (int32_t n = threadIdx.x; n < kGroups * kWarpSums; n += blockDim.x) {
        const int32_t i = n % kRows, o = first * kNTiles * kNTile + n / kRows;
        if (i >= count || o >= outputs)
          continue;
        const float *partial = sums + n / kWarpSums * kSlices * kWarpSums + n % kWarpSums;
        float sum = matrix.bias[tile.column(o)];
        for (int32_t slice = 0; slice < kSlices; ++slice)
          sum += partial[slice * kWarpSums];
        into[i * outputs + o] = finite_or_plain(sum, i, o, matrix, weights, tile, x...);
      }
      if (first + kGroups < groups)
        __syncthreads();
    }
  }

  template <class... From>
  static DBC_DEVICE void by_rows(int32_t count, const Fragments &matrix, const float *weights,
                                 const Tile &tile, float *into, From... x) {
    constexpr int32_t kMTiles = 2;
    const int32_t warp = threadIdx.x / kWarp, groups = matrix.n_tiles / kNTiles, outputs = tile.outputs();
    for (int32_t first = warp * kMTiles * kRows; first < count; first += kWarps * kMTiles * kRows)
      for (int32_t group = 0; group < groups; ++group) {
        float all[kMTiles][kNTiles][4];
        DBC_UNROLL
        for (int32_t rows = 0; rows < kMTiles; ++rows)
          each(all[rows], [&](float &number, int32_t output, int32_t) {
            const int32_t o = group * kNTiles * kNTile + output;
            number = o < outputs ? matrix.bias[tile.column(o)] : 0;
          });
        for (int32_t slice = 0; slice < kSlices; ++slice) {
          float sum[kMTiles][kNTiles][4] = {};
          add_slice(sum, slice, first, count, matrix, weights + group * kNTiles * kFragment, x...);
          DBC_UNROLL
          for (int32_t rows = 0; rows < kMTiles; ++rows)
            DBC_UNROLL
          for (int32_t n = 0; n < kNTiles * 4; ++n)
            all[rows][n / 4][n % 4] += sum[rows][n / 4][n % 4];
        }
        bool finite = true;
        DBC_UNROLL
        for (int32_t rows = 0; rows < kMTiles; ++rows)
          each(all[rows], [&](float number, int32_t output, int32_t row) {
            const int32_t i = first + rows * kRows + row, o = group * kNTiles * kNTile + output;
            if (i < count && o < outputs) {
              into[i * outputs + o] = number;
              finite &= number - number == 0;
            }
          });
        if (!finite) { // seldom: it is to be short
          DBC_NO_UNROLL
          for (int32_t n = 0; n < kMTiles * kNTiles * 4; ++n) {
            const int32_t i = first + n / (kNTiles * 4) * kRows + row_of(n % 4),
                          o = group * kNTiles * kNTile + output_of(n / 4 % kNTiles, n % 4);
            if (i < count && o < outputs)
              into[i * outputs + o] =
                  finite_or_plain(into[i * outputs + o], i, o, matrix, weights, tile, x...);
          }
        }
        __syncwarp(); // the next group's instructions are by all threads of the warp together
      }
  }

  /// Adds what the K tiles of a slice give of M tiles from row `first` on. `weights` are the first N tile's.
  template <int32_t kMTiles, class... From>
  static DBC_DEVICE void add_slice(float (&sums)[kMTiles][kNTiles][4], int32_t slice, int32_t first,
                                   int32_t count, const Fragments &matrix, const float *weights, From... x) {
    constexpr int32_t kAhead = 4 / kMTiles; // K tiles that are loaded at once
    const int32_t lane = threadIdx.x % kWarp, size = matrix.n_tiles * kFragment;
    int32_t before = 0; // K tiles of the operands before
    auto add = [&](const auto &operand) {
      const float *row[kMTiles];
      DBC_UNROLL
      for (int32_t m_tile = 0; m_tile < kMTiles; ++m_tile) // the last row stands for those behind it
        row[m_tile] = operand.at(std::min(first + m_tile * kRows + lane / 4, count - 1));
      const int32_t k_tiles = (operand.length + kKTile - 1) / kKTile;
      DBC_NO_UNROLL
      for (int32_t k_tile = (slice + kSlices - before % kSlices) % kSlices; k_tile < k_tiles;
           k_tile += kAhead * kSlices) {
        float elements[kAhead][kMTiles][4];
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (k_tile + n * kSlices < k_tiles)
            DBC_UNROLL
        for (int32_t m_tile = 0; m_tile < kMTiles; ++m_tile)
          load_inputs(operand, row[m_tile], (k_tile + n * kSlices) * kKTile + lane % 4 * 4,
                      elements[n][m_tile]);
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (k_tile + n * kSlices < k_tiles) {
            DBC_UNROLL
            for (int32_t m_tile = 0; m_tile < kMTiles; ++m_tile)
              wait_for_inputs(operand, row[m_tile], (k_tile + n * kSlices) * kKTile + lane % 4 * 4,
                              elements[n][m_tile]);
            operand.block_group.meet_in_warp();
            multiply_k_tile<kMath>(sums, weights + int64_t(before + k_tile + n * kSlices) * size,
                                   elements[n]);
          }
      }
      before += k_tiles;
    };
    (add(x), ...);
  }

  /// Which output and row this thread's number n of an N tile is of.
  static DBC_DEVICE int32_t output_of(int32_t n_tile, int32_t n) {
    return n_tile * kNTile + n / 2 * 8 + int32_t(threadIdx.x) % kWarp / 4;
  }
  static DBC_DEVICE int32_t row_of(int32_t n) { return int32_t(threadIdx.x) % kWarp % 4 * 2 + n % 2; }

  /// Calls visit(number, output, row) for the sums of this thread.
  template <class Sums, class Visit> static DBC_DEVICE void each(Sums &sums, Visit visit) {
    DBC_UNROLL
    for (int32_t n_tile = 0; n_tile < kNTiles; ++n_tile)
      DBC_UNROLL
    for (int32_t n = 0; n < 4; ++n)
      visit(sums[n_tile][n], output_of(n_tile, n), row_of(n));
  }

  template <class... From>
  static DBC_DEVICE float finite_or_plain(float sum, int32_t i, int32_t o, const Fragments &matrix,
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
};

} // namespace dbc::cuda
