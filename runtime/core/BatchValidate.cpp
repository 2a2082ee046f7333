// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Checks a batch before it is scheduled, so that generated code may follow every number without looking:
// constructors, indices, references and offsets. Each column is checked at most once a fill, in time
// proportional to its size.
#include "BatchData.h"

#include <dbc/counted.h>
#include <dbc/messages.h>

#include <algorithm>

namespace dbc {

void Batch::validate_kinds(int32_t data) {
  Table &t = *tables_[data];
  if (t.kinds_validated)
    return;
  if (t.borrowed && t.kinds_view) // else add_node has looked
    test_kinds(data);
  t.kinds_validated = true; // last: what throws is tested again
}

void Batch::test_kinds(int32_t data) {
  Table &t = *tables_[data];
  size_t count = t.kind_count.size();
  for (int32_t input = 0; input < inputs_; ++input)
    for (int32_t row = t.begin_view[input]; row < t.begin_view[input + 1]; ++row)
      if (t.kinds_view[row] >= count) {
        fail(input, describe(Code::bad_input, data, row, -1,
                             "constructor " + std::to_string(t.kinds_view[row]) + " is outside 0.." +
                                 std::to_string(count - 1)));
        break;
      }
}

/// Do the arrays of a borrowed column fit together? What is wrong here concerns no single input.
Status Batch::check_sizes(int32_t table, int32_t column) const {
  const Table &t = *tables_[table];
  const Column &c = t.columns[column];
  auto wrong = [&](const std::string &what) {
    std::string owner = table == args() ? "argument `" : t.name + ": field `";
    return Status::error(Code::bad_call, info_->name + ": " + owner + c.info.name + "`: " + what);
  };
  if (!c.borrowed)
    return Status();
  size_t elements = static_cast<size_t>(t.rows);
  for (int32_t level = 0; level < c.info.depth; ++level) {
    if (!c.view.lists[level].begin)
      return wrong("no offsets of level " + std::to_string(level) + " are given");
    if (c.borrowed_offsets[level] != elements + 1)
      return wrong(counted(elements + 1, "offset is", "offsets are") + " needed, " +
                   std::to_string(c.borrowed_offsets[level]) + " were given");
    const int32_t *offsets = c.view.lists[level].begin;
    int32_t last = offsets[elements];
    if (offsets[0] != 0 || last < 0)
      return wrong("offsets must start with 0 and end with the number of elements");
    elements = static_cast<size_t>(last);
  }
  size_t values = elements * static_cast<size_t>(c.info.extent);
  if (c.borrowed_values != values)
    return wrong(counted(values, "value is", "values are") + " needed, " + std::to_string(c.borrowed_values) +
                 " were given");
  if (values > 0 && !c.view.i32 && !c.view.u8 && !c.view.f32)
    return wrong("no values are given");
  return Status();
}

namespace {

/// Checks values of one column in the range of one input: finds the first that is wrong.
struct ValueTest {
  const ColumnInfo &info;
  const ColumnView &view;
  int32_t low = 0; ///< i32 values lie in low .. high - 1
  int32_t high = 0;

  /// Position of the first wrong number in [begin, end), or -1.
  int64_t first_wrong(int64_t begin, int64_t end) const {
    if (info.elem == Elem::Bool) {
      for (int64_t i = begin; i < end; ++i)
        if (view.u8[i] > 1)
          return i;
      return -1;
    }
    uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
    for (int64_t i = begin; i < end; ++i)
      if (static_cast<uint32_t>(view.i32[i]) - static_cast<uint32_t>(low) >= span)
        return i;
    return -1;
  }
  /// Whether there is a wrong number in [begin, end). Looks at all of them, which is faster.
  bool any_wrong(int64_t begin, int64_t end) const {
    if (info.elem == Elem::Bool)
      return first_wrong(begin, end) >= 0;
    uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
    uint32_t wrong = 0;
    for (int64_t i = begin; i < end; ++i)
      wrong |= static_cast<uint32_t>(view.i32[i]) - static_cast<uint32_t>(low) >= span;
    return wrong != 0;
  }
  /// The same for rows of one number each, of which those count whose kind's bit is set in `has`.
  bool any_wrong(int32_t begin, int32_t end, const uint8_t *kinds, uint64_t has) const {
    if (info.elem == Elem::Bool)
      return true;
    uint32_t span = static_cast<uint32_t>(high) - static_cast<uint32_t>(low);
    uint32_t wrong = 0;
    for (int32_t row = begin; row < end; ++row)
      wrong |= uint32_t(static_cast<uint32_t>(view.i32[row]) - static_cast<uint32_t>(low) >= span) &
               static_cast<uint32_t>(has >> kinds[row]);
    return (wrong & 1) != 0;
  }
  std::string words(int64_t at, const std::string &target) const {
    if (info.elem == Elem::Bool)
      return std::to_string(view.u8[at]) + " is neither 0 nor 1";
    if (info.elem == Elem::Node) {
      const int64_t node = view.i32[at];
      if (node >= 0 && node < low)
        return "refers to a " + target + " node of an earlier input; a node belongs to one input";
      // Below 0 it is no node of the batch that could be counted from the input's first.
      return "refers to " + target + " node " + std::to_string(node < 0 ? node : node - low) +
             ", but the input has " + std::to_string(high - low);
    }
    return messages::index_outside(view.i32[at], high, nullptr);
  }
};

/// Checks the offsets of a column of lists, row by row.
struct ListTest {
  const ColumnInfo &info;
  const ColumnView &view;
  const bool borrowed;
  // Elements of a level below this are taken by earlier rows: borrowed lists may not overlap, or a small
  // hostile batch could stand for a huge one.
  int32_t taken[kMaxListDepth] = {};
  int64_t ends[kMaxListDepth] = {}; // number of elements a level has in all

