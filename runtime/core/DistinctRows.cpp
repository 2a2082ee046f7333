// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The rows of a table that a batch looks up. Their transposes are in Schedule.cpp.
#include <dbc/distinct_rows.h>

#include <algorithm>

namespace dbc {

void DistinctRows::begin() noexcept {
  for (int32_t number : number_)
    row_[number] = kNone;
  number_.clear();
}

void DistinctRows::add(const int32_t *numbers, int32_t count) {
  row_.extend(extent_, kNone);
  for (int32_t i = 0; i < count; ++i) {
    const int32_t number = numbers[i];
    if (!contains(number) || row_[number] != kNone)
      continue;
    number_.push(number); // first: it may throw, and begin() must find what is set
    row_[number] = rows() - 1;
  }
}

void DistinctRows::sort() noexcept {
  std::sort(number_.data(), number_.data() + number_.size());
  for (int32_t row = 0; row < rows(); ++row)
    row_[number_[row]] = row;
}

void DistinctRows::rows_of(const int32_t *numbers, int32_t count, IndexArray &rows) const {
  rows.resize(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i)
    rows.data()[i] = row_[numbers[i]];
}

} // namespace dbc
