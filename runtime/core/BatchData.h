// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The insides of a Batch: its tables and columns.
#pragma once

#include <dbc/batch.h>

#include <new>

namespace dbc {

/// Numbers of one element type: exactly one of the arrays is in use.
struct Numbers {
  Array<int32_t> i32;
  Array<uint8_t> u8;
  Array<float> f32;

  void clear() {
    i32.clear();
    u8.clear();
    f32.clear();
  }
};

/// Lists of one level; begin and end are positions in the next level, or in the values.
struct ListLevel {
  IndexArray begin, end;
  /// Level 0 only: end of the room that was kept for a list when it was moved, 0 for lists that never were.
  IndexArray room;
};

struct Batch::Column {
  ColumnInfo info;
  int32_t number = 0;

  // Built.
  Numbers values;
  ListLevel lists[kMaxListDepth];
  Array<uint8_t> present; ///< a byte a row; rows past its end do not have the field
  int64_t present_count = 0;

  // Borrowed; sizes as the caller gave them.
  bool borrowed = false;
  size_t borrowed_values = 0;
  size_t borrowed_offsets[kMaxListDepth] = {};

  ColumnView view;
  bool validated = false;
  std::vector<Status> failures; ///< what validation found, one for each input that has a wrong value here

  void clear() {
    values.clear();
    for (ListLevel &l : lists) {
      l.begin.clear();
      l.end.clear();
      l.room.clear();
    }
    present.clear();
    present_count = 0;
    borrowed = false;
    borrowed_values = 0;
    for (size_t &n : borrowed_offsets)
      n = 0;
    view = ColumnView();
    validated = false;
    failures.clear();
  }
  /// Number of values built so far; only for list columns.
  int64_t built_values() const {
    size_t n = info.elem == Elem::F32    ? values.f32.size()
               : info.elem == Elem::Bool ? values.u8.size()
                                         : values.i32.size();
    return static_cast<int64_t>(n) / info.extent;
  }
  /// Number of elements on a level of lists: of values below the last.
  int64_t built_elements(int32_t level) const {
    return level + 1 < info.depth ? static_cast<int64_t>(lists[level + 1].begin.size()) : built_values();
  }
  /// Has memory for the values of so many rows, whatever is in it; only for columns without lists.
  void reserve_rows(int32_t rows) {
    const size_t n = static_cast<size_t>(rows) * static_cast<size_t>(info.extent);
    if (info.elem == Elem::F32)
      values.f32.reserve(n);
    else if (info.elem == Elem::Bool)
      values.u8.reserve(n);
    else
      values.i32.reserve(n);
  }
  void mark(int32_t row) {
    present.extend(static_cast<size_t>(row) + 1, 0);
    present_count += !present[row];
    present[row] = 1;
  }
};

struct Batch::Table {
  std::string name;
  int32_t rows = 0;
  std::vector<Column> columns;
  std::vector<uint8_t> has;        ///< [constructor * columns + column]
  std::vector<int64_t> kind_count; ///< built nodes of each constructor
  Array<uint8_t> kinds;
  Array<int32_t> numbers; ///< by which the application knows the nodes; those past its end have none
  IndexArray begin;
  const uint8_t *kinds_view = nullptr;
  const int32_t *begin_view = nullptr;
  bool borrowed = false; ///< nodes are
  bool kinds_validated = false;

  void clear() {
    rows = 0;
    for (Column &c : columns)
      c.clear();
    for (int64_t &n : kind_count)
      n = 0;
    kinds.clear();
    numbers.clear();
    begin.clear();
    kinds_view = nullptr;
    begin_view = nullptr;
    borrowed = false;
    kinds_validated = false;
  }
};

inline bool is_int(Elem e) { return e == Elem::Index || e == Elem::Int; }
inline bool is_i32(Elem e) { return e == Elem::Index || e == Elem::Int || e == Elem::Node; }
inline bool is_node(Elem e) { return e == Elem::Node; }
inline bool is_bool(Elem e) { return e == Elem::Bool; }
inline bool is_f32(Elem e) { return e == Elem::F32; }

/// Memory that cannot be had becomes the batch's status.
template <class Body> void Batch::guarded(Body &&body) {
  if (empty())
    return; // moved from, which the run says
  try {
    body();
  } catch (const std::bad_alloc &) {
    if (whole_.ok())
      whole_.code = Code::limit; // the words are made where there may be memory again: validate()
  }
}

} // namespace dbc
