// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products of rows and a matrix on the tensor cores. Functions that say "by the block" are called by all
// threads of a block alike.
#pragma once

#include <dbc/cuda/large_m.h>
#include <dbc/cuda/products.h>

#include <type_traits>

namespace dbc::cuda {

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
  /// behind the other. Of at most 8 rows each warp adds up a slice; for more see LargeM, which has kTiles
  /// tiles of kOutputs outputs. The block's threads wait for each other in it. By the block.
  template <int32_t kMost, int32_t kOutputs, int32_t kTiles, class... From>
  static DBC_DEVICE void product(int32_t count, const Fragments &matrix, int32_t number, const Tile &tile,
                                 float *sums, float *into, From... x) {
    if constexpr (kMost <= kRows) {
      const float *weights =
          matrix.fragments +
          (matrix.resident ? 0 : int64_t(number) * matrix.k_tiles * matrix.n_tiles * kFragment);
      by_slices(count, matrix, weights, tile, sums, into, x...);
    } else {
      LargeM<kMath, kSlices, kOutputs, kTiles>::product(count, matrix, number, tile, sums, into, x...);
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
        float sum[kNTiles][4] = {};
        add_slice(sum, warp % kSlices, count, matrix, weights + group * kNTiles * kFragment, x...);
        each(sum, [&](float number, int32_t output, int32_t row) {
          sums[warp * kWarpSums + place_of(row, output)] = number;
        });
      }
      __syncthreads();
      // Of a few rows few threads have one, and those next to each other read numbers next to each other.
      constexpr int32_t kOutputs = kNTiles * kNTile;
      for (int32_t n = threadIdx.x; n < count * kGroups * kOutputs; n += kThreads) {
        const int32_t i = n / (kGroups * kOutputs), of = n % (kGroups * kOutputs), o = first * kOutputs + of;
        if (o >= outputs)
          continue;
        const float *partial = sums + of / kOutputs * kSlices * kWarpSums + place_of(i, of % kOutputs);
        float sum = matrix.bias[tile.column(o)];
        DBC_UNROLL
        for (int32_t slice = 0; slice < kSlices; ++slice)
          sum += partial[slice * kWarpSums];
        into[i * outputs + o] = finite_or_plain(sum, i, o, matrix, weights, tile, x...);
      }
      if (first + kGroups < groups)
        __syncthreads();
    }
  }

  /// Adds what the K tiles of a slice give of an M tile. `weights` are the first N tile's.
  template <class First, class... Rest>
  static DBC_DEVICE void add_slice(float (&sums)[kNTiles][4], int32_t slice, int32_t count,
                                   const Fragments &matrix, const float *weights, const First &first,
                                   const Rest &...rest) {
    if constexpr (IsAligned<First>::value && (std::is_same_v<First, Rest> && ...))
      add_slice_of_alike(sums, slice, count, matrix, weights, first, rest...);
    else
      add_slice_of_each(sums, slice, count, matrix, weights, first, rest...);
  }

  /// Where operands are alike: which one a K tile is of is found without a branch, and the next one, of
  /// whichever operand, is on its way while one is multiplied. With more on their way registers are spilled.
  template <class First, class... Rest>
  static DBC_DEVICE void add_slice_of_alike(float (&sums)[kNTiles][4], int32_t slice, int32_t count,
                                            const Fragments &matrix, const float *weights, const First &first,
                                            const Rest &...rest) {
    const int32_t lane = threadIdx.x % kWarp, size = matrix.n_tiles * kFragment, inputs = lane % 4 * 4,
                  i = std::min(lane / 4, count - 1); // the last row stands for those behind it
    const float *const rows[] = {first.at(i) + inputs, (rest.at(i) + inputs)...};
    struct Place {
      const float *at;
      int32_t left; ///< inputs from there on, or none
      decltype(first.block_group) block_group;
    };
    auto find = [&](int32_t k_tile) {
      Place place = {rows[0], 0, first.block_group};
      int32_t number = 0, begin = 0, end = 0; // K tiles of the operand
      auto choose = [&](const First &operand) {
        if (k_tile >= end) {
          begin = end;
          place = {rows[number], operand.length, operand.block_group};
        }
        end += (operand.length + kKTile - 1) / kKTile;
        ++number;
      };
      choose(first);
      (choose(rest), ...);
      place.at += (k_tile - begin) * kKTile;
      place.left = k_tile < matrix.k_tiles ? place.left - (k_tile - begin) * kKTile - inputs : 0;
      return place;
    };
    auto load = [&](int32_t k_tile) {
      const Place place = find(k_tile);
      return place.left > 0 ? place.block_group.load_quad(place.at) : float4{0, 0, 0, 0};
    };
    float4 quad = load(slice);
    DBC_NO_UNROLL
    for (int32_t k_tile = slice; k_tile < matrix.k_tiles; k_tile += kSlices) {
      const Place place = find(k_tile);
      float elements[4];
      auto take = [&] {
        const float all[4] = {quad.x, quad.y, quad.z, quad.w};
        DBC_UNROLL
        for (int32_t n = 0; n < 4; ++n)
          elements[n] = n < place.left ? all[n] : 0;
      };
      take();
      place.block_group.wait_for_elements(elements, [&] {
        quad = load(k_tile);
        take();
      });
      place.block_group.meet_in_warp();
      quad = load(k_tile + kSlices);
      multiply_k_tile<kMath>(sums, weights + int64_t(k_tile) * size, elements);
    }
  }

  /// Of other operands one after the other.
  template <class... From>
  static DBC_DEVICE void add_slice_of_each(float (&sums)[kNTiles][4], int32_t slice, int32_t count,
                                           const Fragments &matrix, const float *weights, const From &...x) {
    constexpr int32_t kAhead = 4; // K tiles that are loaded at once
    const int32_t lane = threadIdx.x % kWarp, size = matrix.n_tiles * kFragment;
    int32_t before = 0; // K tiles of the operands before
    auto add = [&](const auto &operand) {
      const float *row = operand.at(std::min(lane / 4, count - 1)); // the last row stands for those behind it
      const int32_t k_tiles = (operand.length + kKTile - 1) / kKTile;
      DBC_NO_UNROLL
      for (int32_t k_tile = (slice + kSlices - before % kSlices) % kSlices; k_tile < k_tiles;
           k_tile += kAhead * kSlices) {
        float elements[kAhead][4];
        auto k_of = [&](int32_t n) { return (k_tile + n * kSlices) * kKTile + lane % 4 * 4; };
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (k_tile + n * kSlices < k_tiles)
            load_inputs(operand, row, k_of(n), elements[n]);
        DBC_UNROLL
        for (int32_t n = 0; n < kAhead; ++n)
          if (k_tile + n * kSlices < k_tiles) {
            wait_for_inputs(operand, row, k_of(n), elements[n]);
            operand.block_group.meet_in_warp();
            multiply_k_tile<kMath>(sums, weights + int64_t(before + k_tile + n * kSlices) * size,
                                   elements[n]);
          }
      }
      before += k_tiles;
    };
    (add(x), ...);
  }

  /// Where the sum of a row and an output is in what a warp adds up: threads write it two to a bank.
  static DBC_DEVICE int32_t place_of(int32_t row, int32_t output) {
    return row * (kNTiles * kNTile) + (output ^ row / 2 % 2 * 8);
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
};

} // namespace dbc::cuda
