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
#include <utility>

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
    if constexpr (kMost <= kRows) {
      by_slices(count, matrix, weights, tile, sums, into, x...);
    } else {
      static_assert(kMost <= kWarps * 2 * kRows, "a warp has 16 rows");
      static_assert(!(std::is_same_v<decltype(x.block_group), ElementSyncGroup> || ...),
                    "nobody waits there");
      by_rows(count, matrix, weights, tile, into, x...);
    }
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

  /// A warp has 16 rows, a thread some outputs of two of them. What takes time is waiting for loads, as two
  /// blocks are all that a processor has room for: so inputs and weights are loaded half a K tile ahead, and
  /// to have registers for them the sums of the slices before are in `into` meanwhile.
  template <class... From>
  static DBC_DEVICE void by_rows(int32_t count, const Fragments &matrix, const float *weights,
                                 const Tile &tile, float *into, From... x) {
    const int32_t lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
    if (warp * 2 * kRows >= count)
      return;
    constexpr int32_t kGroup = kNTiles * kNTile;
    const int32_t groups = (tile.outputs() + kGroup - 1) / kGroup;
    for (int32_t group = 0; group < groups; ++group) {
      // Of several groups all halves of N tiles are wanted, so that nobody asks in the loop.
      const int32_t wanted = groups == 1 ? tile.outputs() : kGroup;
      const int32_t row = warp * 2 * kRows + lane / 4, output = group * kGroup + lane % 4 * 2;
      const Pairs pairs{row, output, wanted, count, tile.outputs(), into + row * tile.outputs() + output};
      // Each thread loads few numbers of the bias: for all that are its own it had no registers.
      const int32_t end = std::min((warp + 1) * 2 * kRows, count);
      DBC_UNROLL
      for (int32_t n = lane; n < kGroup; n += kWarp)
        if (const int32_t o = group * kGroup + n; o < tile.outputs()) {
          const float bias = matrix.bias[tile.column(o)];
          for (int32_t i = warp * 2 * kRows; i < end; ++i)
            into[i * tile.outputs() + o] = bias;
        }
      __syncwarp();
      const float *const first = weights + group * kNTiles * kFragment;
      add_slices(std::index_sequence_for<From...>(), pairs, matrix, first, x...);
      finish(pairs, matrix, weights, tile, x...);
      __syncwarp(); // the next group's instructions are by all threads of the warp together
    }
  }

  template <class Operand> struct IsAligned : std::false_type {};
  template <class From, class BlockGroup>
  struct IsAligned<AlignedSegment<From, BlockGroup>> : std::true_type {};

  /// The outputs of a thread in by_rows(), two by two: `first` + 8 half and the next one of rows `row` and
  /// `row` + 8.
  struct Pairs {
    int32_t row, first, wanted, count, outputs;
    float *corner; ///< of output `first` of row `row`
    /// Calls visit(half, n, output, at) for those that there are, n being 0 or 2.
    template <class Visit> DBC_DEVICE void each(Visit visit) const {
      DBC_UNROLL
      for (int32_t half = 0; half < 2 * kNTiles; ++half)
        DBC_UNROLL
      for (int32_t n = 0; n < 4; n += 2)
        if (half * 8 < wanted && row + n * 4 < count && first + half * 8 < outputs)
          visit(half, n, first + half * 8, corner + n * 4 * outputs + half * 8);
    }
    DBC_DEVICE void write(int32_t o, float *at, float2 pair) const {
      if (outputs % 2 == 0)
        return store_pair(at, pair);
      at[0] = pair.x;
      if (o + 1 < outputs)
        at[1] = pair.y;
    }
    DBC_DEVICE float2 read(int32_t o, const float *at) const {
      if (outputs % 2 == 0)
        return load_pair(at);
      return {at[0], o + 1 < outputs ? at[1] : 0};
    }
  };

  /// Where a thread 4 g + t has its inputs in two rows of an operand: those of the K tile that begins with
  /// number k of a product's inputs, each operand's being padded to whole K tiles, are at row + k and
  /// other + k. The operand has those from `begin` to `end`.
  struct Rows {
    const float *row, *other;
    int32_t begin, end;
  };

  /// Adds what all slices give to outputs that hold the bias.
  template <size_t... kOperands, class... From>
  static DBC_DEVICE void add_slices(std::index_sequence<kOperands...>, const Pairs &pairs,
                                    const Fragments &matrix, const float *weights, const From &...x) {
    int32_t k_tiles = 0;
    auto begin_of = [&](const auto &operand) {
      const int32_t begin = k_tiles * kKTile;
      k_tiles += (operand.length + kKTile - 1) / kKTile;
      return begin;
    };
    const int32_t begins[] = {begin_of(x)...};
    auto rows = [&](const auto &operand, int32_t begin) {
      // Of an operand shorter than a K tile what is there; the last row stands for those behind it.
      const int32_t shift = std::min(int32_t(threadIdx.x % 4 * 4), (operand.length - 1) / 4 * 4);
      auto at = [&](int32_t i) { return operand.at(std::min(i, pairs.count - 1)) - begin + shift; };
      return Rows{at(pairs.row), at(pairs.row + 8), begin, begin + operand.length};
    };
    const bool ragged = ((x.length % kKTile != 0) || ...);
    add_k_tiles<(IsAligned<From>::value && ...)>(pairs, matrix, weights, k_tiles, ragged,
                                                 rows(x, begins[kOperands])...);
  }

  /// The K tile that is added up behind another one: k_tiles behind the last one.
  static DBC_DEVICE int32_t behind(int32_t k_tile, int32_t k_tiles) {
    const int32_t slice = k_tile % kSlices + 1; // the next one
    return k_tile + kSlices < k_tiles ? k_tile + kSlices
                                      : std::min(slice < kSlices ? slice : k_tiles, k_tiles);
  }

  template <bool kAligned, class... Of>
  static DBC_DEVICE void add_k_tiles(const Pairs &pairs, const Fragments &matrix, const float *weights,
                                     int32_t k_tiles, bool ragged, const Of &...of_operands) {
    const int32_t size = matrix.n_tiles * kFragment, lane = threadIdx.x % kWarp, shift = lane % 4 * 4;
    // Chosen by instructions without a branch, behind which a load would be waited for at once.
    auto rows_of = [&](int32_t k_tile) {
      Rows found{};
      auto pick = [&](const Rows &rows) {
        if (rows.begin == 0 || k_tile * kKTile >= rows.begin)
          found = rows;
      };
      (pick(of_operands), ...);
      return found;
    };
    auto load = [&](int32_t k_tile, float(&inputs)[2][4]) {
      k_tile = k_tile < k_tiles ? k_tile : 0; // nobody wants it
      const Rows rows = rows_of(k_tile);
      auto at = [&](int32_t n) { // for what is behind the end another one, which is masked then
        const int32_t k = k_tile * kKTile;
        return ragged && k + shift + n >= rows.end ? rows.begin : k + n;
      };
      if (kAligned) {
        const float4 a = load_quad(rows.row + at(0)), b = load_quad(rows.other + at(0));
        inputs[0][0] = a.x, inputs[0][1] = a.y, inputs[0][2] = a.z, inputs[0][3] = a.w;
        inputs[1][0] = b.x, inputs[1][1] = b.y, inputs[1][2] = b.z, inputs[1][3] = b.w;
      } else {
        DBC_UNROLL
        for (int32_t n = 0; n < 4; ++n) {
          inputs[0][n] = rows.row[at(n)];
          inputs[1][n] = rows.other[at(n)];
        }
      }
    };
    auto mask = [&](int32_t k_tile, float(&inputs)[2][4]) {
      const int32_t left = rows_of(k_tile).end - k_tile * kKTile;
      if (ragged && left < kKTile)
        DBC_UNROLL
      for (int32_t n = 0; n < 8; ++n)
        if (shift + n % 4 >= left)
          inputs[n / 4][n % 4] = 0;
    };
    float quads[kNTiles][4];
    auto load_weights = [&](const float *of_k_tile, int32_t n_tile, int32_t step) {
      const float4 quad = load_quad(of_k_tile + n_tile * kFragment + step * kWarp * 4);
      quads[n_tile][0] = quad.x, quads[n_tile][1] = quad.y, quads[n_tile][2] = quad.z,
      quads[n_tile][3] = quad.w;
    };
    weights += lane * 4;
    float sums[2 * kNTiles][4] = {}, inputs[2][4];
    auto end_slice = [&] {
      pairs.each([&](int32_t half, int32_t n, int32_t o, float *at) {
        const float2 all = pairs.read(o, at);
        pairs.write(o, at, {all.x + sums[half][n], all.y + sums[half][n + 1]});
      });
      DBC_UNROLL
      for (int32_t n = 0; n < kNTiles * 8; ++n)
        sums[n / 4][n % 4] = 0;
    };
    int32_t k_tile = 0, next = behind(k_tile, k_tiles);
    const float *at = weights;
    if (k_tiles > 0) {
      load(k_tile, inputs);
      DBC_UNROLL
      for (int32_t n_tile = 0; n_tile < kNTiles; ++n_tile)
        load_weights(at, n_tile, 0);
    }
    // The loop within the loop is there as nvcc else joins the end of one K tile and the beginning of the
    // next, for which there are no registers.
    DBC_NO_UNROLL
    while (k_tile < k_tiles)
      DBC_UNROLL
    for (int32_t once = 0; once < 1; ++once) {
      if (k_tile >= k_tiles)
        break;
      const float *const next_at = weights + int64_t(next < k_tiles ? next : 0) * size;
      mask(k_tile, inputs);
      DBC_UNROLL
      for (int32_t step = 0; step < 2; ++step) {
        if (step == 1)
          __syncwarp(); // else it loads what this step does in the one before, with as little room
        const StepInputs<kMath> now(inputs, step);
        if (kMath == Math::tf32x3 && step == 1) // one pointer takes less room here, two in tf32
          at += (next < k_tiles ? next - k_tile : 0) * int64_t(size);
        if (step == 1)
          load(next, inputs);
        DBC_UNROLL
        for (int32_t n_tile = 0; n_tile < kNTiles; ++n_tile) {
          if (n_tile * kNTile + 8 < pairs.wanted)
            multiply_step<kMath, 2>(sums, 2 * n_tile, quads[n_tile], now);
          else if (n_tile * kNTile < pairs.wanted)
            multiply_step<kMath, 1>(sums, 2 * n_tile, quads[n_tile], now);
          load_weights(kMath == Math::tf32x3 || step == 0 ? at : next_at, n_tile, 1 - step);
        }
      }
      if (k_tile + kSlices >= k_tiles)
        end_slice();
      if (kMath == Math::tf32)
        at = next_at;
      k_tile = next;
      next = behind(next, k_tiles);
    }
    if (k_tiles < kSlices)
      end_slice(); // an empty one: several are the same
  }

  /// Computes once more what is no finite number.
  template <class... From>
  static DBC_DEVICE void finish(const Pairs &pairs, const Fragments &matrix, const float *weights,
                                const Tile &tile, From... x) {
    float none = 0; // no number if any is not finite
    pairs.each([&](int32_t, int32_t, int32_t o, const float *at) {
      const float2 all = pairs.read(o, at);
      none = fused(all.y, 0, fused(all.x, 0, none));
    });
    if (none == 0)
      return;
    // Seldom: it is to be short.
    DBC_NO_UNROLL
    for (int32_t n = 0; n < kNTiles * 8; ++n) {
      const int32_t i = pairs.row + n % 4 / 2 * 8, o = pairs.first + n / 4 * 8 + n % 2;
      if (i >= pairs.count || o >= pairs.outputs)
        continue;
      float &sum = pairs.corner[(i - pairs.row) * pairs.outputs + o - pairs.first];
      sum = finite_or_plain(sum, i, o, matrix, weights, tile, x...);
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
