// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Sums over the rows of a batch in kernels: of outer products, which the gradients of matrices are. Rows are
// cut into slices, so that there are enough blocks of threads; what a slice gives is added up by itself, then
// slice after slice. How many slices there are follows from the rows alone, and so does the order of
// additions. Functions that say "by the block" are called by all threads of a block alike, and do not wait
// for the others before they begin or behind their end.
#pragma once

#include <dbc/cuda/products.h>

#include <initializer_list>

namespace dbc::cuda {

//===-- Outer products ----------------------------------------------------------------------------------===//

/// Whether a row has a number that is not 0.
template <class Operand> DBC_DEVICE bool has_any(const Operand &x, int32_t row) {
  const auto *numbers = x.at(row);
  bool any = false;
  DBC_NO_UNROLL
  for (int32_t k = 0; k < x.length; ++k)
    any |= numbers[k] != 0;
  return any;
}

/// The sum over `count` rows, in order, of element (i, j) of their outer products; rows of which either
/// operand is all zeros add nothing.
template <class Real, class A, class X>
DBC_DEVICE Real sum_of_rows(int32_t count, int32_t i, int32_t j, const A &a, const X &x) {
  Real sum = 0;
  DBC_NO_UNROLL
  for (int32_t row = 0; row < count; ++row)
    if (has_any(a, row) && has_any(x, row))
      sum = fused(static_cast<Real>(a.at(row)[i]), static_cast<Real>(x.at(row)[j]), sum);
  return sum;
}

/// A tile of sums of outer products on the tensor cores: kSumTile rows of the matrix times as many columns,
/// of which a warp has 32 times 16. Rows of the batch are the inner axis: kStageRows of them are copied into
/// shared memory while those before are multiplied, one behind the other.
template <Math kMath> class SumTile {
  static constexpr int32_t kStageRows = kSumTileScratch / (4 * kSumTilePitch), kColumnWarps = 4, kMTiles = 2,
                           kNTiles = 2, kParts = kThreads / kSumTile;

  static_assert(kThreads % kSumTile == 0 && kStageRows % kParts == 0 && kStageRows % kKTile == 0,
                "threads and rows make up stages");

public:
  /// into[i * x.length + j] += the sum over `count` rows r of a[r][i] * x[r][j], for i from first_i on, below
  /// `height`, and j from first_j on. With first_j 0 and a `bias`, bias[i] += the sum of a[r][i] too.
  /// `memory` has kSumTileScratch numbers. By the block.
  template <class A, class X>
  static DBC_DEVICE void add(int32_t count, int32_t height, int32_t first_i, int32_t first_j, float *memory,
                             float *into, float *bias, const A &a, const X &x) {
    SumTile tile(count, height, first_i, first_j, memory);
    tile.multiply(a, x, bias != nullptr && first_j == 0);
    tile.store(into, a, x);
    if (bias != nullptr && first_j == 0)
      tile.store_bias(bias);
  }

private:
  DBC_DEVICE SumTile(int32_t count, int32_t height, int32_t first_i, int32_t first_j, float *memory)
      : count_(count), height_(height), first_i_(first_i), first_j_(first_j), memory_(memory) {}

  template <class A, class X> DBC_DEVICE void multiply(const A &a, const X &x, bool with_bias) {
    const int32_t stages = (count_ + kStageRows - 1) / kStageRows;
    copy(0, stages, a, x);
    DBC_NO_UNROLL
    for (int32_t stage = 0; stage < stages; ++stage) {
      copy(stage + 1, stages, a, x);
      wait_for_copies<1>();
      __syncthreads(); // all have copied their part
      const float *rows = stage_of(stage);
      DBC_UNROLL
      for (int32_t k_tile = 0; k_tile < kStageRows / kKTile; ++k_tile)
        add_k_tile(rows + k_tile * kKTile * kSumTilePitch);
      if (with_bias) {
        DBC_UNROLL
        for (int32_t n = 0; n < kStageRows / kParts; ++n)
          column_ += rows[(own_part() * (kStageRows / kParts) + n) * kSumTilePitch + own_column()];
      }
      __syncthreads(); // nobody needs it any more
    }
    wait_for_copies(); // of the empty last group
  }

  DBC_DEVICE float *stage_of(int32_t stage) const {
    return memory_ + stage % 2 * (2 * kStageRows * kSumTilePitch);
  }

  /// Begins to copy a stage's rows of both operands, if there is one; zeros stand for what there is not.
  template <class A, class X>
  DBC_DEVICE void copy(int32_t stage, int32_t stages, const A &a, const X &x) const {
    if (stage < stages) {
      copy_rows(stage_of(stage), stage * kStageRows, a, first_i_);
      copy_rows(stage_of(stage) + kStageRows * kSumTilePitch, stage * kStageRows, x, first_j_);
    }
    end_copy_group();
  }
  template <class Operand>
  DBC_DEVICE void copy_rows(float *to, int32_t first_row, const Operand &x, int32_t first) const {
    constexpr int32_t kOfRow = kSumTile / 4;
    static_assert(kStageRows * kOfRow % kThreads == 0, "each thread copies as many");
    // Copies are asynchronous already, and registers are few.
    DBC_NO_UNROLL
    for (int32_t n = 0; n < kStageRows * kOfRow; n += kThreads) {
      const int32_t number = n + int32_t(threadIdx.x), row = number / kOfRow, column = number % kOfRow * 4;
      float *own = to + row * kSumTilePitch + column;
      if (first_row + row < count_)
        copy_inputs(x, own, x.at(first_row + row), first + column);
      else
        own[0] = own[1] = own[2] = own[3] = 0;
    }
  }

  /// Adds what 16 rows of both give.
  DBC_DEVICE void add_k_tile(const float *rows) {
    multiply_columns<kMath>(sums_, rows + own_i(), rows + kStageRows * kSumTilePitch + own_j(),
                            kSumTilePitch);
  }

  /// Where this warp's part of the tile begins.
  static DBC_DEVICE int32_t own_i() { return int32_t(threadIdx.x) / kWarp / kColumnWarps * (16 * kMTiles); }
  static DBC_DEVICE int32_t own_j() { return int32_t(threadIdx.x) / kWarp % kColumnWarps * (8 * kNTiles); }
  /// Of a bias a thread adds up a part of each stage's rows in one column.
  static DBC_DEVICE int32_t own_column() { return int32_t(threadIdx.x) % kSumTile; }
  static DBC_DEVICE int32_t own_part() { return int32_t(threadIdx.x) / kSumTile; }

  template <class A, class X> DBC_DEVICE void store(float *into, const A &a, const X &x) const {
    const int32_t lane = threadIdx.x % kWarp;
    bool finite = true;
    auto each = [&](auto visit) {
      DBC_UNROLL
      for (int32_t n = 0; n < kMTiles * kNTiles * 4; ++n) {
        const int32_t m = n / 4 / kNTiles, n_tile = n / 4 % kNTiles,
                      i = first_i_ + own_i() + m * 16 + n % 4 / 2 * 8 + lane / 4,
                      j = first_j_ + own_j() + n_tile * 8 + lane % 4 * 2 + n % 2;
        if (i < height_ && j < x.length)
          visit(i, j, sums_[m][n_tile][n % 4], into[int64_t(i) * x.length + j]);
      }
    };
    each([&](int32_t, int32_t, float sum, float &) { finite &= sum - sum == 0; });
    if (finite)
      each([](int32_t, int32_t, float sum, float &to) { to += sum; });
    else // cutting an infinity in two makes none of it
      each([&](int32_t i, int32_t j, float sum, float &to) {
        to += sum - sum == 0 ? sum : sum_of_rows<float>(count_, i, j, a, x);
      });
  }

  DBC_DEVICE void store_bias(float *bias) const {
    memory_[threadIdx.x] = column_; // behind the last stage's barrier
    __syncthreads();
    const int32_t i = first_i_ + own_column();
    if (own_part() == 0 && i < height_) {
      float sum = memory_[own_column()];
      DBC_UNROLL
      for (int32_t part = 1; part < kParts; ++part)
        sum += memory_[part * kSumTile + own_column()];
      bias[i] += sum;
    }
  }

  const int32_t count_, height_, first_i_, first_j_;
  float *const memory_;
  float sums_[kMTiles][kNTiles][4] = {};
  float column_ = 0;
};

/// into[i * x.length + j] += the sum over `count` rows r of a[r][i] * x[r][j], for those of its tiles of
/// kSumTile times kSumTile numbers that tile number `tile` of `tiles` has; i is below `height`. A row of
/// which a or x is all zeros adds nothing. Unless it is null, bias[i] += the sum of a[r][i] too. `memory` has
/// kSumTileScratch numbers. By the block.
template <Math kMath, class A, class X>
DBC_DEVICE void add_outer_products(int32_t count, int32_t height, int32_t tile, int32_t tiles, float *memory,
                                   float *into, float *bias, A a, X x) {
  const int32_t across = (x.length + kSumTile - 1) / kSumTile,
                all = (height + kSumTile - 1) / kSumTile * across;
  for (int32_t n = tile; n < all; n += tiles) {
    if (n > tile)
      __syncthreads(); // the memory of the tile before
    SumTile<kMath>::add(count, height, n / across * kSumTile, n % across * kSumTile, memory, into, bias, a,
                        x);
  }
}

/// The same without tensor cores, in any arithmetic: each sum in the order of rows.
template <class Real, class A, class X>
DBC_DEVICE void add_outer_products_in_order(int32_t count, int32_t height, int32_t tile, int32_t tiles,
                                            Real *into, Real *bias, A a, X x) {
  const int32_t across = (x.length + kSumTile - 1) / kSumTile,
                all = (height + kSumTile - 1) / kSumTile * across;
  for (int32_t n = tile; n < all; n += tiles)
    for (int32_t element = threadIdx.x; element < kSumTile * kSumTile; element += kThreads) {
      const int32_t i = n / across * kSumTile + element / kSumTile,
                    j = n % across * kSumTile + element % kSumTile;
      if (i >= height || j >= x.length)
        continue;
      Real sum = 0, own = 0;
      for (int32_t row = 0; row < count; ++row) {
        const auto left = static_cast<Real>(a.at(row)[i]);
        sum = fused(left, static_cast<Real>(x.at(row)[j]), sum);
        own += left;
      }
      into[int64_t(i) * x.length + j] += sum - sum == 0 ? sum : sum_of_rows<Real>(count, i, j, a, x);
      if (bias != nullptr && j == 0)
        bias[i] += own;
    }
}

//===-- Slices of rows ----------------------------------------------------------------------------------===//

/// Rows of a slice.
struct RowSlice {
  int32_t begin, end;
  DBC_DEVICE RowSlice(int32_t begin_of_all, int32_t end_of_all, int32_t slice, int32_t slices)
      : begin(begin_of_all + int32_t(int64_t(end_of_all - begin_of_all) * slice / slices)),
        end(begin_of_all + int32_t(int64_t(end_of_all - begin_of_all) * (slice + 1) / slices)) {}
};

/// Where a slice adds up what goes to `into` in the end: there where it is the only one, else from number
/// `first` on of its part of `of_slices`, `size` numbers each. Null is fine where it is not read.
template <class Real>
DBC_DEVICE Real *sums_of(Real *into, Real *of_slices, int64_t first, int64_t size, int32_t slice,
                         int32_t slices) {
  return slices == 1 ? into : of_slices + size * slice + first;
}

/// Some arrays of which all numbers become 0.
template <class Real> struct ClearedArray {
  Real *numbers = nullptr;
  int64_t count = 0;
};
constexpr int32_t kMostCleared = 8;
template <class Real> struct ClearedNumbers { ClearedArray<Real> arrays[kMostCleared]; };

/// Some arrays that slices of rows are added up for; in a slice their numbers lie from `first` on.
template <class Real> struct SummedArray {
  Real *into = nullptr;
  int64_t count = 0;
  int64_t first = 0;
};
constexpr int32_t kMostSummed = 16;
template <class Real> struct SummedNumbers { SummedArray<Real> arrays[kMostSummed]; };

// Of the program's several models each has its own.
namespace {

template <class Real>
__global__ void __launch_bounds__(kThreads) clear_numbers(const ClearedNumbers<Real> cleared) {
  for (int32_t array = 0; array < kMostCleared; ++array)
    for (int64_t n = int64_t(blockIdx.x) * kThreads + int32_t(threadIdx.x); n < cleared.arrays[array].count;
         n += int64_t(gridDim.x) * kThreads)
      cleared.arrays[array].numbers[n] = 0;
}

/// Of each array into[n] += what the slices, of `size` numbers, have, one after the other.
template <class Real>
__global__ void __launch_bounds__(kThreads)
    add_sums_of_slices(const SummedNumbers<Real> summed, const Real *of_slices, int64_t size,
                       int32_t slices) {
  for (int32_t array = 0; array < kMostSummed; ++array) // by its number: an address is one of a copy
    for (int64_t n = int64_t(blockIdx.x) * kThreads + int32_t(threadIdx.x); n < summed.arrays[array].count;
         n += int64_t(gridDim.x) * kThreads) {
      Real sum = summed.arrays[array].into[n];
      for (int32_t slice = 0; slice < slices; ++slice)
        sum += of_slices[summed.arrays[array].first + n + size * slice];
      summed.arrays[array].into[n] = sum;
    }
}

/// Makes numbers 0.
template <class Real> void clear(void *stream, std::initializer_list<ClearedArray<Real>> arrays) {
  for (auto next = arrays.begin(); next != arrays.end();) {
    ClearedNumbers<Real> cleared;
    int64_t most = 0;
    for (ClearedArray<Real> &array : cleared.arrays)
      if (next != arrays.end()) {
        array = *next++;
        most = std::max(most, array.count);
      }
    launch(clear_numbers<Real>, blocks_of_numbers(most), 0, stream, cleared);
  }
}
template <class Real> void clear_slices(Real *of_slices, int64_t size, int32_t slices, void *stream) {
  if (slices > 1)
    clear<Real>(stream, {{of_slices, size * slices}});
}
/// Adds to arrays what slices of `size` numbers have of them, in this order.
template <class Real>
void add_slices(const Real *of_slices, int64_t size, int32_t slices, void *stream,
                std::initializer_list<SummedArray<Real>> arrays) {
  for (auto next = arrays.begin(); slices > 1 && next != arrays.end();) {
    SummedNumbers<Real> summed;
    int64_t most = 0;
    for (SummedArray<Real> &array : summed.arrays)
      if (next != arrays.end()) {
        array = *next++;
        most = std::max(most, array.count);
      }
    launch(add_sums_of_slices<Real>, blocks_of_numbers(most), 0, stream, summed, of_slices, size, slices);
  }
}
} // namespace

} // namespace dbc::cuda
