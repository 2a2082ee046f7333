// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which rows of a table a batch looks up: the gradient of the table lies at these.
#pragma once

#include <dbc/schedule.h>

namespace dbc {

/// The numbers below an extent that arrays hold: each once, ascending, as index array 0. A batch costs what
/// it looks up, however large the table. By one thread.
class DistinctRows {
public:
  /// `further`: how many index arrays there are behind the numbers.
  explicit DistinctRows(int32_t extent, int32_t further = 0) : extent_(extent), further_(further) {}

  /// Starts a batch: no rows. O(rows before).
  void begin() noexcept;
  /// What `count` elements of an array hold. A number that is no row's, below 0 or not below the extent, is
  /// left out: computed ones may be. Allocates nothing once it has had as many. Throws std::bad_alloc.
  void add(const int32_t *numbers, int32_t count);
  /// After the last add(). O(rows * log(rows)).
  void sort() noexcept;

  int32_t rows() const { return static_cast<int32_t>(number_.size()); }
  /// Index array 0 are the numbers.
  const int32_t *operator[](int32_t array) const {
    return array ? further_[array - 1].data() : number_.data();
  }
  /// One of the further index arrays, from 1 on.
  IndexArray &array(int32_t number) { return further_[number - 1]; }
  /// After sort(): the row of a number that was added; -1 of one that is no row's.
  int32_t row_of(int32_t number) const { return contains(number) ? row_[number] : kNone; }
  /// After sort(): the rows of `count` numbers that were added. Throws std::bad_alloc.
  void rows_of(const int32_t *numbers, int32_t count, IndexArray &rows) const;

private:
  bool contains(int32_t number) const {
    return static_cast<uint32_t>(number) < static_cast<uint32_t>(extent_);
  }

  static constexpr int32_t kNone = -1;
  int32_t extent_;
  IndexArray number_;               ///< by row
  IndexArray row_;                  ///< by number; kNone of those that were not added
  std::vector<IndexArray> further_; ///< by row
};

/// The transpose (see schedule.h) of the relation that joins each of `from` rows with the row of the number
/// that `numbers` holds for it, those of no row left out. All of these were added to `rows`. Rows that hold
/// the same number come in their order, or in `order`, which has all of them. O(from + rows).
void transpose(IndexSet &transpose, const int32_t *numbers, int32_t from, const DistinctRows &rows,
               const InputOrder *order = nullptr);

} // namespace dbc
