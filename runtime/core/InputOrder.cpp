// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include <dbc/input_order.h>

#include <algorithm>
#include <climits>

namespace dbc {

void InputOrder::sort(int32_t rows, std::initializer_list<const int32_t *> to_owner) {
  all_ = count_ = rows;
  row_ = nullptr;
  in_order_ = true;
  if (to_owner.size() == 0)
    return;
  owner_.resize(rows);
  int32_t least = INT_MAX, last = -1, most = -1;
  for (int32_t row = 0; row < rows; ++row) {
    int32_t owner = row;
    for (const int32_t *array : to_owner)
      owner = array[owner];
    owner_[row] = owner;
    in_order_ &= owner >= last;
    last = owner;
    least = std::min(least, owner);
    most = std::max(most, owner);
  }
  if (in_order_)
    return;
  for (int32_t row = 0; row < rows; ++row)
    owner_[row] -= least;
  transpose(of_owner_, owner_.data(), rows, most - least + 1);
  row_ = of_owner_[0];
}

void InputOrder::select(const TimeSteps &time_steps) {
  active_.assign(all_, 0);
  for (int32_t t = 0; t < time_steps.count; ++t)
    for (int32_t position = time_steps.begin[t]; position < time_steps.end(t); ++position)
      active_[time_steps.row_at(position)] = 1;
  selected_.clear();
  for (int32_t position = 0; position < all_; ++position) {
    const int32_t row = in_order_ ? position : of_owner_[0][position];
    if (active_[row])
      selected_.push(row);
  }
  row_ = selected_.data();
  count_ = static_cast<int32_t>(selected_.size());
}

} // namespace dbc
