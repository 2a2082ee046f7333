// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The blocks of threads that share the rows of a stage, and how those of a persistent kernel wait for each
// other. The function of a stage in a loop is a template of one of these:
//
//   Grid              all blocks of a launch of that stage alone: nobody waits
//   BarrierGroup      those that have the same inputs in a persistent kernel: behind each stage all of them
//                     wait at a barrier, which is a counter
//   ElementSyncGroup  the same without a counter: whoever needs an element that another block writes in the
//                     loop waits for that element. Its memory holds kUnset before, which nobody writes
//
// Elements that blocks may wait for are read and written by the block group's functions, whichever it is;
// there is one order of operations, and results are the same bit by bit.
#pragma once

#include <dbc/cuda/arrays.h>
#include <dbc/cuda/ptx.h>
#include <dbc/math.h>

#include <cstdint>

namespace dbc::cuda {

/// A number whose bits are not kUnset: those of what is no number are all the same.
DBC_DEVICE float canonicalise_nan(float x) { return x == x ? x : __builtin_bit_cast(float, 0x7fc00000u); }

/// Blocks of threads that share rows, and the number of this one among them.
struct Blocks {
  int32_t number = 0, count = 1;

  /// A number that another block may have written.
  template <class T> DBC_DEVICE static T read(const T &x) { return x; }
  DBC_DEVICE static void write(float &x, float value) { x = canonicalise_nan(value); }
  /// The same in two steps, so that several are on their way at once: elements that load() gave are all there
  /// behind wait_for_elements(), which calls again() to load them once more.
  DBC_DEVICE static float load(const float *at) { return *at; }
  DBC_DEVICE static float4 load_quad(const float *at) { return cuda::load_quad(at); }
  template <int32_t kCount, class Again>
  DBC_DEVICE static void wait_for_elements(const float (&)[kCount], Again) {}
  /// Behind wait_for_elements() the threads of a warp are together again; where nobody waited they are so
  /// without it. By the warp.
  DBC_DEVICE static void meet_in_warp() {}
};

/// All blocks of a launch that is not launch_cooperative()'s, which has a row for each block group.
struct Grid : Blocks {
  DBC_DEVICE Grid() : Blocks{static_cast<int32_t>(blockIdx.x), static_cast<int32_t>(gridDim.x)} {}
};

/// The blocks of a persistent kernel that have the same inputs: a row of its grid, so that no thread computes
/// which ones these are, nor holds their number in a register.
class BlockGroup : public Blocks {
public:
  /// By a block of launch_cooperative().
  DBC_DEVICE explicit BlockGroup(const PersistentLoop &loop)
      : Blocks{static_cast<int32_t>(blockIdx.x), static_cast<int32_t>(gridDim.x)},
        block_groups_(loop.block_groups), block_group_(static_cast<int32_t>(blockIdx.y)) {}
  /// Where the bounds of the group's rows of a level or step stand: rows bounds[at] .. bounds[at + 1] - 1.
  DBC_DEVICE int32_t at(int32_t time_step) const { return time_step * block_groups_ + block_group_; }
  /// What the block is at, for the words about a wait that has no end: its work item of a stage at level or
  /// step `time_step`, where the group's rows begin at `begin`; blocks have `rows` rows of one of `tiles`
  /// tiles.
  DBC_DEVICE void begins(const char *stage, int32_t time_step, int32_t begin, int32_t rows, int32_t tiles) {
    at_ = {stage, time_step, begin + number / tiles * rows};
  }

protected:
  int32_t block_groups_, block_group_;
  Progress at_;
};

/// All blocks of a group wait for each other, and see what each wrote before; they must be there at once.
/// What other blocks wrote is read by plain loads behind wait(): load_acquire drops what the first-level
/// cache held.
class BarrierGroup : public BlockGroup {
public:
  /// `counters` are kCounters numbers for each loop of an entry, `before` each before the launch.
  DBC_DEVICE BarrierGroup(const PersistentLoop &loop, int32_t *counters, int32_t number, uint32_t before = 0)
      : BlockGroup(loop), arrived_(counters + number * kCounters + block_group_ * kCounterStride),
        all_(before) {}
  DBC_DEVICE void wait() {
    __syncthreads();
    if (threadIdx.x == 0) {
      all_ += static_cast<uint32_t>(count);
      add_release(arrived_, 1);
      // In a long loop both come past 2^31: what counts is which one is ahead.
      for (Spin spin; static_cast<int32_t>(static_cast<uint32_t>(load_acquire(arrived_)) - all_) < 0;)
        spin.wait(at_);
    }
    __syncthreads();
  }

private:
  int32_t *arrived_;
  uint32_t all_; ///< arrivals when all have come this time
};

/// Each number is its own flag: loads and stores need no order among each other, and go past the first-level
/// cache.
class ElementSyncGroup : public BlockGroup {
public:
  DBC_DEVICE ElementSyncGroup(const PersistentLoop &loop, int32_t *, int32_t) : BlockGroup(loop) {}
  template <class T> DBC_DEVICE T read(const T &x) const {
    float value[1] = {load(&x)};
    wait_for_elements(value, [&] { value[0] = load(&x); });
    return value[0];
  }
  DBC_DEVICE static void write(float &x, float value) { store_relaxed(&x, canonicalise_nan(value)); }
  DBC_DEVICE static float load(const float *at) { return load_relaxed(at); }
  DBC_DEVICE static float4 load_quad(const float *at) { return load_quad_relaxed(at); }
  template <int32_t kCount, class Again>
  DBC_DEVICE void wait_for_elements(const float (&elements)[kCount], Again again) const {
    auto all_there = [&] {
      bool there = true;
      DBC_UNROLL
      for (int32_t n = 0; n < kCount; ++n)
        there = there && __builtin_bit_cast(uint32_t, elements[n]) != kUnset;
      return there;
    };
    for (Spin spin; !all_there(); again())
      spin.wait(at_);
  }
  DBC_DEVICE static void meet_in_warp() { __syncwarp(); }
  /// The block's memory may be used for the next stage.
  DBC_DEVICE static void wait() { __syncthreads(); }
};

} // namespace dbc::cuda
