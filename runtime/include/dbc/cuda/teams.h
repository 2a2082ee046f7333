// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Teams of blocks of threads in whole loops: each has some inputs of a part, and of each level or step their
// rows, so that it waits for no other team.
#pragma once

#include <dbc/buffer.h>
#include <dbc/cuda/arrays.h>
#include <dbc/schedule.h>
#include <dbc/session.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace dbc::cuda {

/// How the inputs of a part are dealt. A part of a plan; in steady state it allocates nothing.
class Teams {
public:
  /// Deals the inputs that take part to at most `most` teams, inputs next to each other to the same one.
  void begin(const Run &run, int32_t most);
  /// Deals the rows of the next space, tick by tick: owner(row) is the node of data type `table` that a row
  /// belongs to, or the input where `table` is Batch::args(). Where a tick's rows are not in the order of
  /// teams there is one team, for all spaces. O(rows). Throws std::bad_alloc.
  template <class Owner> void deal(const Ticks &ticks, int32_t table, Owner &&owner);
  /// When all spaces are dealt.
  int32_t count() const { return count_; }
  /// Rows of tick t and team i of a space, counted as they were dealt: bounds[t * count() + i] and on, up to
  /// the next one. Valid until the next begin().
  const int32_t *bounds(int32_t space) const {
    return count_ == 1 ? dealt_[space].ticks->begin.data() : dealt_[space].bounds.data();
  }
  size_t size(int32_t space) const {
    const Ticks &ticks = *dealt_[space].ticks;
    return count_ == 1 ? ticks.begin.size() : static_cast<size_t>(ticks.count) * count_ + 1;
  }

private:
  struct Dealt {
    const Ticks *ticks = nullptr;
    IntColumn bounds;
  };
  Dealt &next(const Ticks &ticks, int32_t table);

  const Run *run_ = nullptr;
  int32_t count_ = 1;
  std::vector<Dealt> dealt_; ///< of this part `spaces_`
  int32_t spaces_ = 0;
  int32_t ends_[kMostTeams] = {}; ///< of the space in hand: the first owner of the next team's inputs
};

template <class Owner> void Teams::deal(const Ticks &ticks, int32_t table, Owner &&owner) {
  Dealt &dealt = next(ticks, table);
  if (count_ == 1)
    return;
  for (int32_t tick = 0; tick < ticks.count; ++tick) {
    int32_t position = ticks.begin[tick];
    for (int32_t team = 0; team < count_; ++team) {
      dealt.bounds[tick * count_ + team] = position;
      for (; position < ticks.begin[tick + 1]; ++position) {
        const int32_t of = owner(ticks.row_at(position));
        if (of >= ends_[team])
          break;
        if (team > 0 && of < ends_[team - 1]) { // out of order
          count_ = 1;
          return;
        }
      }
    }
  }
  dealt.bounds[ticks.count * count_] = ticks.begin[ticks.count];
}

} // namespace dbc::cuda
