// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products of large-M tiles on the tensor cores: kLargeMRows rows and several tiles of a matrix in a block of
// threads.
#pragma once

#include <dbc/cuda/products.h>

namespace dbc::cuda {

/// Up to kLargeMRows rows times kTiles tiles of a matrix, of kOutputs outputs each, see TensorCores. K tiles
/// of rows and of weights are copied into shared memory, some ahead of the one that is multiplied, in the
/// order in which they are added. A warp has kWarpRows rows and half of the outputs: those of half of the
/// tiles; or, of a single tile, half of its N tiles, at most kMostNTiles, and the block goes over the rows
/// again for more.
template <Math kMath, int32_t kSlices, int32_t kOutputs, int32_t kTiles> class LargeM {
  static constexpr int32_t kRows = kLargeMRows, kRowWarps = 4, kOutputWarps = kWarps / kRowWarps,
                           kWarpRows = kRows / kRowWarps;
  static_assert(kTiles == 1 || kTiles % kOutputWarps == 0, "a warp has whole tiles or a part of one");
  /// N tiles: of a tile; of a warp at once; of a block at once.
  static constexpr int32_t kOfTile = (kOutputs + kNTile - 1) / kNTile,
                           kOfBlock = large_m_n_tiles(kOutputs, kTiles), kOfWarp = kOfBlock / kOutputWarps;
  /// Halves of N tiles that a tile has outputs in: of whole tiles the others are not multiplied.
  static constexpr int32_t kPeriod = kTiles > 1 ? kOfTile : kOfWarp,
                           kHalves = kTiles > 1 ? (kOutputs + 7) / 8 : 2 * kOfWarp;
  using Product = StagedProduct<kMath, kWarpRows / 16, kOfWarp, kPeriod, kHalves>;
  static constexpr int32_t kStage = large_m_stage(kOfBlock);

public:
  /// into[(s * kRows + i) * kOutputs + o] for outputs o of tile number `number` + s and count rows, as
  /// TensorCores::product() has them. `tile` is the first tile. `memory` has large_m_scratch(kOfBlock,
  /// operands) bytes. The block's threads wait for each other in it. By the block.
  template <class... From>
  static DBC_DEVICE void product(int32_t count, const Fragments &matrix, int32_t number, const Tile &tile,
                                 float *memory, float *into, From... x) {
    LargeM block(count, matrix, number, tile, memory, into);
    __syncthreads(); // what was in the memory before is no more needed
    block.find_rows(x...);
    __syncthreads();
    for (int32_t first = 0; first < (kTiles > 1 ? 1 : kOfTile); first += kOfBlock) {
      if (first > 0)
        __syncthreads();
      block.n_tiles(first, x...);
    }
  }

private:
  DBC_DEVICE LargeM(int32_t count, const Fragments &matrix, int32_t number, const Tile &tile, float *memory,
                    float *into)
      : count_(count), number_(number), matrix_(matrix), tile_(tile), stages_(memory),
        rows_(reinterpret_cast<const float **>(memory + kLargeMStages * kStage)), into_(into) {}

  /// Number of tile s of the block, where there is none the last one's.
  DBC_DEVICE int32_t number(int32_t s) const {
    return kTiles == 1 ? number_ : std::min(number_ + s, (tile_.channels - 1) / tile_.width);
  }
  DBC_DEVICE Tile tile(int32_t s) const {
    return kTiles == 1 ? tile_ : tile_of(number(s), tile_.gates, tile_.channels, tile_.width);
  }
  DBC_DEVICE const float *weights(int32_t s) const {
    return matrix_.fragments + int64_t(number(s)) * matrix_.k_tiles * matrix_.n_tiles * kFragment;
  }

  /// Where the rows of each operand begin; the last row stands for those behind it.
  template <class... From> DBC_DEVICE void find_rows(const From &...x) {
    const float **rows = rows_;
    auto find = [&](const auto &operand) {
      if (const int32_t i = threadIdx.x; i < kRows)
        rows[i] = operand.at(std::min(i, count_ - 1));
      rows += kRows;
    };
    (find(x), ...);
  }

  /// Those of N tiles first .. first + kOfBlock - 1 of a single tile; or of all tiles.
  template <class... From> DBC_DEVICE void n_tiles(int32_t first, const From &...x) {
    const int32_t warp = threadIdx.x / kWarp, k_tiles = matrix_.k_tiles;
    float all[kWarpRows / 16][kOfWarp][2][4];
    each(first, [&](int32_t m, int32_t n, int32_t half, int32_t pair, int32_t s, int32_t, int32_t o) {
      const Tile of = tile(s);
      for (int32_t next = 0; next < 2; ++next)
        all[m][n][half][pair * 2 + next] = o + next < kOutputs ? matrix_.bias[of.column(o + next)] : 0;
    });
    Weights from;
    find_weights(first, from);
    int32_t ahead = 0; // the K tile to copy
    DBC_UNROLL
    for (int32_t n = 0; n < kLargeMStages - 1; ++n)
      copy_next(ahead, n * kStage, from, x...);
    int32_t now = 0, free = (kLargeMStages - 1) * kStage; // where it is multiplied from, and copied to
    DBC_NO_UNROLL
    for (int32_t slice = 0; slice < kSlices; ++slice) {
      float sums[kWarpRows / 16][kOfWarp][2][4] = {};
      DBC_NO_UNROLL
      for (int32_t k_tile = slice; k_tile < k_tiles; k_tile += kSlices) {
        wait_for_copies<kLargeMStages - 2>();
        __syncthreads(); // the K tile is there, and nobody needs the one before
        Product::add(sums, stages_ + now + warp / kOutputWarps * kWarpRows * kKTile,
                     stages_ + now + kRows * kKTile + warp % kOutputWarps * kOfWarp * kFragment,
                     [&] { copy_next(ahead, free, from, x...); });
        free = now;
        now = now == (kLargeMStages - 1) * kStage ? 0 : now + kStage;
      }
      DBC_UNROLL
      for (int32_t n = 0; n < kWarpRows / 16 * kOfWarp * 8; ++n) {
        const int32_t m = n / 8 / kOfWarp, n_tile = n / 8 % kOfWarp;
        all[m][n_tile][n / 4 % 2][n % 4] += sums[m][n_tile][n / 4 % 2][n % 4];
      }
    }
    wait_for_copies();
    store(first, all, x...);
  }

  /// Where a thread copies weights from: of the first K tile the quads that are its own of each stage.
  static constexpr int32_t kQuads = kOfBlock * kFragment / 4,
                           kQuadsOfThread = (kQuads + kThreads - 1) / kThreads;
  struct Weights {
    const float *quads[kQuadsOfThread];
  };
  DBC_DEVICE void find_weights(int32_t first, Weights &from) const {
    DBC_UNROLL
    for (int32_t n = 0; n < kQuadsOfThread; ++n) {
      const int32_t quad = threadIdx.x + n * kThreads,
                    n_tile = std::min(quad / (kFragment / 4), kOfBlock - 1);
      const int32_t s = kTiles > 1 ? n_tile / kOfTile : 0,
                    of_tile = kTiles > 1 ? n_tile % kOfTile : std::min(first + n_tile, kOfTile - 1);
      from.quads[n] = weights(s) + of_tile * kFragment + quad % (kFragment / 4) * 4;
    }
  }

  /// Begins to copy the next K tile, if there is one, and finds the one behind it.
  template <class... From>
  DBC_DEVICE void copy_next(int32_t &k_tile, int32_t stage, const Weights &from, const From &...x) const {
    if (k_tile < matrix_.k_tiles) {
      copy_rows(k_tile, stages_ + stage + threadIdx.x * 4, x...);
      copy_weights(k_tile, stages_ + stage + kRows * kKTile + threadIdx.x * 4, from);
      const int32_t slice = (k_tile & (kSlices - 1)) + 1, end = slice < kSlices ? slice : matrix_.k_tiles;
      k_tile = k_tile + kSlices < matrix_.k_tiles ? k_tile + kSlices : end;
    }
    end_copy_group();
  }
  static_assert((kSlices & (kSlices - 1)) == 0, "a slice's number is a K tile's last bits");

  template <class... From> DBC_DEVICE void copy_rows(int32_t k_tile, float *to, const From &...x) const {
    const int32_t first = threadIdx.x % 4 * 4;
    const float *const *rows = rows_ + threadIdx.x / 4;
    int32_t end = 0; // of the K tiles of an operand
    if constexpr ((IsAligned<From>::value && ...)) {
      // The operand is chosen without a branch. Rows may be read behind their inputs' end, but are not.
      int32_t begin = 0, length = 0;
      auto choose = [&](const auto &operand) {
        if (k_tile >= end) {
          begin = end;
          length = operand.length;
          rows += end > 0 ? kRows : 0;
        }
        end += k_tiles_of(operand);
      };
      (choose(x), ...);
      const int32_t k = (k_tile - begin) * kKTile + first, left = std::clamp(length - k, 0, 4);
      DBC_UNROLL
      for (int32_t n = 0; n < kRows * 4; n += kThreads)
        copy_quad(to + n * 4, rows[n / 4] + k, left);
    } else {
      auto copy = [&](const auto &operand) {
        const int32_t begin = end;
        end += k_tiles_of(operand);
        if (k_tile >= begin && k_tile < end)
          DBC_UNROLL
        for (int32_t n = 0; n < kRows * 4; n += kThreads)
          copy_inputs(operand, to + n * 4, rows[n / 4], (k_tile - begin) * kKTile + first);
        rows += kRows;
      };
      (copy(x), ...);
    }
  }
  template <class Operand> static DBC_DEVICE int32_t k_tiles_of(const Operand &x) {
    return (x.length + kKTile - 1) / kKTile;
  }
  DBC_DEVICE void copy_weights(int32_t k_tile, float *to, const Weights &from) const {
    const int32_t behind = k_tile * matrix_.n_tiles * kFragment;
    DBC_UNROLL
    for (int32_t n = 0; n < kQuadsOfThread; ++n)
      if ((n + 1) * kThreads <= kQuads || int32_t(threadIdx.x) < kQuads - n * kThreads)
        copy_quad(to + n * kThreads * 4, from.quads[n] + behind);
  }

  /// Calls visit(m, n, half, pair, s, i, o) for each two sums of a thread that are next to each other:
  /// sums[m][n][half][2 * pair] is of row i and output o of tile s, the one behind it of the next output.
  template <class Visit> static DBC_DEVICE void each(int32_t first, Visit visit) {
    const int32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
    DBC_UNROLL
    for (int32_t m = 0; m < kWarpRows / 16; ++m)
      DBC_UNROLL
    for (int32_t n = 0; n < kOfWarp; ++n)
      DBC_UNROLL
    for (int32_t half = 0; half < 2; ++half)
      DBC_UNROLL
    for (int32_t pair = 0; pair < 2; ++pair) {
      const int32_t n_tile = warp % kOutputWarps * kOfWarp + n;
      const int32_t s = kTiles > 1 ? n_tile / kOfTile : 0,
                    of_tile = kTiles > 1 ? n % kOfTile : first + n_tile;
      visit(m, n, half, pair, s, warp / kOutputWarps * kWarpRows + m * 16 + pair * 8 + lane / 4,
            of_tile * kNTile + half * 8 + lane % 4 * 2);
    }
  }

  /// Writes sums down; what is no finite number is computed once more.
  template <class Sums, class... From>
  DBC_DEVICE void store(int32_t first, const Sums &all, const From &...x) const {
    bool finite = true;
    each(first, [&](int32_t m, int32_t n, int32_t half, int32_t pair, int32_t s, int32_t i, int32_t o) {
      if (i >= count_ || o >= kOutputs)
        return;
      const float a = all[m][n][half][pair * 2], b = all[m][n][half][pair * 2 + 1];
      float *to = into_ + (s * kRows + i) * kOutputs + o;
      finite &= a - a == 0;
      if (kOutputs % 2 == 0) {
        finite &= b - b == 0;
        store_pair(to, a, b);
        return;
      }
      to[0] = a;
      if (o + 1 < kOutputs) {
        finite &= b - b == 0;
        to[1] = b;
      }
    });
    if (finite)
      return;
    // Seldom: it is to be short.
    DBC_NO_UNROLL
    for (int32_t index = 0; index < kWarpRows / 16 * kOfWarp * 8; ++index) {
      const int32_t warp = threadIdx.x / kWarp, lane = threadIdx.x % kWarp;
      const int32_t n_tile = warp % kOutputWarps * kOfWarp + index / 8 % kOfWarp;
      const int32_t s = kTiles > 1 ? n_tile / kOfTile : 0,
                    of_tile = kTiles > 1 ? n_tile % kOfTile : first + n_tile;
      const int32_t i = warp / kOutputWarps * kWarpRows + index / 8 / kOfWarp * 16 + index % 4 / 2 * 8 +
                        lane / 4,
                    o = of_tile * kNTile + index % 8 / 4 * 8 + lane % 4 * 2 + index % 2;
      if (i >= count_ || o >= kOutputs)
        continue;
      float &sum = into_[(s * kRows + i) * kOutputs + o];
      sum = finite_or_plain(sum, i, o, matrix_, weights(s), tile(s), x...);
    }
  }

  const int32_t count_, number_;
  const Fragments &matrix_;
  const Tile tile_;
  float *const stages_;
  const float **const rows_; ///< of each operand, in shared memory
  float *const into_;
};

} // namespace dbc::cuda
