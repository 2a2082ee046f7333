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

/// Rows of an operand: row i is row via[i] of the array, or row i where there is no `via`; `length` numbers
/// of each are read, as `team` reads what others write in a whole loop.
template <class From, class Team = Blocks> struct Segment {
  Column<From> base;
  const int32_t *via;
  int64_t stride;
  int32_t length;
  Team team;
  DBC_DEVICE const From *at(int32_t i) const { return base + (via != nullptr ? via[i] : i) * stride; }
  DBC_DEVICE From read(const From *row, int32_t k) const { return team.read(row[k]); }
};
template <class From, class Team = Blocks>
DBC_DEVICE Segment<From, Team> segment(const Column<From> &base, const int32_t *via, int64_t stride,
                                       int32_t length, const Team &team = {}) {
  return {base, via, stride, length, team};
}
template <class From, class Team = Blocks>
DBC_DEVICE Segment<From, Team> segment(const From *base, const int32_t *via, int64_t stride, int32_t length,
                                       const Team &team = {}) {
  return {{base}, via, stride, length, team};
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
    auto add = [&](const auto &part) {
      const auto *right = part.at(row) + column;
      for (int32_t k = 0; k < part.length; ++k)
        sum = fused(static_cast<Real>(a.read(factor++, 0)),
                    static_cast<Real>(part.read(right + int64_t(k) * outputs, 0)), sum);
    };
    (add(b), ...);
    into[n] = sum;
  }
}

//===-- On the matrix units -----------------------------------------------------------------------------===//

/// Rows of an operand, which begin at multiples of 16 bytes, as does each behind the one before; what lies
/// between them may be read.
template <class From, class Team> struct Chunks : Segment<From, Team> {};
template <class From, class Team = Blocks>
DBC_DEVICE Chunks<From, Team> chunks(const Column<From> &base, const int32_t *via, int64_t stride,
                                     int32_t length, const Team &team = {}) {
  return {{base, via, stride, length, team}};
}
template <class From, class Team = Blocks>
DBC_DEVICE Chunks<From, Team> chunks(const From *base, const int32_t *via, int64_t stride, int32_t length,
                                     const Team &team = {}) {
  return {{{base}, via, stride, length, team}};
}

/// Begins to load numbers k .. k + 3 of a row; 0 from `length` on. They are all there behind await_chunk().
template <class Team>
DBC_DEVICE void load_chunk(const Segment<float, Team> &x, const float *row, int32_t k, float (&chunk)[4]) {
  for (int32_t n = 0; n < 4; ++n)
    chunk[n] = k + n < x.length ? x.team.load(row + k + n) : 0;
}
template <class Team>
DBC_DEVICE void load_chunk(const Chunks<float, Team> &x, const float *row, int32_t k, float (&chunk)[4]) {
  const float4 quad = k < x.length ? x.team.load_quad(row + k) : float4{0, 0, 0, 0};
  const float all[4] = {quad.x, quad.y, quad.z, quad.w};
  for (int32_t n = 0; n < 4; ++n)
    chunk[n] = k + n < x.length ? all[n] : 0;
}
/// Until those are there that another block writes.
template <class Operand>
DBC_DEVICE void await_chunk(const Operand &x, const float *row, int32_t k, float (&chunk)[4]) {
  x.team.await(chunk, [&] { load_chunk(x, row, k, chunk); });
}

