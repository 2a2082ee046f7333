// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The device that the CPU plays (see shim.h, which has the words of CUDA for it): blocks of threads, their
// interleaving, where they meet, and what they share.
#pragma once

#include <dbc/cuda/arrays.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

/// CUDA's words for numbers that one instruction loads.
struct alignas(16) float4 {
  float x, y, z, w;
};

namespace dbc::cuda::shim {

struct Index {
  int32_t x = 0, y = 0;
};

/// The device of one thread of the host: runs kernels, block by block, interleaved.
class Machine {
public:
  static Machine &own();
  Machine();
  ~Machine();

  /// Chooses the interleaving of the launches to come.
  void seed(uint64_t number);

  /// Runs a kernel of `grid.x * grid.y` blocks; `cooperative`: all of them are there at once.
  void launch(std::function<void()> kernel, Index grid, int32_t threads, size_t shared, bool cooperative);

  /// Does what the host begins, or writes it down while that is asked for.
  void perform(const std::function<void()> &work);
  /// From now on nothing is done that the host begins: for measuring what the host itself does.
  void rest();
  bool resting() const;
  using Graph = std::vector<std::function<void()>>;
  void capture();
  bool capturing() const;
  Graph end_capture();

  /// Blocks that are there at once where they wait for each other: a few, as on a device that is full, or
  /// with some seeds of the environment enough for block groups with several tiles.
  int32_t co_resident() const;

  /// What memory holds that nobody has written: no number, or with some seeds of the environment zeros, as
  /// flags that are not 0 look like ones that were set.
  int rubbish() const;

  /// What went wrong since it was asked last; empty if nothing.
  std::string take_failure();

  // For the thread that is running.
  const Index &thread() const;
  const Index &block() const;
  const Index &block_size() const;
  const Index &grid_size() const;
  void barrier(int32_t line);
  void warp_barrier(int32_t line);
  /// Copies that a thread began land when it waits for them, not before. Of `size` numbers, at a multiple of
  /// their bytes, `count` are read, the others are 0.
  void copy_later(float *to, const float *from, int32_t size, int32_t count);
  void end_copy_group();
  /// All but those of the last `pending` groups.
  void land_copies(int32_t pending);
  void land_copies(); ///< those of no group, too
  /// Four numbers of each thread of the warp, for all of them; one must not come here again before all are
  /// behind the call after.
  const float (*exchange(const float (&mine)[4]))[4];
  /// Lets others go on; for a thread that waits in a loop for what they do.
  void spin(const Progress &at);
  void fail(const std::string &why);
  /// Arrays of one function are there at the same time, those of no function (null) as long as the kernel
  /// runs; each has memory of its own here, so that a sanitizer sees what is beyond it.
  void *shared(int32_t line, const char *function, size_t offset, size_t bytes);
  template <class T> T *shared(int32_t line, const char *function, size_t offset, size_t count) {
    return static_cast<T *>(shared(line, function, offset, count * sizeof(T)));
  }

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A K tile of a row, or of the weights of an output, as tensor cores take it: each element is a sum of two
/// numbers of 11 bits.
struct KTile {
  double high[kKTile], low[kKTile];
};
/// `row` has kKTile elements; `fragment` is that of the output's N tile, see fragment_of().
KTile k_tile_of_row(const float *row);
KTile k_tile_of_weights(Math math, const float *fragment, int32_t output);
/// Adds what tensor cores make of both. Here and not in a header for the reason that Machine.cpp has.
void add_as_tensor_cores(Math math, float &sum, const KTile &weights, const KTile &row);

/// Fills a guard zone with what whoever reads it as a number has none of (NaN), and as an index one below 0;
/// or takes it down.
void set_guard_zone(void *memory, size_t bytes, bool up);
/// How many of its bytes, from the first on, are as they were put.
size_t untouched(const void *memory, size_t bytes);

} // namespace dbc::cuda::shim
