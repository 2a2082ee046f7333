// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Building list columns: element by element in any order (depth 1), or streamed (any depth).
#include "BatchData.h"

#include <algorithm>
#include <climits>
#include <dbc/counted.h>

namespace dbc {

namespace {
/// Writes an element at a position of a list column: over room that was kept, or at the end.
template <class T> void put_element(Array<T> &to, int64_t position, int64_t extent, const T *values) {
  size_t at = static_cast<size_t>(position) * extent;
  to.extend(at + extent, T());
  std::copy(values, values + extent, to.data() + at);
}
} // namespace

/// Makes room for one more element of a row's list and returns its position among the column's values. A
/// list that can no longer grow where it is, because another follows it, moves to the end and gets room to
/// double.
int64_t Batch::append_position(Column &c, int32_t row) {
  ListLevel &l = c.lists[0];
  l.begin.extend(static_cast<size_t>(row) + 1, 0);
  l.end.extend(static_cast<size_t>(row) + 1, 0);
  int64_t total = c.built_values();
  if (total >= INT_MAX / 2)
    throw std::bad_alloc(); // offsets are int32
  if (static_cast<size_t>(row) >= c.present.size() || !c.present[row]) {
    l.begin[row] = l.end[row] = static_cast<int32_t>(total);
    if (static_cast<size_t>(row) < l.room.size())
      l.room[row] = 0;
    c.mark(row);
  }
  if (l.end[row] == total)
    return l.end[row]++;
  if (static_cast<size_t>(row) < l.room.size() && l.end[row] < l.room[row])
    return l.end[row]++;
  int32_t length = l.end[row] - l.begin[row];
  int64_t room = total + std::max<int64_t>(4, 2 * int64_t(length));
  if (room >= INT_MAX)
    throw std::bad_alloc();
  l.room.extend(static_cast<size_t>(row) + 1, 0);
  auto move = [&](auto &values) {
    size_t extent = static_cast<size_t>(c.info.extent);
    values.extend(static_cast<size_t>(room) * extent, 0);
    std::copy(values.data() + l.begin[row] * extent, values.data() + l.end[row] * extent,
              values.data() + total * extent);
  };
  if (is_f32(c.info.elem))
    move(c.values.f32);
  else if (is_bool(c.info.elem))
    move(c.values.u8);
  else
    move(c.values.i32);
  l.room[row] = static_cast<int32_t>(room);
  l.begin[row] = static_cast<int32_t>(total);
  l.end[row] = l.begin[row] + length;
  return l.end[row]++;
}

void Batch::set_empty(int32_t table, int32_t row, int32_t column) {
  guarded([&] {
    Column *c = column_for(
        table, row, column, 1, [](Elem) { return true; }, SIZE_MAX, this);
    if (!c)
      return;
    ListLevel &l = c->lists[0];
    l.begin.extend(static_cast<size_t>(row) + 1, 0);
    l.end.extend(static_cast<size_t>(row) + 1, 0);
    l.begin[row] = l.end[row] = static_cast<int32_t>(c->built_elements(0));
    if (static_cast<size_t>(row) < l.room.size())
      l.room[row] = 0;
    c->mark(row);
  });
}

void Batch::append_int(int32_t table, int32_t row, int32_t column, int32_t value) {
  append_ints(table, row, column, &value, 1);
}
void Batch::append_bool(int32_t table, int32_t row, int32_t column, bool value) {
  uint8_t byte = value;
  append_bools(table, row, column, &byte, 1);
}
void Batch::append_ints(int32_t table, int32_t row, int32_t column, const int32_t *values, size_t count) {
  guarded([&] {
    Column *c = column_for(table, row, column, 1, is_i32, count, values);
    if (c && c->info.depth != 1)
      return misuse("`" + c->info.name + "` is a list of lists, use open_list");
    if (c)
      put_element(c->values.i32, append_position(*c, row), c->info.extent, values);
  });
}
void Batch::append_bools(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count) {
  guarded([&] {
    Column *c = column_for(table, row, column, 1, is_bool, count, values);
    if (c && c->info.depth != 1)
      return misuse("`" + c->info.name + "` is a list of lists, use open_list");
    if (c)
      put_element(c->values.u8, append_position(*c, row), c->info.extent, values);
  });
}
void Batch::append_f32s(int32_t table, int32_t row, int32_t column, const float *values, size_t count) {
  guarded([&] {
    Column *c = column_for(table, row, column, 1, is_f32, count, values);
    if (c && c->info.depth != 1)
      return misuse("`" + c->info.name + "` is a list of lists, use open_list");
    if (c)
      put_element(c->values.f32, append_position(*c, row), c->info.extent, values);
  });
}

template <class T>
void Batch::set_whole_list(int32_t table, int32_t row, int32_t column, Assignable assignable,
                           Array<T> Numbers::*numbers, const T *values, size_t count) {
  guarded([&] {
    const auto extent = static_cast<size_t>(column_info(table, column).extent);
    // A count that is no multiple of that of an element is told as it is.
    Column *c = column_for(table, row, column, 1, assignable, count % extent > 0 ? count : extent,
                           count > 0 ? static_cast<const void *>(values) : this);
    if (c && c->info.depth != 1)
      return misuse("`" + c->info.name + "` is a list of lists, use open_list");
    if (!c)
      return;
    if (count / extent >= INT_MAX / 2 - static_cast<size_t>(c->built_values()))
      throw std::bad_alloc();
    set_empty(table, row, column);
    (c->values.*numbers).append(values, count);
    c->lists[0].end[row] += static_cast<int32_t>(count / extent);
  });
}
void Batch::set_list(int32_t table, int32_t row, int32_t column, const int32_t *values, size_t count) {
  set_whole_list(table, row, column, is_i32, &Numbers::i32, values, count);
}
void Batch::set_list(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count) {
  set_whole_list(table, row, column, is_bool, &Numbers::u8, values, count);
}
void Batch::set_list(int32_t table, int32_t row, int32_t column, const float *values, size_t count) {
  set_whole_list(table, row, column, is_f32, &Numbers::f32, values, count);
}

// --- streaming
// ------------------------------------------------------------------------------------------------------

void Batch::open_list(int32_t table, int32_t row, int32_t column) {
  guarded([&] {
    bool inner = open_.table == table && open_.column == column && open_row_ == row;
    Column *c = column_for(
        table, row, column, inner ? open_depth_ + 1 : 1, [](Elem) { return true; }, SIZE_MAX, this);
    if (!c) {
      open_ = {-1, -1};
      return;
    }
    if (!inner) {
      if (open_.table != -1)
        misuse("open_list: another list is open");
      set_empty(table, row, column);
      open_ = {table, column};
      open_row_ = row;
      open_depth_ = 1;
      return;
    }
    ListLevel &outer = c->lists[open_depth_ - 1], &level = c->lists[open_depth_];
    int64_t position = c->built_elements(open_depth_);
    int32_t &end = open_depth_ == 1 ? outer.end[row] : outer.end.back();
    if (end != static_cast<int64_t>(level.begin.size()))
      return misuse("open_list: the list was changed while it was open");
    level.begin.push(static_cast<int32_t>(position));
    level.end.push(static_cast<int32_t>(position));
    ++end;
    ++open_depth_;
  });
}

Batch::Column *Batch::pushable(Assignable assignable, size_t count, const void *values) {
  if (open_.table < 0) {
    // After a mistake in open_list, which is recorded, its elements are dropped quietly.
    if (whole_.ok() && statuses_.failed() == 0)
      misuse("an element is pushed, but no list is open");
    return nullptr;
  }
  Column &c = tables_[open_.table]->columns[open_.column];
  if (open_depth_ != c.info.depth) {
    misuse("`" + c.info.name + "`: an element is pushed where " +
           counted(open_depth_, "list is", "lists are") + " open, not " + std::to_string(c.info.depth) +
           "; open_list opens one a level");
    return nullptr;
  }
  if (!assignable(c.info.elem)) {
    misuse("`" + c.info.name + "`: what is pushed is no element of the open list");
    return nullptr;
  }
  if (count != static_cast<size_t>(c.info.extent)) {
    wrong(open_.table, open_row_, open_.column,
          counted(count, "number is", "numbers are") + " given, but an element has " +
              std::to_string(c.info.extent) + "; each element is pushed by itself");
    return nullptr;
  }
  if (values == nullptr) {
    wrong(open_.table, open_row_, open_.column, "no numbers are given, but a null pointer");
    return nullptr;
  }
  ListLevel &level = c.lists[open_depth_ - 1];
  int32_t &end = open_depth_ == 1 ? level.end[open_row_] : level.end.back();
  if (end != c.built_values()) {
    misuse("`" + c.info.name + "`: the list was changed while it was open");
    return nullptr;
  }
  if (end >= INT_MAX / 2)
    throw std::bad_alloc();
  c.validated = false;
  ++end;
  return &c;
}

void Batch::push_int(int32_t value) { push_ints(&value, 1); }
void Batch::push_bool(bool value) {
  uint8_t byte = value;
  push_bools(&byte, 1);
}
void Batch::push_ints(const int32_t *values, size_t count) {
  guarded([&] {
    if (Column *c = pushable(is_i32, count, values))
      c->values.i32.append(values, count);
  });
}
void Batch::push_bools(const uint8_t *values, size_t count) {
  guarded([&] {
    if (Column *c = pushable(is_bool, count, values))
      c->values.u8.append(values, count);
  });
}
void Batch::push_f32s(const float *values, size_t count) {
  guarded([&] {
    if (Column *c = pushable(is_f32, count, values))
      c->values.f32.append(values, count);
  });
}

void Batch::close_list() {
  if (open_.table < 0)
    return;
  if (--open_depth_ == 0)
    open_ = {-1, -1};
}

} // namespace dbc