  ListTest(const ColumnInfo &info, const ColumnView &view, bool borrowed, int32_t rows)
      : info(info), view(view), borrowed(borrowed) {
    int64_t elements = rows;
    for (int32_t level = 0; borrowed && level < info.depth; ++level)
      elements = ends[level] = view.lists[level].begin[elements];
  }

  /// Whether the lists of borrowed rows in [first, last), of depth 1, are right. What this cannot tell is
  /// found row by row.
  bool surely_right(int32_t first, int32_t last, const ValueTest *values) {
    const int32_t *offsets = view.lists[0].begin;
    int32_t falls = 0;
    for (int32_t row = first; row < last; ++row)
      falls |= offsets[row + 1] < offsets[row];
    if (falls || offsets[first] < taken[0] || offsets[last] > ends[0] ||
        (values && values->any_wrong(offsets[first] * info.extent, offsets[last] * info.extent)))
      return false;
    taken[0] = offsets[last];
    return true;
  }

  /// Position of the first wrong number in the list at `row`, or -1. `torn`: its offsets fall, or reach too
  /// far. A list of lists whose levels were checked one by one covers one range of values, as borrowed
  /// offsets rise and streamed lists are contiguous; but hostile offsets need not rise, so every list is
  /// looked at.
  int64_t first_wrong(int32_t row, const ValueTest *values, bool &torn) {
    struct Span {
      int32_t at, end;
    } stack[kMaxListDepth];
    int32_t level = 0;
    auto enter = [&](int32_t list) {
      int32_t b = view.lists[level].begin[list], e = view.lists[level].end[list];
      if (borrowed) {
        if (b < taken[level] || e < b || e > ends[level])
          return false;
        taken[level] = e;
      }
      stack[level] = {b, e};
      return true;
    };
    int64_t wrong = -1;
    torn = !enter(row);
    while (!torn && wrong < 0 && level >= 0) {
      Span &p = stack[level];
      if (level + 1 == info.depth) {
        if (values)
          wrong = values->first_wrong(p.at * info.extent, p.end * info.extent);
        --level;
      } else if (p.at < p.end) {
        int32_t list = p.at++;
        ++level;
        torn = !enter(list);
      } else {
        --level;
      }
    }
    return wrong;
  }
};

} // namespace

void Batch::validate_column(int32_t table, int32_t column) {
  Column &c = tables_[table]->columns[column];
  if (c.validated)
    return;
  c.failures.clear();
  test_column(table, column);
  c.validated = true; // last: what throws is tested again
}

void Batch::test_column(int32_t table, int32_t column) {
  Table &t = *tables_[table];
  Column &c = t.columns[column];
  if (!c.view.given)
    return;
  bool test_values =
      is_node(c.info.elem) || c.info.elem == Elem::Index || (is_bool(c.info.elem) && c.borrowed);
  if (!test_values && !(c.borrowed && c.info.depth > 0))
    return;

  bool is_args = table == args();
  ValueTest test{c.info, c.view};
  test.high = c.info.bound;
  std::string target = is_node(c.info.elem) ? info_->datas[c.info.target].name : std::string();
  const uint8_t *kinds = is_args ? nullptr : t.kinds_view;
  ListTest lists(c.info, c.view, c.borrowed, t.rows);
  const ValueTest *values = test_values ? &test : nullptr;
  const size_t kind_count = t.kind_count.size();
  auto has = [&](size_t kind) { return t.has[kind * t.columns.size() + column]; };
  uint64_t has_bits = 0;
  for (size_t kind = 0; kinds && kind < std::min<size_t>(kind_count, 64); ++kind)
    has_bits |= uint64_t(has(kind) != 0) << kind;
  // A column that is not borrowed ends with the last row that has a number.
  int32_t rows = c.borrowed || is_bool(c.info.elem) ? t.rows : std::min<int64_t>(t.rows, c.values.i32.size());
  // Most inputs are right, which is seen fastest by looking at all of their numbers at once.
  auto surely_right = [&](int32_t first, int32_t last) {
    if (c.view.present)
      return false;
    if (c.info.depth == 0 && !kinds)
      return !test.any_wrong(first * c.info.extent, last * c.info.extent);
    if (c.info.depth == 0)
      return c.info.extent == 1 && kind_count <= 64 &&
             !test.any_wrong(first, std::min(last, rows), kinds, has_bits);
    return c.info.depth == 1 && !kinds && c.borrowed && lists.surely_right(first, last, values);
  };

  // Only references have a range that depends on the input.
  if (!is_node(c.info.elem) && surely_right(0, t.rows))
    return;
  for (int32_t input = 0; input < inputs_; ++input) {
    if (!statuses_[input].ok())
      continue;
    if (is_node(c.info.elem)) {
      const int32_t *begin = tables_[c.info.target]->begin_view;
      test.low = begin[input];
      test.high = begin[input + 1];
    }
    int32_t first = is_args ? input : t.begin_view[input];
    int32_t last = is_args ? input + 1 : t.begin_view[input + 1];
    if (surely_right(first, last))
      continue;
    for (int32_t row = first; row < last; ++row) {
      if (c.view.present && !c.view.present[row])
        continue;
      if (kinds && !has(kinds[row]))
        continue;
      bool torn = false;
      int64_t wrong = c.info.depth == 0 ? test.first_wrong(row * c.info.extent, (row + 1) * c.info.extent)
                                        : lists.first_wrong(row, values, torn);
      if (wrong < 0 && !torn)
        continue;
      std::string what =
          torn ? std::string("offsets fall, or reach past the last element") : test.words(wrong, target);
      c.failures.push_back(describe(Code::bad_input, table, row, column, what));
      break;
    }
  }
}

/// Asks for the first lines of integers and of lists, all at the same time: a small batch that lies
/// somewhere in the caller's memory is waited for once, not array by array.
void Batch::fetch(const ColumnRef *columns, size_t count) const {
  auto lines = [](const void *memory) { // an address behind the array does no harm
    for (uintptr_t line = 0; memory && line < 4; ++line)
      __builtin_prefetch(reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(memory) + line * 64));
  };
  for (const std::unique_ptr<Table> &table : tables_)
    lines(table->kinds_view);
  for (size_t i = 0; i < count; ++i) {
    const ColumnView &view = tables_[columns[i].table]->columns[columns[i].column].view;
    lines(view.i32);
    lines(view.lists[0].begin);
  }
}

