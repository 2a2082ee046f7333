// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the kernels of compiled models are made of. NAME.cu includes it and is compiled by nvcc; or by any C++
// compiler, and then its kernels run on the CPU, see shim.h. Flags that results rely on: -fmad=false (nvcc),
// -ffp-contract=off.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/math.h>

#if defined(__CUDACC__)
#include <dbc/cuda/gpu.h>
#else
#include <dbc/cuda/shim.h>
#endif

#include <algorithm>
#include <cstdint>
#include <limits>

#define DBC_DEVICE __device__ __forceinline__

#include <dbc/cuda/loops.h>
#include <dbc/cuda/products.h>
#include <dbc/cuda/ptx.h>
#include <dbc/cuda/row_sums.h>
#include <dbc/cuda/tensor_cores.h>

namespace dbc::cuda {

//===-- Launching ---------------------------------------------------------------------------------------===//

/// What a block of threads does of a launch, or of a persistent kernel's stage: work items of some rows, and
/// of each a tile, for all of them the same where there are enough blocks.
class TileScheduler {
public:
  DBC_DEVICE TileScheduler(int32_t items, int32_t tiles, const Blocks &blocks = Grid())
      : tiles_(tiles), all_(items * tiles), number_(blocks.number) {
    step_ = blocks.count >= tiles ? blocks.count / tiles * tiles : blocks.count;
    if (blocks.count >= tiles && number_ >= step_)
      number_ = all_; // one too many
  }
  DBC_DEVICE bool any() const { return number_ < all_; }
  DBC_DEVICE void next() { number_ += step_; }
  DBC_DEVICE int32_t item() const { return number_ / tiles_; }
  DBC_DEVICE int32_t tile() const { return number_ % tiles_; }

private:
  int32_t tiles_, all_, number_, step_;
};

/// Begins to copy a matrix, of which the tile that a TileScheduler gives a block of threads is resident, into
/// `memory` that its threads share. The block group has at least `tiles` blocks. It is there behind
/// wait_for_copies() and a barrier. By the block.
DBC_DEVICE Fragments copy_async(const Fragments &matrix, int32_t tiles, float *memory,
                                const Blocks &block_group) {
  const int32_t count = matrix.k_tiles * matrix.n_tiles * kFragment;
  const float *tile = matrix.fragments + int64_t(block_group.number % tiles) * count;
  for (int32_t n = threadIdx.x * 4; n < count; n += blockDim.x * 4)
    copy_quad(memory + n, tile + n);
  return {memory, matrix.bias, matrix.k_tiles, matrix.n_tiles, true};
}

//===-- Memory of a block -------------------------------------------------------------------------------===//

/// That of this block, from byte `offset` on.
template <class T> DBC_DEVICE T *block_scratch(const BlockScratch &scratch, int64_t offset) {
  return reinterpret_cast<T *>(scratch.memory + int64_t(blockIdx.y * gridDim.x + blockIdx.x) * scratch.bytes +
                               offset);
}

//===-- Rows and what is wrong in them ------------------------------------------------------------------===//

/// The row at a position of an index set's order list, null where rows are in order.
DBC_DEVICE int32_t row_at(const int32_t *order, int32_t position) {
  return order != nullptr ? order[position] : position;
}

/// Writes down that something is wrong. Of any thread; what one thread finds stands in its order.
DBC_DEVICE void record_error(const Errors &errors, int32_t launch, int32_t site, Position position,
                             int32_t a = 0, int32_t b = 0, int32_t c = 0) {
  const int32_t number = atomicAdd(errors.count, 1);
  if (number < errors.capacity)
    errors.records[number] = {launch, position, site, {a, b, c}};
}

// Integers as the language means them: each returns whether the result exists; where not, *out is 0.
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
