// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Block groups of persistent kernels: each has some inputs of a sub-batch, and of each level or step their
// rows, so that it waits for no other group.
#pragma once

#include <dbc/buffer.h>
#include <dbc/cuda/arrays.h>
#include <dbc/schedule.h>
#include <dbc/session.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dbc::cuda {

/// How the inputs of a sub-batch are distributed. A member of a plan; in steady state it allocates nothing.
class BlockGroups {
public:
  /// Distributes the inputs that take part to at most `most` block groups, neighbours to the same one, so
  /// that groups have about as many nodes: one may have none. O(inputs).
  void begin(const Run &run, int32_t most);
  /// Distributes the rows of the next index set, one time step after the other: owner(row) is the node of
  /// data type `table` that a row belongs to, or the input where `table` is Batch::args(). Where a time
  /// step's rows are not in the order of groups there is one group, for all index sets. O(rows). Throws
  /// std::bad_alloc.
  template <class Owner> void distribute(const TimeSteps &time_steps, int32_t table, Owner &&owner);
  /// When all index sets are distributed.
  int32_t count() const { return count_; }
  /// Rows of time step t and group i of an index set, counted as they were distributed: from
  /// bounds[t * count() + i] on, up to the next one. Valid until the next begin().
  const int32_t *bounds(int32_t index_set) const {
    return count_ == 1 ? distributions_[index_set].time_steps->begin.data()
                       : distributions_[index_set].bounds.data();
  }
  size_t size(int32_t index_set) const {
    const TimeSteps &time_steps = *distributions_[index_set].time_steps;
    return count_ == 1 ? time_steps.begin.size() : static_cast<size_t>(time_steps.count) * count_ + 1;
  }

private:
  struct Distribution {
    const TimeSteps *time_steps = nullptr;
    IndexArray bounds;
  };
  Distribution &next(const TimeSteps &time_steps, int32_t table);

  const Run *run_ = nullptr;
  int32_t count_ = 1;
  int32_t firsts_[kMaxBlockGroups] = {};    ///< where in Run::inputs a group's begin
  std::vector<Distribution> distributions_; ///< of this sub-batch `index_sets_`
  int32_t index_sets_ = 0;
  int32_t ends_[kMaxBlockGroups] = {}; ///< of this index set: the first owner of the next group's inputs
};

template <class Owner>
void BlockGroups::distribute(const TimeSteps &time_steps, int32_t table, Owner &&owner) {
  Distribution &distribution = next(time_steps, table);
  if (count_ == 1)
    return;
  for (int32_t time_step = 0; time_step < time_steps.count; ++time_step) {
    int32_t position = time_steps.begin[time_step];
    for (int32_t group = 0; group < count_; ++group) {
      distribution.bounds[time_step * count_ + group] = position;
      for (; position < time_steps.begin[time_step + 1]; ++position) {
        const int32_t of = owner(time_steps.row_at(position));
        if (of >= ends_[group])
          break;
        if (group > 0 && of < ends_[group - 1]) { // out of order
          count_ = 1;
          return;
        }
      }
    }
  }
  distribution.bounds[time_steps.count * count_] = time_steps.begin[time_steps.count];
}

} // namespace dbc::cuda
