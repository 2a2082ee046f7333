// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// In what order sums over a batch take the rows of an index set: that of the inputs they belong to. Rows of a
// recursion lie by level, so those of an input are apart.
#pragma once

#include <dbc/schedule.h>

#include <initializer_list>

namespace dbc {

/// The rows of an index set in the order of their inputs, those of an input in the order of its nodes, and
/// those of a node in their own. By one thread.
class InputOrder {
public:
  /// Starts a batch: no rows.
  void begin() noexcept { count_ = 0; }
  /// All rows of an index set. `to_owner` are index arrays that lead from a row to its node or input: the
  /// first one from the row, each other from what the one before says; none: rows lie in this order. By
  /// counting sort: O(rows + owners in between). Allocates nothing once it has had as many. Throws
  /// std::bad_alloc.
  void sort(int32_t rows, std::initializer_list<const int32_t *> to_owner);
  /// After sort(), also again: of these rows those that `time_steps`, of the same rows, say are active. O(all
  /// rows). Allocates nothing once it has had as many. Throws std::bad_alloc.
  void select(const TimeSteps &time_steps);

  int32_t rows() const { return count_; }
  /// Position -> row; null: the row is at its number.
  const int32_t *order() const { return row_; }
  int32_t row_at(int32_t position) const { return row_ ? row_[position] : position; }

private:
  bool in_order_ = true;
  int32_t all_ = 0;              ///< rows of the index set
  int32_t count_ = 0;            ///< positions
  const int32_t *row_ = nullptr; ///< see order()
  IndexArray owner_;             ///< of each row, while they are sorted
  IndexSet of_owner_{2};         ///< the rows of each owner, a transpose; filled only if !in_order_
  IndexArray selected_;          ///< the active ones
  Array<uint8_t> active_;        ///< of each row
};

} // namespace dbc
