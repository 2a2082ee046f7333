// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the kernels of compiled models are given besides arrays of numbers, and how their memory is had. Plain
// C++: both the host's code of a model and its kernels include it.
#pragma once

#include <dbc/dropout.h>
#include <dbc/inline.h>
#include <dbc/optimizer_step.h>
#include <dbc/status.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace dbc::cuda {

/// Threads of a block.
constexpr int32_t kThreads = 256;
/// That take each step together.
constexpr int32_t kWarp = 32, kWarps = kThreads / kWarp;

/// Bytes that a kernel may be given, and some to spare: nvcc before 12.1 allows 4 KB.
#if defined(__CUDACC__) &&                                                                                   \
    (__CUDACC_VER_MAJOR__ < 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 1))
constexpr int32_t kMostArguments = 4000;
#else
constexpr int32_t kMostArguments = 32000;
#endif

/// Rows of a product with one accumulator an output that share each load of a weight.
constexpr int32_t kRowsAtOnce = 4;

/// Rows of a block of threads in large-M tiles, and how many such blocks the rows of a launch must fill to be
/// worth it: half as many as an H100 computes at once (bench/README.md has what 32 and 128 take).
constexpr int32_t kLargeMRows = 128, kLargeMBlocks = 64;
/// How many rows begin .. end - 1 fill, where so many blocks share the tiles of a row. (Of a wide matrix few
/// rows have many blocks, but each with little to do.)
inline int32_t filled_large_m_blocks(int32_t begin, int32_t end, int32_t shares) {
  const int64_t rows = int64_t(end) - begin;
  return static_cast<int32_t>(std::min<int64_t>((rows * shares + kLargeMRows - 1) / kLargeMRows, 1 << 20));
}

/// What a time step of a loop has to do: nothing, fewer rows than fill large-M tiles, or as many.
enum class TimeStepRows { None, Few, LargeM };
/// How many time steps at the beginning of a loop are launches of their own, where `rows_of` says what each
/// has to do: up to the last one that fills large-M tiles before the first one that has fewer rows. (A tree's
/// leaves may be another stage: then the first level has nothing to do.)
template <class RowsOf> int32_t large_m_prefix(int32_t time_steps, RowsOf rows_of) {
  int32_t prefix = 0;
  for (int32_t time_step = 0; time_step < time_steps; ++time_step) {
    const TimeStepRows rows = rows_of(time_step);
    if (rows == TimeStepRows::Few)
      break;
    if (rows == TimeStepRows::LargeM)
      prefix = time_step + 1;
  }
  return prefix;
}

/// N tiles that a warp adds up at once in large-M tiles: their sums, and those of the slices before, are in
/// its threads' registers.
constexpr int32_t kMostNTilesOfWarp = 5;
/// K tiles of the operands that are in shared memory at once there.
constexpr int32_t kLargeMStages = 3;

/// Blocks of threads for rows begin .. end - 1, `block` rows each, and tiles. Where there is more to do, a
/// block does several work items.
inline int32_t blocks_of(int32_t begin, int32_t end, int32_t block, int32_t tiles, int32_t most = 1 << 20) {
  return static_cast<int32_t>(
      std::clamp<int64_t>((int64_t(end) - begin + block - 1) / block * tiles, 1, most));
}

/// Blocks of threads for so many numbers that are cleared or added up, each by a thread.
inline int32_t blocks_of_numbers(int64_t count) {
  return static_cast<int32_t>(std::clamp<int64_t>((count + kThreads - 1) / kThreads, 1, 1 << 12));
}

/// A column of a batch in a device's memory, of which a sub-batch has the numbers of its own rows, from
/// number `first` on. They are had by their numbers in the whole column, as rows have the batch's numbers.
template <class T> struct Column {
  const T *data = nullptr;
  int64_t first = 0;
  constexpr const T *operator+(int64_t number) const { return data + (number - first); }
  constexpr const T &operator[](int64_t number) const { return data[number - first]; }
};

