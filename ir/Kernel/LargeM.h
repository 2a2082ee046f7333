// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Large-M tiles of a GPU: kLargeMRows rows in a block of threads, and several of a stage's tiles at once, as
// dbc/cuda/large_m.h has them.
#pragma once

#include "ir/Kernel/Kernel.h"

namespace dbc::kernel {

/// N tiles that a warp has at most at once; K tiles that are in shared memory at once.
constexpr int64_t kMostNTilesOfWarp = 5, kLargeMStages = 3;
/// N tiles that a block has at once of `tiles` tiles of so many outputs each: all; of a single tile an even
/// number.
constexpr int64_t largeMNTiles(int64_t outputs, int64_t tiles) {
  const int64_t nTiles = (outputs + kNTile - 1) / kNTile, half = (nTiles + 1) / 2;
  return tiles > 1 ? tiles * nTiles : 2 * (half < kMostNTilesOfWarp ? half : kMostNTilesOfWarp);
}
/// Bytes of shared memory for these K tiles, and for where the rows of each operand begin.
constexpr int64_t largeMScratch(int64_t nTiles, int64_t operands) {
  return kLargeMStages * (kLargeMRows + nTiles * kNTile) * kKTile * 4 + operands * kLargeMRows * 8;
}

/// Outputs of a product; where it is by tiles, of one.
int64_t outputsOf(ProductOp product);
/// How many of a stage's tiles a product computes at once in large-M blocks.
int64_t largeMTiles(ProductOp product);
/// How many tiles a local holds there: those of the product that gives it.
int64_t largeMTiles(LocalOp local);
/// How many tiles a block does at once there.
int64_t largeMTiles(FuncOp func);
/// Bytes of shared memory of a block with large-M tiles. What warps add up of several products has the same
/// memory.
int64_t largeMBytes(FuncOp func);
/// The same of a local: what a product gives is there for each of the tiles.
int64_t largeMBytes(LocalOp local);

} // namespace dbc::kernel