Status Batch::validate(const ColumnRef *columns, size_t count, InputStatuses &statuses) {
  if (empty())
    return Status::error(Code::bad_call, info_->name + ": the batch was moved from");
  finish();
  fetch(columns, count);
  statuses.begin(inputs_);
  if (!whole_.ok() && whole_.message.empty())
    whole_.message =
        info_->name + ": not enough memory for the batch, or more than 2^31 - 1 nodes or list elements";
  if (!whole_.ok())
    return whole_;
  for (size_t i = 0; i < count; ++i) {
    Status sizes = check_sizes(columns[i].table, columns[i].column);
    if (!sizes.ok())
      return sizes;
    Column &c = tables_[columns[i].table]->columns[columns[i].column];
    size_t elements = static_cast<size_t>(tables_[columns[i].table]->rows);
    for (int32_t level = 0; c.borrowed && level < c.info.depth; ++level) {
      elements = static_cast<size_t>(c.view.lists[level].begin[elements]);
      c.view.lists[level].elements = static_cast<int64_t>(elements);
    }
  }
  for (int32_t data = 0; data < args(); ++data)
    validate_kinds(data);
  for (size_t i = 0; i < count; ++i)
    validate_column(columns[i].table, columns[i].column);
  if (statuses_.failed() > 0)
    for (int32_t input = 0; input < inputs_; ++input)
      if (!statuses_[input].ok())
        statuses.fail(input, statuses_[input]);
  for (size_t i = 0; i < count; ++i)
    for (const Status &failure : tables_[columns[i].table]->columns[columns[i].column].failures)
      statuses.fail(failure.input, failure);
  return Status();
}

} // namespace dbc
