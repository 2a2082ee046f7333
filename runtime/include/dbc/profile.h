// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What runs did, stage by stage. Counted always; timed where the session was asked to.
// Nothing is defined here: every model would compile it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dbc {

/// What one stage did; generated code counts, once a launch.
struct StageProfile {
  const char *name = "";
  int64_t launches = 0; ///< times its kernel ran: time steps with rows; on a device 1 for a persistent kernel
  int64_t rows = 0;     ///< rows computed
  /// Of rows of values, fields and arguments, and of rows of a parameter that are looked up, each time that
  /// one is read, also as an element of a list; not of other parameters and row numbers. Of a list that a
  /// `while` ends all elements count.
  int64_t bytes_read = 0;
  int64_t bytes_written = 0;
  int64_t gathers = 0;    ///< rows read through an index array
  int64_t operations = 0; ///< of its products: two for each multiply-add
  /// Time in its launches, 0 where Session::time_stages is off. That of a persistent kernel stands at the
  /// loop's first stage.
  int64_t ns = 0;
  bool backward = false; ///< whether it is one of the backward pass, which computes gradients
};

/// A piece of time: nanoseconds of the steady clock.
struct TimeSpan {
  int64_t begin = 0, length = 0;
};

/// Rows of each launch of a run: what its schedule is like. Filled by a session, see Session::log_launches.
struct LaunchLog {
  /// Of the stages, by their numbers in the profile; of a loop's also where a level or step has none, and
  /// each level or step by itself where a device runs the loop in one launch. There may be no vectors
  /// for the last stages.
  std::vector<std::vector<int32_t>> rows;
  /// When each of them ran, where Session::time_stages is on; there may be none for the last ones, and of
  /// those without rows they are empty. A loop that a device runs in one launch stands at the first of its
  /// time steps, at its first stage.
  std::vector<std::vector<TimeSpan>> spans;
  struct SubBatch {
    TimeSpan schedule;         ///< when it was scheduled
    std::vector<size_t> first; ///< of each stage the number of its first launch; 0 of stages behind these
  };
  /// In the order in which they were scheduled; one more each time that a sub-batch was computed again,
  /// without inputs that failed.
  std::vector<SubBatch> sub_batches;
  bool compute = true; ///< false, on the CPU alone: nothing is computed, and results are undefined

  /// For generated code: a launch of a stage. Throws std::bad_alloc.
  void add(int32_t stage, int32_t count);
  /// For generated code: when a launch of a stage ran, behind which so many were added. Throws
  /// std::bad_alloc.
  void add_time(int32_t stage, int64_t begin, int64_t end, size_t behind = 0);
  /// A sub-batch has been scheduled. Throws std::bad_alloc.
  void add_sub_batch(int64_t begin, int64_t end);
  /// Forgets what was written down.
  void clear();
};

/// What the last run of an entry did, or several runs after `add`.
struct RunProfile {
  std::vector<StageProfile> stages;
  int64_t schedule_ns = 0; ///< checking the structure and scheduling
  int64_t compute_ns = 0;
  int64_t nodes = 0;  ///< nodes in the batch, over all data types
  int32_t rounds = 0; ///< 1, and one more each time that a sub-batch was scheduled again as inputs failed
  int64_t buffer_bytes = 0; ///< that values of a sub-batch took at most, without row numbers; 0 on a device

  /// Adds what another run of the same entry did; to an empty profile too.
  void add(const RunProfile &other);
};

/// Now, in nanoseconds of the steady clock.
int64_t now_ns();

} // namespace dbc
