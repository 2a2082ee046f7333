// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What generated plans see of a run.
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/dropout.h>
#include <dbc/model.h>
#include <dbc/outputs.h>
#include <dbc/pool.h>
#include <dbc/profile.h>
#include <dbc/schedule.h>
#include <dbc/sharing.h>
#include <dbc/status.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dbc {

/// Memory that a session keeps from run to run, by number.
class SessionMemory {
public:
  template <class Real> Real *buffer(int32_t number, size_t count) {
    sub_batch_bytes_ += count * sizeof(Real);
    return buffer_at(number).get<Real>(count);
  }
  template <class Real> Real *scratch(int32_t worker, size_t count) {
    return scratch_[worker].get<Real>(count);
  }
  /// Has scratch for so many workers, whose number does not change.
  void serve(int32_t workers);
  /// Bytes of buffers that were asked for since begin_sub_batch().
  size_t sub_batch_bytes() const { return sub_batch_bytes_; }
  void begin_sub_batch() { sub_batch_bytes_ = 0; }

private:
  Scratch &buffer_at(int32_t number);
  std::vector<Scratch> buffers_, scratch_;
  size_t sub_batch_bytes_ = 0;
};

/// One sub-batch of a run: some inputs next to each other.
struct Run {
  const Model &model;
  const Batch &batch;
  SessionMemory &memory;
  const InputStatuses &statuses;
  Pool &pool;
  ScheduleErrors &errors;
  Budget &budget;
  Outputs &out;
  StageProfile *stages;
  bool timed;                      ///< whether launches are timed
  int32_t entry;                   ///< number of the entry, for Batch::arg_column
  Range range;                     ///< the sub-batch's inputs
  const int32_t *inputs = nullptr; ///< numbers of those that take part, ascending
  int32_t input_count = 0;
  const SharedNodes *shared = nullptr; ///< nodes that are alike, where instances are to be shared
  const float *loss_weights = nullptr; ///< of each input of the batch, by its number
  bool gradients = true;               ///< whether a loss gives them
  Dropout dropout = {};                ///< of a loss
  LaunchLog *log = nullptr;            ///< where launches are to be written down

  /// Component `component` of the arguments of the entry being run; rows are inputs' numbers.
  const ColumnView &arg(int32_t component) const {
    return batch.column(batch.args(), batch.arg_column(entry, component));
  }
  /// Values of that column, see Batch::values.
  int32_t arg_values(int32_t component) const {
    return batch.values(batch.args(), batch.arg_column(entry, component));
  }
  /// Buffer `number` of the session, at least `count` elements, 64-byte aligned, contents undefined. All
  /// entries share the buffers; call once a run and buffer, before compute's stages run. Throws
  /// std::bad_alloc.
  template <class Real> Real *buffer(int32_t number, size_t count) const {
    return memory.buffer<Real>(number, count);
  }
  /// Scratch of one worker; any earlier memory of that worker is gone.
  template <class Real> Real *scratch(int32_t worker, size_t count) const {
    return memory.scratch<Real>(worker, count);
  }
};

} // namespace dbc
