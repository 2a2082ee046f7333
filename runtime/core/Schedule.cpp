// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Rows, levels and steps: counting sorts over arrays that are kept from batch to batch.
#include <dbc/distinct_rows.h>
#include <dbc/input_order.h>

#include <algorithm>
#include <climits>
#include <new>
#include <numeric>

namespace dbc {

// --- Budget
// ----------------------------------------------------------------------------------------------------------

void Budget::begin(const Batch &batch, Range inputs, int64_t limit) {
  batch_ = &batch;
  limit_ = limit;
  first_ = inputs.begin;
  reserved_.assign(static_cast<size_t>(inputs.end - inputs.begin), 0);
  begin_.assign(static_cast<size_t>(batch.args()) + 1, nullptr);
  for (int32_t data = 0; data < batch.args(); ++data)
    begin_[data] = batch.begin(data);
  newest_ = first_;
}

int32_t Budget::find_input(int32_t table, int32_t row) const {
  // A level goes through the inputs in their order, then the next level does.
  const int32_t *begin = begin_[table];
  int32_t from = row >= begin[newest_] ? newest_ + 1 : first_, inputs = batch_->inputs();
  for (int32_t input = from; input < std::min(from + 8, inputs); ++input)
    if (row < begin[input + 1])
      return input;
  return batch_->input_of(table, row);
}

void Budget::report(int32_t table, int32_t row, int32_t length, int64_t bytes, ScheduleErrors &errors,
                    const char *at) const noexcept {
  errors.error(table, row, ErrorKind::memory, at, "", length, bytes, limit_);
}

// --- TimeSteps
// ----------------------------------------------------------------------------------------------------------

void TimeSteps::once(int32_t rows) {
  count = 1;
  in_order = true;
  begin.resize(2);
  begin[0] = 0;
  begin[1] = rows;
  order.clear();
  time_step.clear();
  first.clear();
  active.clear();
}

void TimeSteps::sort(int32_t rows, int32_t time_steps) {
  count = time_steps;
  begin.assign(static_cast<size_t>(time_steps) + 1, 0);
  order.clear();
  active.clear();
  in_order = true;
  // Mostly rows come by time step: then a counter in memory would wait for itself at every row.
  int32_t last = 0, run = 0;
  for (int32_t row = 0; row < rows; ++row) {
    int32_t t = time_step[row];
    if (t != last) {
      begin[last + 1] += run;
      in_order &= t > last;
      last = t;
      run = 0;
    }
    ++run;
  }
  if (rows > 0)
    begin[last + 1] += run;
  for (int32_t t = 0; t < time_steps; ++t)
    begin[t + 1] += begin[t];
  if (in_order)
    return;
  // begin[t] is used as the next free position of time step t; each ends at the start of the next, so one
  // shift mends it.
  order.resize(rows);
  for (int32_t row = 0; row < rows; ++row)
    order[begin[time_step[row]]++] = row;
  for (int32_t t = time_steps; t > 0; --t)
    begin[t] = begin[t - 1];
  begin[0] = 0;
}

void TimeSteps::mask(int32_t t, const uint8_t *alive) {
  int32_t low = begin[t], high = begin[t + 1];
  if (in_order) {
    order.resize(begin[count]);
    for (int32_t p = 0; p < begin[count]; ++p)
      order[p] = p;
    in_order = false;
  }
  active.extend(static_cast<size_t>(count), 0);
  // What is not active need not stand anywhere: nobody asks for it any more.
  int32_t *to = order.data() + low;
  for (int32_t p = low; p < high; ++p)
    if (alive[order[p]])
      *to++ = order[p];
  active[t] = static_cast<int32_t>(to - (order.data() + low));
}

void Window::begin(const TimeSteps &time_steps, int32_t live) {
  begin_ = time_steps.begin.data();
  live_ = live;
  now_ = 0;
  rows_ = time_steps.begin[time_steps.count];
  largest_ = 0;
  for (int32_t t = 0; t < time_steps.count; ++t)
    largest_ = std::max(largest_, time_steps.begin[t + 1] - time_steps.begin[t]);
  const int64_t kept = static_cast<int64_t>(live) * largest_;
  if (kept < rows_)
    rows_ = static_cast<int32_t>(kept);
  else
    largest_ = -1;
}

void time_steps_from_parent(IndexSet &index_set, const TimeSteps &parent) {
  int32_t rows = index_set.rows();
  if (parent.count <= 1) {
    index_set.time_steps.once(rows);
    return;
  }
  const int32_t *parents = index_set[0];
  index_set.time_steps.first.clear();
  index_set.time_steps.time_step.resize(rows);
  for (int32_t row = 0; row < rows; ++row)
    index_set.time_steps.time_step[row] = parent.time_step[parents[row]];
  index_set.time_steps.sort(rows, parent.count);
}

/// By counting sort; `to(r)` is the row that row r of `from` is joined with; -1, with none: such rows come
/// first, before the list of row 0.
template <class To>
static void transpose_by(IndexSet &transpose, int32_t from, int32_t rows, const InputOrder *order,
                         const To &to) {
  IndexArray &row = transpose.array(0), &begin = transpose.array(1);
  row.resize(from);
  begin.assign(static_cast<size_t>(rows) + 2,
               0); // where the rows of r + 1 begin, while they are put in place
  for (int32_t r = 0; r < from; ++r)
    ++begin[to(r) + 2];
  std::partial_sum(begin.data() + 1, begin.data() + begin.size(), begin.data() + 1);
  for (int32_t position = 0; position < from; ++position) {
    const int32_t r = order ? order->row_at(position) : position;
    row[begin[to(r) + 1]++] = r;
  }
  begin.resize(static_cast<size_t>(rows) + 1);
}

void transpose(IndexSet &transpose, const int32_t *to, int32_t from, int32_t rows, const InputOrder *order) {
  transpose_by(transpose, from, rows, order, [&](int32_t r) { return to[r]; });
}

void transpose(IndexSet &transpose, const int32_t *numbers, int32_t from, const DistinctRows &rows,
               const InputOrder *order) {
  transpose_by(transpose, from, rows.rows(), order, [&](int32_t r) { return rows.row_of(numbers[r]); });
}

void make_steps(IndexSet &elements, const TimeSteps &parent, int32_t position) {
  int32_t rows = elements.rows();
  const int32_t *parents = elements[0], *positions = elements[position];
  TimeSteps &time_steps = elements.time_steps;
  // first[t + 1]: the number of steps of outer time step t, then their running sum.
  time_steps.first.assign(static_cast<size_t>(parent.count) + 1, 0);
  for (int32_t row = 0; row < rows; ++row) {
    int32_t &longest = time_steps.first[parent.time_step_of(parents[row]) + 1];
    longest = std::max(longest, positions[row] + 1);
  }
  int64_t steps = 0;
  for (int32_t t = 0; t < parent.count; ++t)
    time_steps.first[t + 1] = static_cast<int32_t>(steps += time_steps.first[t + 1]);
  if (steps >= INT_MAX)
    throw std::bad_alloc();
  time_steps.time_step.resize(rows);
  for (int32_t row = 0; row < rows; ++row)
    time_steps.time_step[row] = time_steps.first[parent.time_step_of(parents[row])] + positions[row];
  time_steps.sort(rows, static_cast<int32_t>(steps));
}

void IndexSet::make_room() {
  const size_t rows = arrays_[0].size();
  if (rows >= INT_MAX)
    throw std::bad_alloc();
  room_ = INT_MAX;
  for (IndexArray &array : arrays_) {
    array.resize(rows); // push() has not said it
    array.reserve(rows + 1);
    room_ = std::min(room_, array.capacity());
  }
}

// --- KeyTable
// --------------------------------------------------------------------------------------------------------

void KeyTable::add(int32_t outer, int32_t low, int32_t high) {
  int64_t count = std::max<int64_t>(0, int64_t(high) - low), first = slots();
  if (first + count >= INT_MAX)
    throw std::bad_alloc();
  const size_t before = static_cast<size_t>(outer - first_);
  if (before >= ranges_.size())
    ranges_.extend(before + 1, SlotRange());
  ranges_[before] = {static_cast<int32_t>(first), low, high};
  outer_.extend(static_cast<size_t>(first + count), outer);
  key_.resize(static_cast<size_t>(first + count));
  for (int64_t k = 0; k < count; ++k)
    key_[static_cast<size_t>(first + k)] = static_cast<int32_t>(low + k);
}

// --- Group
// ----------------------------------------------------------------------------------------------------------

Group::Group(const CellInfo *cells, int32_t count, bool cyclic)
    : info_(cells), cyclic_(cyclic), cells_(count), caller_(count), level_(count), first_(count),
      slot_(count) {
  for (int32_t c = 0; c < count; ++c) {
    cells_[c].arms = cells[c].arms;
    most_keys_ = std::max(most_keys_, static_cast<size_t>(cells[c].key_count));
  }
  tables_.resize(count * most_keys_);
}

void Group::begin(const Batch &batch, Range inputs, ScheduleErrors &errors, const SharedNodes *shared) {
  batch_ = &batch;
  errors_ = &errors;
  shared_ = shared;
  levels_ = 0;
  instances_ = 0;
  edges_.clear();
  frames_.clear();
  for (size_t c = 0; c < cells_.size(); ++c) {
    const CellInfo &info = info_[c];
    const Range rows = batch.rows(info.data, inputs);
    for (size_t k = 0; k < most_keys_; ++k)
      table(static_cast<int32_t>(c), static_cast<int32_t>(k)).begin(k == 0 ? rows.begin : 0);
    const int64_t a_node = info.key_count == 0 ? 1 : info.width; // 0: slots come with open()
    if (a_node * rows.end > INT_MAX)
      throw std::bad_alloc();
    first_[c] = static_cast<int32_t>(a_node * rows.begin);
    level_[c].resize(first_[c]);
    caller_[c].resize(static_cast<size_t>(first_[c]) * info.caller_size);
    add_slots(static_cast<int32_t>(c), static_cast<size_t>(a_node * rows.end));
  }
}

/// So that a cell has `count` slots.
void Group::add_slots(int32_t cell, size_t count) {
  level_[cell].extend(count, kUndiscovered);
  caller_[cell].extend(count * static_cast<size_t>(info_[cell].caller_size), kUndiscovered);
}

bool Group::set_caller(int32_t cell, int32_t slot, int32_t relation, std::initializer_list<int32_t> from,
                       const char *at) {
  int32_t *caller = caller_[cell].data() + static_cast<size_t>(slot) * info_[cell].caller_size;
  if (caller[0] == kUndiscovered) {
    caller[0] = relation;
    std::copy(from.begin(), from.end(), caller + 1);
    return true;
  }
  if (caller[0] == relation && std::equal(from.begin(), from.end(), caller + 1))
    return true;
  errors_->fail(info_[cell].data, owner(cell, slot), messages::reached_twice(info_[cell].name, at));
  return false;
}

bool Group::open(int32_t cell, int32_t key, int32_t outer, int32_t low, int32_t high, Budget &budget,
                 const char *at) {
  const CellInfo &info = info_[cell];
  KeyTable &table = this->table(cell, key);
  int64_t count = std::max<int64_t>(0, int64_t(high) - low);
  int32_t owner = this->outer(cell, key - 1, -1, outer);
  int64_t bytes;
  if (!budget.take(info.data, owner, count, KeyTable::kBytes, bytes)) {
    report(cell, key, owner, ErrorKind::table, at, count, bytes, budget.limit());
    return false;
  }
  table.add(outer, low, high);
  if (key + 1 == info.key_count)
    add_slots(cell, static_cast<size_t>(table.slots()));
  return true;
}

/// Gives the instances of a cell whose calls lower a key the levels that its values are.
void Group::level_by_key(int32_t cell) {
  const int32_t number = info_[cell].level_key, slots = static_cast<int32_t>(level_[cell].size());
  int32_t *level = level_[cell].data(), least = INT32_MAX, most = INT32_MIN;
  for (int32_t slot = first_[cell]; slot < slots; ++slot)
    if (level[slot] >= 0) {
      least = std::min(least, key(cell, number, slot));
      most = std::max(most, key(cell, number, slot));
    }
  for (int32_t slot = first_[cell]; slot < slots; ++slot)
    if (level[slot] >= 0)
      level[slot] = key(cell, number, slot) - least;
  levels_ = instances_ > 0 ? most - least + 1 : 0;
}

bool Group::called(int32_t cell, std::initializer_list<int32_t> keys) const {
  const CellInfo &info = info_[cell];
  const int32_t *key = keys.begin();
  int32_t slot = *key++;
  if (info.width > 0) {
    uint32_t number = static_cast<uint32_t>(*key) - static_cast<uint32_t>(info.low);
    if (number >= static_cast<uint32_t>(info.width))
      return false;
    slot = slot * info.width + static_cast<int32_t>(number);
  } else {
    for (int32_t k = 0; k < info.key_count; ++k, ++key) {
      const KeyTable &table = this->table(cell, k);
      if (!table.has(slot) || (slot = table.find(slot, *key)) < 0)
        return false;
    }
  }
  return level_[cell][slot] >= 0;
}

void Group::sort() {
  if (cyclic_)
    levels_ = instances_ > 0;
  for (size_t c = 0; c < cells_.size(); ++c)
    if (info_[c].level_key >= 0)
      level_by_key(static_cast<int32_t>(c));
  if (levels_ == 0)
    levels_ = 1; // stages may ask for the range of level 0
  for (size_t c = 0; c < cells_.size(); ++c) {
    CellRows &cell = cells_[c];
    int32_t first = first_[c], slots = static_cast<int32_t>(level_[c].size());
    int32_t *level = level_[c].data();
    int32_t arms = cell.arms;
    const uint8_t *kinds = arms > 1 ? batch_->kinds(info_[c].data) : nullptr;
    size_t buckets = static_cast<size_t>(levels_) * arms;
    cell.levels = levels_;
    cell.arm_begin.assign(buckets + 1, 0);
    int32_t *begin = cell.arm_begin.data();
    const bool flat = cyclic_;
    auto bucket = [=](int32_t slot) {
      size_t l = flat ? 0 : level[slot];
      return kinds ? l * arms + kinds[slot] : l;
    };
    for (int32_t slot = first; slot < slots; ++slot)
      if (level[slot] >= 0)
        ++begin[bucket(slot) + 1];
    for (size_t b = 0; b < buckets; ++b)
      begin[b + 1] += begin[b];
    cell.count = begin[buckets];
    slot_[c].resize(cell.count);
    int32_t *slot_of = slot_[c].data();
    // Levels become rows in place; begin moves up by one bucket meanwhile and is shifted back.
    for (int32_t slot = first; slot < slots; ++slot)
      if (level[slot] >= 0) {
        int32_t row = begin[bucket(slot)]++;
        slot_of[row] = slot;
        level[slot] = row;
      }
    for (size_t b = buckets; b > 0; --b)
      begin[b] = begin[b - 1];
    begin[0] = 0;
    if (shared_)
      for (int32_t slot = first; slot < slots; ++slot)
        level[slot] = level[first_like(static_cast<int32_t>(c), slot)];
    cell.slot = slot_[c].data();
    cell.row_of = level;

    TimeSteps &time_steps = cell.time_steps;
    time_steps.count = levels_;
    time_steps.begin.resize(static_cast<size_t>(levels_) + 1);
    for (int32_t l = 0; l <= levels_; ++l)
      time_steps.begin[l] = begin[static_cast<size_t>(l) * arms];
    time_steps.time_step.clear();
    if (levels_ == 1)
      continue;
    time_steps.time_step.resize(cell.count);
    for (int32_t l = 0; l < levels_; ++l)
      for (int32_t row = time_steps.begin[l]; row < time_steps.begin[l + 1]; ++row)
        time_steps.time_step[row] = l;
  }
  shared_ = nullptr;
}

void Group::fill(int32_t cell, IndexSet &index_set) const {
  const CellRows &rows = cells_[cell];
  size_t count = static_cast<size_t>(rows.count);
  int32_t keys = info_[cell].key_count;
  for (int32_t array = 1; array < index_set.width(); ++array)
    index_set.array(array).resize(count);
  index_set.array(0).append(rows.slot, count);
  // From the last key to the first: array 0 holds the slot of the keys that are left.
  int32_t *slot = index_set.array(0).data();
  if (const int32_t width = info_[cell].width) {
    int32_t *key = index_set.array(1).data();
    for (size_t row = 0; row < count; ++row) {
      key[row] = info_[cell].low + slot[row] % width;
      slot[row] /= width;
    }
    return;
  }
  for (int32_t k = keys - 1; k >= 0; --k) {
    const KeyTable &table = this->table(cell, k);
    int32_t *key = index_set.array(k + 1).data();
    for (size_t row = 0; row < count; ++row) {
      key[row] = table.key(slot[row]);
      slot[row] = table.outer(slot[row]);
    }
  }
}

void Group::report_outside(int32_t cell, int32_t key, int32_t outer, int32_t value, const char *at) noexcept {
  const CellInfo &info = info_[cell];
  int64_t low = info.low, high = low + info.width;
  if (info.width == 0) {
    low = table(cell, key).low(outer);
    high = table(cell, key).high(outer);
  }
  report(cell, key, this->outer(cell, key - 1, -1, outer), ErrorKind::key, at, value, low, high);
}

void Group::report(int32_t cell, int32_t key, int32_t owner, ErrorKind kind, const char *at, int64_t a,
                   int64_t b, int64_t c) noexcept {
  const CellInfo &info = info_[cell];
  try {
    std::string what = messages::key_name(info.keys[key], info.name);
    errors_->error(info.data, owner, kind, at, what.c_str(), a, b, c);
  } catch (const std::bad_alloc &) {
    errors_->error(info.data, owner, kind, at, "", a, b, c);
  }
}

void Group::report_cycle(int32_t cell, int32_t slot) noexcept {
  try {
    // The frames from the one of (cell, slot) up to the newest are the cycle.
    size_t at = frames_.size();
    while (at > 0 && !(frames_[at - 1].cell == cell && frames_[at - 1].slot == slot))
      --at;
    std::vector<messages::CycleStep> steps;
    for (size_t f = at - 1; f < frames_.size(); ++f) {
      const Frame &frame = frames_[f];
      const CellInfo &info = info_[frame.cell];
      std::string keys;
      if (info.data != batch_->args())
        keys = batch_->node_name(info.data, owner(frame.cell, frame.slot));
      for (int32_t k = 0; k < info.key_count; ++k)
        if (*info.keys[k])
          keys += (keys.empty() ? "" : ", ") + std::string(info.keys[k]) + " = " +
                  std::to_string(key(frame.cell, k, frame.slot));
      steps.push_back({info.name, keys});
    }
    errors_->fail(info_[cell].data, owner(cell, slot), messages::cycle(steps));
  } catch (const std::bad_alloc &) {
    errors_->fail(info_[cell].data, owner(cell, slot), "a value needs itself");
  }
}

// --- NodeSet
// --------------------------------------------------------------------------------------------------------

void NodeSet::begin(const Batch &batch, Range inputs) {
  size_t nodes = 0;
  base_.resize(batch.info().datas.size());
  for (size_t data = 0; data < base_.size(); ++data) {
    const int32_t table = static_cast<int32_t>(data);
    const Range rows = batch.rows(table, inputs);
    base_[data] = nodes;
    nodes += static_cast<size_t>(batch.rows(table));
    stamps_.resize(nodes);
    std::fill(stamps_.data() + base_[data] + rows.begin, stamps_.data() + base_[data] + rows.end, 0);
  }
  stamp_ = 0;
  open_.clear();
}

/// Sorts what was found by node number: by a walk over the marks where they are dense, else by comparing.
void NodeSet::order() {
  size_t count = found_.size();
  if (count < 2)
    return;
  auto range = std::minmax_element(found_.begin(), found_.end());
  int32_t low = *range.first, high = *range.second;
  if (static_cast<size_t>(high - low) > 8 * count) {
    std::sort(found_.data(), found_.data() + count);
    return;
  }
  const int32_t *marks = stamps_.data() + base_[wanted_];
  found_.clear();
  for (int32_t node = low; node <= high; ++node)
    if (marks[node] == stamp_)
      found_.push(node);
}

} // namespace dbc