/// A matrix of parameters in a device's memory, for products: weight (k, o) of input k and output o at
/// weights[k * outputs + o], so that threads next to each other read elements next to each other. Products
/// start from `bias`, one number an output. Of several matrices (tables) one stands behind the other, then
/// comes the bias.
template <class Real> struct Matrix {
  const Real *weights = nullptr, *bias = nullptr;
  int32_t inputs = 0, outputs = 0;
};
/// Where the bias begins behind so many weights: at a multiple of 16 bytes, which a library reads at once.
constexpr int64_t bias_behind(int64_t weights) { return (weights + 3) / 4 * 4; }

/// A matrix of parameters in a device's memory, for its tensor cores: what the threads of a warp hold of it,
/// their fragments. Outputs are cut into tiles, tiles into N tiles of 16; inputs into K tiles of 16, of which
/// each operand of a product has its own. The elements of an N tile and a K tile are contiguous, kFragment of
/// them, see fragment_of(); N tiles of a K tile of a tile one behind the other, then K tiles, then tiles.
/// What stands at no output or input is 0. Products start from `bias`, one number an output.
struct Fragments {
  const float *fragments = nullptr, *bias = nullptr;
  int32_t k_tiles = 0, n_tiles = 0; ///< of the inputs; of a tile
  bool resident = false;            ///< the tile of this block of threads alone, see copy_async()
};
constexpr int32_t kNTile = 16, kKTile = 16, kFragment = kNTile * kKTile;
/// Rows and columns of a tile of sums of outer products; how far rows are apart there in shared memory, so
/// that a warp's threads read from banks of their own; and numbers that it has there.
constexpr int32_t kSumTile = 64, kSumTilePitch = kSumTile + 8, kSumTileScratch = 2 * 2 * 32 * kSumTilePitch;
/// A sum over rows is cut into slices of at most so many, or of more where there are `most` slices. Bits
/// depend on both numbers.
constexpr int32_t kSliceRows = 64;
constexpr int32_t slices_of(int32_t rows, int32_t most) {
  const int32_t all = (rows + kSliceRows - 1) / kSliceRows;
  return all < 1 ? 1 : all < most ? all : most;
}
/// Rows of the other operand that are multiplied at once.
constexpr int32_t kMTile = 8;

/// N tiles that a block has at once there of `tiles` tiles of so many outputs each: all; of a single tile
/// those of two warps, which have half of them each.
constexpr int32_t large_m_n_tiles(int32_t outputs, int32_t tiles) {
  const int32_t n_tiles = (outputs + kNTile - 1) / kNTile, half = (n_tiles + 1) / 2;
  return tiles > 1 ? tiles * n_tiles : 2 * (half < kMostNTilesOfWarp ? half : kMostNTilesOfWarp);
}
/// Elements of a K tile in large-M tiles: of the rows, and of so many N tiles.
constexpr int32_t large_m_stage(int32_t n_tiles) { return kLargeMRows * kKTile + n_tiles * kFragment; }
/// Elements of shared memory that a product needs there, with so many operands.
constexpr int32_t large_m_scratch(int32_t n_tiles, int32_t operands) {
  return kLargeMStages * large_m_stage(n_tiles) +
         operands * kLargeMRows * int32_t(sizeof(const float *) / sizeof(float));
}

/// Where the weight of output o of an N tile and input k of a K tile lies in their fragment. Each thread of a
/// warp reads 4 elements at once in each of two steps: thread 4 g + t those of outputs g and g + 8 and inputs
/// 4 t + 2 step and 4 t + 2 step + 1. So it needs inputs 4 t .. 4 t + 3 of a row of the other operand, which
/// are contiguous.
constexpr int32_t fragment_of(int32_t o, int32_t k) {
  const int32_t step = k % 4 / 2, thread = o % 8 * 4 + k / 4;
  return step * 128 + thread * 4 + o / 8 * 2 + k % 2;
}

/// How tensor cores add up a product of f32: with operands rounded to the 11 bits of tf32, or each as a sum
/// of two such, three products of which are added: then errors are as with f32.
enum class Math { tf32, tf32x3 };

