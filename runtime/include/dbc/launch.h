// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How compiled models run their stages on a session's threads: a launch is cut into rows and tiles, and loops
// that need nothing of one another run side by side. All this is decided from sizes alone, and no result
// depends on it.
#pragma once

#include <dbc/runtime.h>

#include <algorithm>
#include <limits>

namespace dbc {

/// What a row of a stage costs, for profiles and for cutting a launch into work items.
struct StageCost {
  int64_t read, written, gathers; ///< bytes, bytes, rows read through an index, all for one row
  int64_t operations;             ///< of its products, for one row
  int32_t grain;                  ///< fewer than twice as many rows are not worth a second thread; kOneSum
};
/// The grain of a stage that adds its rows up: all of them are one thread's, which has some tiles of the sum.
constexpr int32_t kOneSum = std::numeric_limits<int32_t>::max();

/// What one thread computes of a launch.
struct Share {
  int32_t begin, end, tile_begin, tile_end;
};

/// How a launch of rows x tiles is shared: in `rows` times `tiles` work items.
struct Shares {
  int32_t rows = 1, tiles = 1;
};

/// The fastest way to share a launch among at most `threads` threads, when a tile of a row takes as long as
/// another and passing over the weights of a tile as long as some rows. So threads rather take tiles than
/// rows, and find the weights of theirs in their own caches, level after level. A thread has two tiles or
/// more: the last one goes with the one before, see Packed::pack_tiles.
inline Shares share_out(int32_t rows, int32_t tiles, int64_t threads) {
  constexpr int64_t kPass = 6, kFewest = 2;
  Shares best;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (int32_t t = 1; t <= threads && (t == 1 || t * kFewest <= tiles); ++t) {
    int32_t r = static_cast<int32_t>(std::min<int64_t>(threads / t, rows));
    int64_t time = ((tiles + t - 1) / t) * (int64_t((rows + r - 1) / r) + (tiles > 1 ? kPass : 0));
    if (time < least) {
      least = time;
      best = {r, t};
    }
  }
  return best;
}

/// Work item number `item` of a launch of rows begin .. end - 1: those of one thread have the same tiles from
/// launch to launch.
inline Share share_of(const Shares &shares, int32_t item, int32_t begin, int32_t end, int32_t tiles) {
  const int64_t rows = end - begin, r = item / shares.tiles, t = item % shares.tiles;
  return {static_cast<int32_t>(begin + rows * r / shares.rows),
          static_cast<int32_t>(begin + rows * (r + 1) / shares.rows),
          static_cast<int32_t>(tiles * t / shares.tiles),
          static_cast<int32_t>(tiles * (t + 1) / shares.tiles)};
}

/// Operations of products that repay waking a thread.
constexpr int64_t kWorthThread = 400'000;

/// The worker of a launch that all share.
constexpr int32_t kAllWorkers = -1;

/// What a loop around stages has to do: how many time steps, and operations of products in all.
struct LoopWork {
  int64_t time_steps, operations;
};

/// Whether loops that need nothing of one another are done sooner each on a thread of its own than one after
/// the other, each launch shared by all threads that it is worth.
inline bool worth_concurrent(const LoopWork *works, int32_t count, int32_t threads) {
  constexpr int64_t kMeet = 50'000; // operations in the time that threads take to start and to meet
  int64_t sequential = 0, busiest = 0;
  for (int32_t worker = 0; worker < std::min(count, threads); ++worker) {
    int64_t sum = 0;
    for (int32_t loop = worker; loop < count; loop += threads)
      sum += works[loop].operations;
    busiest = std::max(busiest, sum);
  }
  for (int32_t loop = 0; loop < count; ++loop) {
    const LoopWork &work = works[loop];
    const int64_t launch = work.operations / std::max<int64_t>(work.time_steps, 1);
    const int64_t used = std::clamp<int64_t>(launch / kWorthThread, 1, threads);
    sequential += work.operations / used + (used > 1 ? work.time_steps * kMeet : 0);
  }
  return threads > 1 && busiest <= sequential;
}

/// Runs loops that need nothing of one another: `loops`(loop, worker) for each of them, on a worker of its
/// own or on all. Launches are written down by one thread alone, and times of several would overlap, so then
/// it is one loop after the other.
template <int32_t Count, class Loops>
inline void side_by_side(Run &run, const LoopWork (&works)[Count], Loops &&loops) {
  if (run.log == nullptr && !run.timed && worth_concurrent(works, Count, run.pool.threads()))
    run.pool.run(Count, loops);
  else
    for (int32_t loop = 0; loop < Count; ++loop)
      loops(loop, kAllWorkers);
}

/// Makes scratch memory of `bytes` for each worker, so that no worker allocates: here, memory that cannot be
/// had is a status; in another thread it would end the program.
inline void prepare_scratch(Run &run, size_t bytes) {
  for (int32_t worker = 0; worker < run.pool.threads(); ++worker)
    run.scratch<char>(worker, bytes);
}

/// For generated code: a function that several entries have in common, for one whose plan, or arrays, are
/// derived from what the function is given.
template <auto kFunction, class... Arguments> void given_base(Arguments... arguments) {
  kFunction(arguments...);
}

/// A stage of an entry: a function that computes rows begin .. end - 1, or of these the tiles tile_begin ..
/// tile_end - 1 out of `tiles`.
template <class Plan> struct Stage {
  using ByRows = void (*)(const Plan &plan, int32_t begin, int32_t end, char *scratch);
  using ByTiles = void (*)(const Plan &plan, int32_t begin, int32_t end, int32_t tile_begin, int32_t tile_end,
                           char *scratch);
  constexpr Stage(const char *name, ByRows compute, StageCost cost)
      : name(name), compute_rows(compute), cost(cost) {}
  constexpr Stage(const char *name, ByTiles compute, int32_t tiles, StageCost cost)
      : name(name), compute_tiles(compute), tiles(tiles), cost(cost) {}

  void compute(const Plan &plan, const Share &share, char *scratch) const {
    if (compute_tiles != nullptr)
      compute_tiles(plan, share.begin, share.end, share.tile_begin, share.tile_end, scratch);
    else
      compute_rows(plan, share.begin, share.end, scratch);
  }

  const char *name;
  ByRows compute_rows = nullptr;
  ByTiles compute_tiles = nullptr;
  int32_t tiles = 1;
  StageCost cost;
};

/// Adds the elements of lists that a stage has read to its profile: of rows 0 .. rows - 1, whose lists have
/// `length_of(row)` elements, each of so many bytes and so many reads through an index array. Nothing where
/// the log alone was wanted.
template <class LengthOf>
void count_elements(Run &run, int32_t stage, int32_t rows, int64_t bytes, int64_t gathers,
                    LengthOf length_of) {
  if (run.log != nullptr && !run.log->compute)
    return;
  int64_t elements = 0;
  for (int32_t row = 0; row < rows; ++row)
    elements += length_of(row);
  run.stages[stage].bytes_read += elements * bytes;
  run.stages[stage].gathers += elements * gathers;
}
/// The same of the active rows of time steps, behind the run.
template <class LengthOf>
void count_elements(Run &run, int32_t stage, const TimeSteps &time_steps, int64_t bytes, int64_t gathers,
                    LengthOf length_of) {
  for (int32_t t = 0; t < time_steps.count; ++t) {
    const int32_t begin = time_steps.begin[t];
    count_elements(run, stage, time_steps.end(t) - begin, bytes, gathers,
                   [&](int32_t i) { return length_of(time_steps.row_at(begin + i)); });
  }
}

/// Runs rows begin .. end - 1 of stage number `number` on the session's threads, or on one worker that runs a
/// loop of its own; each has `scratch` bytes, see prepare_scratch. No result depends on how work is shared.
template <class Plan>
inline void launch(Run &run, const Plan &plan, const Stage<Plan> *stages, int32_t number, int32_t begin,
                   int32_t end, size_t scratch, int32_t worker = kAllWorkers) {
  const Stage<Plan> &stage = stages[number];
  int32_t rows = end - begin;
  if (run.log != nullptr) {
    run.log->add(number, rows);
    if (!run.log->compute)
      return;
  }
  if (rows <= 0)
    return;
  StageProfile &profile = run.stages[number];
  ++profile.launches;
  profile.rows += rows;
  profile.bytes_read += rows * stage.cost.read;
  profile.bytes_written += rows * stage.cost.written;
  profile.gathers += rows * stage.cost.gathers;
  profile.operations += rows * stage.cost.operations;
  const int64_t start = run.timed ? now_ns() : 0;
  if (worker != kAllWorkers) {
    stage.compute(plan, {begin, end, 0, stage.tiles}, run.scratch<char>(worker, scratch));
  } else {
    run.errors.begin_launch();
    // A row may be worth several threads, where they share its tiles.
    const int64_t worth =
        std::max<int64_t>(rows / stage.cost.grain, rows * stage.cost.operations / kWorthThread);
    const Shares shares = share_out(stage.cost.grain == kOneSum ? 1 : rows, stage.tiles,
                                    std::min<int64_t>(run.pool.threads(), std::max<int64_t>(worth, 1)));
    run.pool.run(shares.rows * shares.tiles, [&](int32_t item, int32_t on) {
      stage.compute(plan, share_of(shares, item, begin, end, stage.tiles), run.scratch<char>(on, scratch));
    });
  }
  if (run.timed) {
    const int64_t end = now_ns();
    profile.ns += end - start;
    if (run.log != nullptr)
      run.log->add_time(number, start, end);
  }
}

} // namespace dbc