/// Products with a matrix, of which each warp adds up a part. The order of additions is kMath's within a
/// block of inputs; block after block within a chunk, which has every kChunks-th block; then chunk after
/// chunk, from the bias on. It is the same whoever adds a chunk up, and does not depend on other rows. What
/// is no finite number then is computed once more like the product of a cuda::Matrix: cutting an infinity in
/// two makes none of it.
template <Math kMath, int32_t kChunks, int32_t kStrips> struct MatrixUnits {
  static constexpr int32_t kRows = kUnitRows; ///< of a tile of rows
  /// Numbers that product() has for what warps add up.
  static constexpr int32_t kSums = kWarps * kStrips * kStrip * kRows;

  /// into[i * outputs + o] for outputs o of a tile and count rows; x[i] is made of row i of each operand, one
  /// behind the other. Of at most 8 rows each warp adds up a chunk, and the block's threads wait for each
  /// other in it; else a warp adds up all chunks of 16 rows. By the block.
  template <int32_t kMost, class... From>
  static DBC_DEVICE void product(int32_t count, const Fragments &matrix, int32_t number, const Tile &tile,
                                 float *sums, float *into, From... x) {
    const float *weights =
        matrix.fragments + (matrix.kept ? 0 : int64_t(number) * matrix.blocks * matrix.strips * kFragment);
    if constexpr (kMost <= kRows)
      by_chunks(count, matrix, weights, tile, sums, into, x...);
    else
      by_rows(count, matrix, weights, tile, into, x...);
  }

private:
  static_assert(kWarps % kChunks == 0, "a chunk is a warp's");

  template <class... From>
  static DBC_DEVICE void by_chunks(int32_t count, const Fragments &matrix, const float *weights,
                                   const Tile &tile, float *sums, float *into, From... x) {
    constexpr int32_t kGroups = kWarps / kChunks, kNumbers = kSums / kWarps;
    const int32_t warp = threadIdx.x / kWarp, groups = matrix.strips / kStrips, outputs = tile.outputs();
    for (int32_t first = 0; first < groups; first += kGroups) {
      if (const int32_t group = first + warp / kChunks; group < groups) {
        float sum[1][kStrips][4] = {};
        add_chunk(sum, warp % kChunks, 0, count, matrix, weights + group * kStrips * kFragment, x...);
        each(sum[0], [&](float number, int32_t output, int32_t row) {
          sums[warp * kNumbers + output * kRows + row] = number;
        });
      }
      __syncthreads();
      for (int32_t n = threadIdx.x; n < kGroups * kNumbers; n += blockDim.x) {
        const int32_t i = n % kRows, o = first * kStrips * kStrip + n / kRows;
        if (i >= count || o >= outputs)
          continue;
        const float *parts = sums + n / kNumbers * kChunks * kNumbers + n % kNumbers;
        float sum = matrix.bias[tile.column(o)];
        for (int32_t chunk = 0; chunk < kChunks; ++chunk)
          sum += parts[chunk * kNumbers];
        into[i * outputs + o] = finite_or_plain(sum, i, o, matrix, weights, tile, x...);
      }
      if (first + kGroups < groups)
        __syncthreads();
    }
  }

  template <class... From>
  static DBC_DEVICE void by_rows(int32_t count, const Fragments &matrix, const float *weights,
                                 const Tile &tile, float *into, From... x) {
    constexpr int32_t kTiles = 2;
    const int32_t warp = threadIdx.x / kWarp, groups = matrix.strips / kStrips, outputs = tile.outputs();
    for (int32_t first = warp * kTiles * kRows; first < count; first += kWarps * kTiles * kRows)
      for (int32_t group = 0; group < groups; ++group) {
        float all[kTiles][kStrips][4];
        DBC_UNROLL
        for (int32_t rows = 0; rows < kTiles; ++rows)
          each(all[rows], [&](float &number, int32_t output, int32_t) {
            const int32_t o = group * kStrips * kStrip + output;
            number = o < outputs ? matrix.bias[tile.column(o)] : 0;
          });
        for (int32_t chunk = 0; chunk < kChunks; ++chunk) {
          float sum[kTiles][kStrips][4] = {};
          add_chunk(sum, chunk, first, count, matrix, weights + group * kStrips * kFragment, x...);
          DBC_UNROLL
          for (int32_t rows = 0; rows < kTiles; ++rows)
            DBC_UNROLL
          for (int32_t n = 0; n < kStrips * 4; ++n)
            all[rows][n / 4][n % 4] += sum[rows][n / 4][n % 4];
        }
        bool finite = true;
        DBC_UNROLL
        for (int32_t rows = 0; rows < kTiles; ++rows)
          each(all[rows], [&](float number, int32_t output, int32_t row) {
            const int32_t i = first + rows * kRows + row, o = group * kStrips * kStrip + output;
            if (i < count && o < outputs) {
              into[i * outputs + o] = number;
              finite &= number - number == 0;
            }
          });
        if (!finite) { // seldom: it is to be short
          DBC_NO_UNROLL
          for (int32_t n = 0; n < kTiles * kStrips * 4; ++n) {
            const int32_t i = first + n / (kStrips * 4) * kRows + row_of(n % 4),
                          o = group * kStrips * kStrip + output_of(n / 4 % kStrips, n % 4);
            if (i < count && o < outputs)
              into[i * outputs + o] =
                  finite_or_plain(into[i * outputs + o], i, o, matrix, weights, tile, x...);
          }
        }
        __syncwarp(); // the next group's instructions are by all threads of the warp together
      }
  }

  /// Adds what the blocks of a chunk give of tiles of rows from row `first` on. `weights` are the first
  /// strip's.
  template <int32_t kTiles, class... From>
  static DBC_DEVICE void add_chunk(float (&sums)[kTiles][kStrips][4], int32_t chunk, int32_t first,
                                   int32_t count, const Fragments &matrix, const float *weights, From... x) {
    constexpr int32_t kAhead = 4 / kTiles; // blocks that are loaded together
    const int32_t lane = threadIdx.x % kWarp, size = matrix.strips * kFragment;
    int32_t before = 0; // blocks of the operands before
    auto add = [&](const auto &operand) {
      const float *row[kTiles];
      DBC_UNROLL
      for (int32_t tile = 0; tile < kTiles; ++tile) // the last row stands for those behind it
        row[tile] = operand.at(std::min(first + tile * kRows + lane / 4, count - 1));
      const int32_t blocks = (operand.length + kBlock - 1) / kBlock;
      DBC_NO_UNROLL
      for (int32_t block = (chunk + kChunks - before % kChunks) % kChunks; block < blocks;
           block += kAhead * kChunks) {
        float numbers[kAhead][kTiles][4];
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (block + n * kChunks < blocks)
            DBC_UNROLL
        for (int32_t tile = 0; tile < kTiles; ++tile)
          load_chunk(operand, row[tile], (block + n * kChunks) * kBlock + lane % 4 * 4, numbers[n][tile]);
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (block + n * kChunks < blocks) {
            DBC_UNROLL
            for (int32_t tile = 0; tile < kTiles; ++tile)
              await_chunk(operand, row[tile], (block + n * kChunks) * kBlock + lane % 4 * 4,
                          numbers[n][tile]);
            operand.team.meet_in_warp();
            multiply_block<kMath>(sums, weights + int64_t(before + block + n * kChunks) * size, numbers[n]);
          }
      }
      before += blocks;
    };
    (add(x), ...);
  }

  /// Which output and row this thread's number n of a strip is of.
  static DBC_DEVICE int32_t output_of(int32_t strip, int32_t n) {
    return strip * kStrip + n / 2 * 8 + int32_t(threadIdx.x) % kWarp / 4;
  }
  static DBC_DEVICE int32_t row_of(int32_t n) { return int32_t(threadIdx.x) % kWarp % 4 * 2 + n % 2; }

  /// Calls visit(number, output, row) for the numbers of this thread.
  template <class Numbers, class Visit> static DBC_DEVICE void each(Numbers &numbers, Visit visit) {
    DBC_UNROLL
    for (int32_t strip = 0; strip < kStrips; ++strip)
      DBC_UNROLL
    for (int32_t n = 0; n < 4; ++n)
      visit(numbers[strip][n], output_of(strip, n), row_of(n));
  }

  template <class... From>
  static DBC_DEVICE float finite_or_plain(float sum, int32_t i, int32_t o, const Fragments &matrix,
                                          const float *weights, const Tile &tile, From... x) {
    if (sum - sum == 0)
      return sum;
    sum = matrix.bias[tile.column(o)];
    const float *fragment = weights + o / kStrip * kFragment;
    auto add = [&](const auto &operand) {
      const float *row = operand.at(i);
      DBC_NO_UNROLL
      for (int32_t k = 0; k < operand.length; ++k)
        sum = fused(
            operand.read(row, k),
            fragment[int64_t(k / kBlock) * matrix.strips * kFragment + fragment_of(o % kStrip, k % kBlock)],
            sum);
      fragment += int64_t(operand.length + kBlock - 1) / kBlock * matrix.strips * kFragment;
    };
    (add(x), ...);
    return sum;
  }
};

} // namespace dbc::cuda