/// The nearest number of 11 bits; of two the one that is further from zero.
DBC_INLINE float nearest_tf32(float x) {
  if (x - x != 0)
    return x;
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits = (bits + 0x1000u) & 0xffffe000u;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

/// The same where that is a number: an infinity is no rounding of one.
DBC_INLINE float finite_tf32(float x) {
  const float nearest = nearest_tf32(x);
  return nearest - nearest == 0 ? nearest : x;
}

/// Where in a stage something was found wrong: its row, the number of the loop that threads share, and of the
/// iteration. One row has its failures in this order.
struct Position {
  int32_t row, loop, iteration;
};
/// Something that was wrong. `site` is the number of the check, of which the entry knows the words.
struct ErrorRecord {
  int32_t launch;
  Position position;
  int32_t site;
  int32_t numbers[3];
};
/// Where kernels write down what is wrong: `*count` records are asked for, the first `capacity` kept.
struct Errors {
  ErrorRecord *records = nullptr;
  int32_t *count = nullptr;
  int32_t capacity = 0, launch = 0;
};

/// How far a block of threads has come in a persistent kernel: the stage that it is at, of which level or
/// step, and the first row of its work item.
struct Progress {
  const char *stage = nullptr; ///< null where nobody said
  int32_t time_step = 0, row = 0;
};

/// Block groups, to each of which some inputs of a sub-batch are distributed in persistent kernels: at most
/// so many. Numbers from one group's counter to the next one's, which lie in sectors of their own.
constexpr int32_t kMaxBlockGroups = 16, kCounterStride = 8;
/// The counters of a persistent kernel.
constexpr int32_t kCounters = kMaxBlockGroups * kCounterStride;

/// A loop over levels or steps that one launch of a persistent kernel runs.
struct PersistentLoop {
  int32_t first, time_steps;    ///< levels or steps first .. time_steps - 1
  int32_t blocks, block_groups; ///< of threads, as many as there is work for; groups of as many of these
  bool by_element;              ///< blocks may wait for elements: memory where they do holds kUnset before
};

/// The bits of an element that is not there yet, where blocks wait for it; what stages write has others.
constexpr uint32_t kUnset = 0xffffffff;

/// Memory of a device for blocks of threads whose scratch does not fit what their threads share.
struct BlockScratch {
  unsigned char *memory = nullptr;
  int64_t bytes = 0; ///< of one block
};

class Blas;

//===-- Training ----------------------------------------------------------------------------------------===//

/// A step of one parameter, as kernels see it.
struct ParamStep {
  float *weights = nullptr, *first = nullptr, *second = nullptr; ///< of the parameter; see OptimizerState
  void *copy = nullptr;           ///< what the model has of it as it is, in numbers of its type; may be null
  const void *gradient = nullptr; ///< in numbers of the model's type: of the parameter, or of some rows
  const int32_t *rows = nullptr;  ///< these, ascending
  int32_t row_count = 0;
  int64_t width = 0;           ///< of a row; 0: the gradient is dense
  int64_t size = 0, given = 0; ///< numbers of the parameter, and of the gradient
  bool changes_all = true;     ///< whether numbers without a gradient change
  int32_t first_measured = 0;  ///< blocks of threads for the parameters before, by `given`
  int32_t first_changed = 0;   ///< the same, by what changes
  OptimizerStep step;

  /// Numbers that change.
  DBC_INLINE int64_t changed() const { return width > 0 && changes_all ? size : given; }
};
/// Numbers of a block of threads there.
constexpr int32_t kStepChunk = 4 * kThreads;
constexpr int32_t step_blocks(int64_t numbers) {
  return static_cast<int32_t>((numbers + kStepChunk - 1) / kStepChunk);
}

/// What a step finds of all gradients together.
struct StepTotals {
  float norm = 0, scale = 1;
  int32_t not_finite = -1; ///< the first parameter whose gradient is not finite; -1: none
  bool proceeds = false;   ///< whether weights are changed
};

/// A buffer or matrix of a model: numbers of its type, each of which is the weight at a place, or 0 where
/// there is none; the first `tf32` are rounded. Without `places` they are the weights from `first` on.
struct GatheredNumbers {
  void *to = nullptr;
  const int32_t *places = nullptr;
  int64_t count = 0, tf32 = 0, first = 0;
  int32_t first_block = 0;
};

/// Kernels of an optimizer, see cuda::Optimizer. They run in the order of the stream.
struct OptimizerKernels {
  /// The norm of the gradients of `count` parameters, by `blocks` blocks of threads, each of which has a
  /// place in `sums`; and how they are clipped to `clip_norm`, if that is above 0.
  void (*measure)(const ParamStep *params, int32_t count, int32_t blocks, float clip_norm, double *sums,
                  StepTotals *totals, void *stream);
  /// The step, if it proceeds.
  void (*change)(const ParamStep *params, int32_t count, int32_t blocks, const StepTotals *totals,
                 void *stream);
  /// Makes `count` arrays of what weights are now, by `blocks` blocks of threads.
  void (*gather)(const GatheredNumbers *arrays, int32_t count, int32_t blocks, const float *weights,
                 void *stream);
};

/// What a device can do for the host; NAME.cu of a model has one, made of CUDA's functions, or of the shim's
/// that run kernels on the CPU (dbc/cuda/shim.h). No function throws. A stream is CUDA's cudaStream_t, never
/// null.
struct Backend {
  /// A stream on a device; `stream` null: none is wanted. Fails with the reason: Code::limit where there is
  /// no driver or no code for the device, Code::bad_call where there is no such device.
  Status (*open)(int32_t device, void **stream);
  /// What the calling thread does from now on is about this device.
  void (*use)(int32_t device);
  void (*close)(void *stream);
  /// Memory of the device, and of the host for fast copies, at a multiple of 256 bytes; null where there is
  /// no more.
  void *(*allocate)(size_t bytes);
  void (*release)(void *memory);
  void *(*allocate_host)(size_t bytes);
  void (*release_host)(void *memory);
  /// Bytes that may still be had of the current device; null where nobody counts them.
  size_t (*available)();
  /// Begins in the order of the stream.
  void (*copy)(void *to, const void *from, size_t bytes, void *stream);
  /// Sets all bits, in the order of the stream.
  void (*fill)(void *memory, size_t bytes, void *stream);
  /// What went wrong when the calling thread began something, since it was asked last: Code::internal.
  Status (*begun)();
  /// Until all is done that was begun on the stream. Says what went wrong there: Code::internal.
  Status (*wait)(void *stream);
  /// Fills memory that nobody has written yet with what is no number; null where that costs time.
  void (*poison)(void *memory, size_t bytes);
  /// How many blocks of threads of one launch may wait for each other there, whatever they need: one on each
  /// processor. 0: none may.
  int32_t (*co_resident)(int32_t device);
  /// A stream for a graph alone, as not every stream can be written down: what the thread begins there is not
  /// done, until end_capture makes a graph of it and takes the stream back. Each fails with the reason,
  /// Code::limit where there is no memory, else Code::internal.
  Status (*capture)(void **stream);
  Status (*end_capture)(void *stream, void **graph);
  /// Begins all that the graph holds, in the order of the stream.
  void (*launch_graph)(void *graph, void *stream);
  void (*release_graph)(void *graph);
  /// What is between two arrays is nobody's to touch, or from now on again; null where nobody looks.
  void (*guard)(void *memory, size_t bytes, bool up);
  /// A library of products for a stream, which outlives it; the caller deletes it. Null where there is no
  /// memory of the host. What goes wrong is reported by Blas::status. Null if the model leaves none to it.
  Blas *(*make_blas)(void *stream) = nullptr;
  /// Asked where nothing of the caller's own is under way on the stream, and waits for nothing: whether the
  /// device failed before, at something that the program began for itself and which it does not get over.
  /// Code::limit with the reason. Null where that cannot be.
  Status (*failed_before)(void *stream) = nullptr;
  /// Of a guard zone that is up: how many of its bytes, from the first on, are as they were. Null where
  /// nobody looks, or a sanitizer does.
  size_t (*untouched)(const void *memory, size_t bytes) = nullptr;
  /// Of a model that is trained. Null of others.
  const OptimizerKernels *optimizer = nullptr;
};

} // namespace dbc::cuda
