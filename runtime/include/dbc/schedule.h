// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What generated scheduling code is made of: it turns the structure of a batch into arrays of row numbers.
// Nothing here touches a float, hashes (see sharing.h), recurses on the machine stack, or allocates once the
// arrays have grown to a batch's size.
//
//   KeyTable  slots for the values of a key that is not the first: a cell's table
//   Group  the instances of the cells of one recursion: which are called, at which level, in which row
//   IndexSet  the rows of one binder or match arm, with int32 index arrays
//   TimeSteps  in what order an index set's rows are computed: levels of a recursion, steps of a scan
//   NodeSet  nodes(t)
#pragma once

#include <dbc/batch.h>
#include <dbc/buffer.h>
#include <dbc/inline.h>
#include <dbc/integers.h>
#include <dbc/schedule_errors.h>
#include <dbc/sharing.h>
#include <dbc/status.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace dbc {

/// How much memory an input may reserve with lists that it does not hold itself (ranges, a list once for each
/// element of another), so that a small hostile input cannot take all there is.
class Budget {
public:
  /// Starts a round for some inputs: nothing is reserved. `limit` in bytes.
  void begin(const Batch &batch, Range inputs, int64_t limit);
  /// Of the input that `row` of `table` belongs to (as in ScheduleErrors). Returns whether it may have
  /// `length` times `bytes_a_row` more, which is `bytes`.
  DBC_INLINE bool take(int32_t table, int32_t row, int64_t length, int64_t bytes_a_row, int64_t &bytes) {
    bytes = 0;
    if (length == 0)
      return true;
    int64_t &reserved = reserved_[input_of(table, row) - first_];
    if (__builtin_mul_overflow(length, bytes_a_row, &bytes) || bytes > limit_ - reserved)
      return false;
    reserved += bytes;
    return true;
  }
  /// The same; if it may not, the error is reported: a list of `length` at `at`.
  DBC_INLINE bool reserve(int32_t table, int32_t row, int32_t length, int64_t bytes_a_row,
                          ScheduleErrors &errors, const char *at) {
    int64_t bytes;
    if (__builtin_expect(take(table, row, length, bytes_a_row, bytes), 1))
      return true;
    report(table, row, length, bytes, errors, at);
    return false;
  }
  /// What one input may have, in bytes.
  int64_t limit() const { return limit_; }

private:
  /// Rows are asked for in the order of inputs, by and large: mostly it is the same as the last time.
  DBC_INLINE int32_t input_of(int32_t table, int32_t row) {
    const int32_t *begin = begin_[table];
    if (!begin)
      return row; // an argument
    if (row < begin[newest_] || row >= begin[newest_ + 1])
      newest_ = find_input(table, row);
    return newest_;
  }
  int32_t find_input(int32_t table, int32_t row) const;
  DBC_COLD void report(int32_t table, int32_t row, int32_t length, int64_t bytes, ScheduleErrors &errors,
                       const char *at) const noexcept;

  const Batch *batch_ = nullptr;
  int64_t limit_ = 0;
  int32_t first_ = 0; ///< input
  Array<int64_t> reserved_;
  std::vector<const int32_t *> begin_; ///< of each table: Batch::begin, null for that of arguments
  int32_t newest_ = 0;                 ///< the input that was asked for last
};

/// Which rows have the values of a column, as ColumnView::has says it: kept so that asking costs next to
/// nothing where all have.
class Given {
public:
  /// Borrows the view.
  void bind(const ColumnView &view) {
    view_ = &view;
    all_ = view.given && !view.present;
  }
  bool has(int32_t row) const { return __builtin_expect(all_, 1) || view_->has(row); }

private:
  bool all_ = false;
  const ColumnView *view_ = nullptr;
};

/// The order in which rows are computed. Time step t computes the rows at positions
/// begin[t] .. begin[t + 1] - 1; the row at position p is p itself if `in_order`, else order[p]. Of rows that
/// a `while` may have ended, the active ones are found while computing: `mask` puts them first, and positions
/// end at end(t).
struct TimeSteps {
  int32_t count = 0;
  bool in_order = true;
  IndexArray begin;     ///< count + 1 positions
  IndexArray order;     ///< position -> row; filled only if !in_order
  IndexArray time_step; ///< row -> time step; filled only if count > 1
  /// Steps of a scan: those of time step t of the index set outside are time steps
  /// first[t] .. first[t + 1] - 1 here.
  IndexArray first;
  IndexArray active; ///< time step -> how many rows are active; shorter where none were masked yet

  int32_t time_step_of(int32_t row) const { return time_step.empty() ? 0 : time_step[row]; }
  int32_t row_at(int32_t position) const { return in_order ? position : order[position]; }
  /// Null where rows are in order: what the product kernel takes for "row i is row i".
  const int32_t *rows() const { return in_order ? nullptr : order.data(); }
  /// Behind the last active row of a time step; all rows are active where mask() was not called.
  int32_t end(int32_t t) const { return active.empty() ? begin[t + 1] : begin[t] + active[t]; }

  /// `rows` rows, one time step.
  void once(int32_t rows);
  /// Fills begin, order and in_order from `time_step`, by a stable counting sort: O(rows + count).
  void sort(int32_t rows, int32_t count);
  /// Of time step t the rows for which alive[row] is not 0 come first, in their order. For each time step
  /// before end(t) is asked for. O(rows in t).
  void mask(int32_t t, const uint8_t *alive);
};

/// Where rows lie in buffers that keep those of the last few time steps of an index set whose rows are in
/// order: the memory has that many pieces, each for the largest time step, and each time step takes the place
/// of the one that so many time steps ago was in its piece. Where that is no less than all rows, these are
/// kept.
class Window {
public:
  /// For a run: of time steps that stay as they are until it ends. Nothing is kept yet. O(time steps).
  void begin(const TimeSteps &time_steps, int32_t live);
  /// Rows that there must be memory for.
  int32_t rows() const { return rows_; }
  /// Time step `time_step` is computed now.
  void move(int32_t time_step) { now_ = time_step; }
  /// What the number of a row of the time step `ago` time steps before is lowered by, to be its position in
  /// the memory.
  int32_t first(int32_t ago) const {
    const int32_t time_step = now_ - ago;
    return largest_ < 0 || time_step < 0 ? 0 : begin_[time_step] - time_step % live_ * largest_;
  }

private:
  const int32_t *begin_ = nullptr; ///< TimeSteps::begin
  int32_t live_ = 1, now_ = 0, rows_ = 0;
  int32_t largest_ = -1; ///< rows of the largest time step; -1: all rows are kept
};

/// The slots of a cell's instances by one more key. Behind the first key, a node (or the input), each key is
/// an integer in a range, which may depend on the keys before it: for each slot of those that is asked for
/// the table holds a range of slots, one for each value. So a table is an array; nothing is hashed, and of
/// dependent ranges only what exists takes memory.
class KeyTable {
public:
  /// What a slot takes, in its table and in the one behind it, or the levels.
  static constexpr int64_t kBytes = 20;

  /// Starts a sub-batch: no slots. Slots of the keys before are `first` and above.
  void begin(int32_t first) {
    first_ = first;
    ranges_.clear();
    outer_.clear();
    key_.clear();
  }
  int32_t slots() const { return static_cast<int32_t>(key_.size()); }
  bool has(int32_t outer) const {
    return static_cast<size_t>(outer - first_) < ranges_.size() && ranges_[outer - first_].first >= 0;
  }
  /// Slots for the keys low .. high - 1 of a slot of the keys before. Throws std::bad_alloc.
  void add(int32_t outer, int32_t low, int32_t high);
  /// The slot of `key`; -1 outside of the range. has(outer).
  int32_t find(int32_t outer, int32_t key) const {
    const SlotRange &range = ranges_[outer - first_];
    return key < range.low || key >= range.high ? -1 : range.first + (key - range.low);
  }
  int32_t low(int32_t outer) const { return ranges_[outer - first_].low; }
  int32_t high(int32_t outer) const { return ranges_[outer - first_].high; }
  /// Of a slot: the slot of the keys before, and this key.
  int32_t outer(int32_t slot) const { return outer_[slot]; }
  int32_t key(int32_t slot) const { return key_[slot]; }

private:
  struct SlotRange {
    int32_t first = -1, low = 0, high = 0;
  };
  int32_t first_ = 0;
  Array<SlotRange> ranges_; ///< of the slots of the keys before, from first_ on
  IndexArray outer_, key_;
};

class IndexSet;
class InputOrder;

/// A cell of a recursion group, as generated code describes it.
struct CellInfo {
  const char *name; ///< the source's name, for messages
  int32_t data;     ///< table of its first key: a data type, or batch.args() where it has no node for a key
  int32_t arms;     ///< 1, or the number of constructors: rows of one level are then sorted by constructor
  const char *const *keys = nullptr; ///< the names of its secondary keys, "" of what messages do not tell;
                                     ///< then `arms` is 1
  int32_t key_count = 0;             ///< how many
  /// Of a cell with one secondary key that takes the same few values for every node: low .. low + width - 1.
  /// Then each node has a slot for each of them, and there is no table.
  int32_t low = 0, width = 0;
  /// What set_caller() keeps of an instance: the relation and the longest `from`; 0 where nobody asks.
  int32_t caller_size = 0;
  /// Of the one cell of its group, whose calls all lower this secondary key: instances of one value of it are
  /// a level, the least first. -1: levels are as few as there can be.
  int32_t level_key = -1;
};

/// The rows of one cell, made by Group::sort: sorted by level, within a level by constructor, then by slot.
struct CellRows {
  int32_t count = 0;               ///< instances
  int32_t levels = 0;              ///< levels of the whole group
  int32_t arms = 1;                ///< see CellInfo
  const int32_t *slot = nullptr;   ///< row -> slot
  const int32_t *row_of = nullptr; ///< slot -> row, -1 where it is not called
  TimeSteps time_steps;            ///< one time step a level; always in order
  IndexArray arm_begin;            ///< levels * arms + 1: first row of (level, arm)

  int32_t first(int32_t level) const { return time_steps.begin[level]; }
  int32_t first(int32_t level, int32_t arm) const {
    return arm_begin[static_cast<size_t>(level) * arms + arm];
  }
  int32_t last(int32_t level, int32_t arm) const {
    return arm_begin[static_cast<size_t>(level) * arms + arm + 1];
  }
};

/// All instances of one strongly connected component of cells. An instance is known by its SLOT: the node,
/// if that is its cell's only key, else what its cell's last KeyTable says.
///
///   group.begin(batch, inputs, errors);
///   for (every caller outside)
///     group.discover(cell, slot, calls); // calls(cell, slot) says group.call(..) once a call
///   group.sort();
class Group {
public:
  /// `cells` is borrowed (a static table). `cyclic`: cycles are no error (used for reachability); then there
  /// is one level.
  Group(const CellInfo *cells, int32_t count, bool cyclic = false);

  /// Starts some inputs of a batch: no instance. Callers are theirs alone. O(nodes of these inputs). With
  /// `shared` an instance of a node stands for those of all nodes that are like it: then the cells' keys must
  /// be a node and at most one key of a fixed range, and `cyclic` is not set. Borrowed until sort() is done.
  void begin(const Batch &batch, Range inputs, ScheduleErrors &errors, const SharedNodes *shared = nullptr);

  /// Whether the range of secondary key `key` of a cell is known for a slot of the keys before.
  bool has(int32_t cell, int32_t key, int32_t outer) const { return table(cell, key).has(outer); }
  /// Sets that range: low .. high - 1. False if the table would be too large, which is then reported; `at` is
  /// where the key is declared.
  bool open(int32_t cell, int32_t key, int32_t outer, int32_t low, int32_t high, Budget &budget,
            const char *at);
  /// The slot of a value of that key, after open(); -1 if it is outside, which is then reported for the call
  /// at `at`.
  int32_t find(int32_t cell, int32_t key, int32_t outer, int32_t value, const char *at) {
    int32_t slot = table(cell, key).find(outer, value);
    if (slot < 0)
      report_outside(cell, key, outer, value, at);
    return slot;
  }
  /// The same for a cell with the range `low` .. `low + width - 1` for every node, see CellInfo. Needs no
  /// open().
  DBC_INLINE int32_t find_fixed(int32_t cell, int32_t owner, int32_t value, int32_t low, int32_t width,
                                const char *at) {
    uint32_t number = static_cast<uint32_t>(value) - static_cast<uint32_t>(low);
    if (__builtin_expect(number >= static_cast<uint32_t>(width), 0)) {
      report_outside(cell, 0, owner, value, at);
      return -1;
    }
    return owner * width + static_cast<int32_t>(number);
  }
  /// The node or input that a slot belongs to, and its secondary keys.
  int32_t owner(int32_t cell, int32_t slot) const {
    const int32_t width = info_[cell].width;
    return width > 0 ? slot / width : outer(cell, last(cell), -1, slot);
  }
  int32_t key(int32_t cell, int32_t key, int32_t slot) const {
    const CellInfo &info = info_[cell];
    return info.width > 0 ? info.low + slot % info.width
                          : table(cell, key).key(outer(cell, last(cell), key, slot));
  }

  /// The instance (cell, slot) is needed. Visits it and all that it needs and that was not visited before:
  /// for each, `calls(cell, slot)` is called once and must call `call` for each of its callees in this
  /// group.
  template <class Calls> void discover(int32_t cell, int32_t slot, Calls &&calls) {
    if (shared_)
      slot = first_like(cell, slot);
    if (level_[cell][slot] != kUndiscovered)
      return;
    enter(cell, slot, calls);
    while (!frames_.empty()) {
      Frame &frame = frames_.back();
      if (edges_.size() > frame.edges) {
        Edge edge = edges_.back();
        edges_.pop();
        if (shared_)
          edge.slot = first_like(edge.cell, edge.slot);
        int32_t level = level_[edge.cell][edge.slot];
        if (level == kUndiscovered)
          enter(edge.cell, edge.slot, calls);
        else if (level == kOpen) // one that is alike was called: call() could not see that it is this one
          report_cycle(edge.cell, edge.slot);
        else if (level >= frame.level)
          frame.level = level + 1;
      } else {
        leave();
      }
    }
  }

  /// Only inside `calls`: the instance being visited needs (cell, slot).
  DBC_INLINE void call(int32_t cell, int32_t slot) {
    int32_t level = level_[cell][slot];
    if (level == kUndiscovered) {
      edges_.push({cell, slot});
    } else if (level >= 0) {
      Frame &frame = frames_.back();
      if (level >= frame.level)
        frame.level = level + 1;
    } else if (!cyclic_) {
      report_cycle(cell, slot);
    }
  }

  /// Before each call() or discover() of a cell whose values change on the way down: keeps which call leads
  /// to the instance. `relation` is the number of the call site, `from` the caller's keys and the positions
  /// in the binders around the call. False if another call leads there too, which is then reported.
  bool set_caller(int32_t cell, int32_t slot, int32_t relation, std::initializer_list<int32_t> from,
                  const char *at);
  /// Whether the call that leads to an instance is of that relation.
  bool called_by(int32_t cell, int32_t slot, int32_t relation) const {
    return *caller_of(cell, slot) == relation;
  }
  /// One of the numbers `from` of the call that leads to an instance.
  int32_t caller(int32_t cell, int32_t slot, int32_t number) const {
    return caller_of(cell, slot)[1 + number];
  }

  /// Whether the instance with these keys, the node or input first, was visited; also after sort(). Not with
  /// `shared`, where one instance stands for others.
  bool called(int32_t cell, std::initializer_list<int32_t> keys) const;

  /// Gives every visited instance its row. O(slots + levels * arms).
  void sort();
  /// After sort(): a cell's instances as the rows of an index set: array 0 is the node or input, the next
  /// ones are the secondary keys; what other arrays there are is not set.
  void fill(int32_t cell, IndexSet &index_set) const;

  /// After sort().
  int32_t levels() const { return levels_; }
  const CellRows &cell(int32_t number) const { return cells_[number]; }
  /// Instances visited so far, over all cells.
  int64_t instances() const { return instances_; }

private:
  static constexpr int32_t kUndiscovered = -1; ///< also what row_of says, so no second pass is needed
  static constexpr int32_t kOpen = -2;         ///< on the stack: meeting it again is a cycle
  struct Edge {
    int32_t cell, slot;
  };
  struct Frame {
    int32_t cell, slot, level;
    size_t edges; ///< size of edges_ when the instance was entered
  };

  template <class Calls> void enter(int32_t cell, int32_t slot, Calls &&calls) {
    level_[cell][slot] = kOpen;
    size_t edges = edges_.size();
    frames_.push({cell, slot, 0, edges});
    calls(cell, slot);
    if (edges_.size() == edges)
      leave();
  }
  void leave() {
    Frame frame = frames_.back();
    frames_.pop();
    level_[frame.cell][frame.slot] = frame.level;
    ++instances_;
    if (frame.level >= levels_)
      levels_ = frame.level + 1;
    if (!frames_.empty() && frame.level >= frames_.back().level)
      frames_.back().level = frame.level + 1;
  }
  void add_slots(int32_t cell, size_t count);
  void level_by_key(int32_t cell);
  /// The slot that stands for `slot`.
  int32_t first_like(int32_t cell, int32_t slot) const {
    const CellInfo &info = info_[cell];
    const int32_t *same = shared_->of(info.data);
    return info.width > 0 ? same[slot / info.width] * info.width + slot % info.width : same[slot];
  }
  const int32_t *caller_of(int32_t cell, int32_t slot) const {
    return caller_[cell].data() + static_cast<size_t>(slot) * info_[cell].caller_size;
  }
  KeyTable &table(int32_t cell, int32_t key) { return tables_[cell * most_keys_ + key]; }
  const KeyTable &table(int32_t cell, int32_t key) const { return tables_[cell * most_keys_ + key]; }
  int32_t last(int32_t cell) const { return info_[cell].key_count - 1; }
  /// Of a slot of the keys up to `from`: that of the keys up to `to`, of which -1 is the node or input.
  int32_t outer(int32_t cell, int32_t from, int32_t to, int32_t slot) const {
    for (int32_t k = from; k > to; --k)
      slot = table(cell, k).outer(slot);
    return slot;
  }
  DBC_COLD void report_cycle(int32_t cell, int32_t slot) noexcept;
  DBC_COLD void report_outside(int32_t cell, int32_t key, int32_t outer, int32_t value,
                               const char *at) noexcept;
  void report(int32_t cell, int32_t key, int32_t owner, ErrorKind kind, const char *at, int64_t a, int64_t b,
              int64_t c) noexcept;

  const CellInfo *info_;
  bool cyclic_;
  const Batch *batch_ = nullptr;
  ScheduleErrors *errors_ = nullptr;
  const SharedNodes *shared_ = nullptr;
  int32_t levels_ = 0;
  int64_t instances_ = 0;
  std::vector<CellRows> cells_;
  size_t most_keys_ = 0;           ///< secondary keys that a cell has
  std::vector<KeyTable> tables_;   ///< of each cell: most_keys_, of which it uses those that it has
  std::vector<IndexArray> caller_; ///< of each cell: caller_size numbers a slot
  std::vector<IndexArray> level_;  ///< of each cell: levels while visiting, rows after sort()
  std::vector<int32_t> first_;     ///< of each cell: the first slot of these inputs; those before are not set
  std::vector<IndexArray> slot_;
  Array<Edge> edges_;
  Array<Frame> frames_;
};

/// The rows of a binder or of an arm: `arrays` index arrays of equal length. Array 0 is by convention that of
/// the row's parent (its row in the index set outside).
class IndexSet {
public:
  explicit IndexSet(int32_t arrays) : arrays_(arrays) {}

  /// Starts a batch: no rows.
  void begin() {
    for (IndexArray &each : arrays_)
      each.clear();
  }
  int32_t rows() const { return static_cast<int32_t>(arrays_[0].size()); }
  int32_t width() const { return static_cast<int32_t>(arrays_.size()); }
  IndexArray &array(int32_t number) { return arrays_[number]; }
  const IndexArray &array(int32_t number) const { return arrays_[number]; }
  const int32_t *operator[](int32_t number) const { return arrays_[number].data(); }

  /// Adds a row: one value an index array. Of these only the first knows its size then. Throws
  /// std::bad_alloc, also where there would be more than 2^31 - 1.
  template <class... Values> DBC_INLINE void push(Values... values) {
    const size_t row = arrays_[0].size();
    if (__builtin_expect(row >= room_, 0))
      make_room();
    arrays_[0].resize_in_room(row + 1);
    IndexArray *array = arrays_.data();
    (((array++)->data()[row] = values), ...);
  }

  TimeSteps time_steps;

private:
  DBC_COLD void make_room();

  std::vector<IndexArray> arrays_;
  size_t room_ = 0; ///< so many rows fit into all arrays
};

/// The transpose of a relation that joins each of `from` rows with row `to`[row] of `rows`: array 0 of
/// `transpose` is the rows sorted by that, equal ones in their order, or in `order`, which has all of them;
/// those of row r are at positions begin[r] .. begin[r + 1] - 1, `begin` being array 1, of `rows` + 1
/// elements. O(from + rows).
void transpose(IndexSet &transpose, const int32_t *to, int32_t from, int32_t rows,
               const InputOrder *order = nullptr);

/// The position of a row among those of its parent (array 0 holds the parents); `back`: counted from the
/// last. For messages: O(position).
DBC_COLD int32_t position_of(const IndexSet &index_set, int32_t row, bool back = false) noexcept;

/// Every row of `index_set` is computed in its parent's time step (array 0 holds the parents). O(rows + time
/// steps).
void time_steps_from_parent(IndexSet &index_set, const TimeSteps &parent);

/// The rows of `elements` are steps of scans over the rows of a parent index set (array 0), array
/// `position` says which step of its scan a row is. Time steps at one depth of a loop nest are numbered
/// consecutively over the whole run: the steps of outer time step t are
/// elements.time_steps.first[t] .. first[t + 1] - 1, as many as its longest scan has; a row of parent time
/// step t and position k is in time step first[t] + k. O(rows + time steps).
///
/// Generated code then runs, for each outer time step t, for each s in first[t] .. first[t + 1] - 1, the rows
/// of time step s; scans nested further take `elements.time_steps` for their parent.
void make_steps(IndexSet &elements, const TimeSteps &parent, int32_t position);

/// nodes(t): the nodes of one type that are reachable from a node through any fields, each once, by node
/// number. Generated code says what a node refers to; cycles are fine.
class NodeSet {
public:
  /// Starts some inputs of a batch. O(nodes of these inputs).
  void begin(const Batch &batch, Range inputs);

  /// After the call `nodes()` are the nodes of type `wanted` reachable from `node` of type `data`.
  /// `fields(data, node)` is called once for each reachable node and must call `see(data, node)` for what it
  /// refers to.
  template <class Fields> void collect(int32_t wanted, int32_t data, int32_t node, Fields &&fields) {
    ++stamp_;
    found_.clear();
    wanted_ = wanted;
    see(data, node);
    while (!open_.empty()) {
      Seen seen = open_.back();
      open_.pop();
      fields(seen.data, seen.node);
    }
    order();
  }
  /// Only inside `fields`.
  void see(int32_t data, int32_t node) {
    int32_t &mark = stamps_[base_[data] + node];
    if (mark == stamp_)
      return;
    mark = stamp_;
    open_.push({data, node});
    if (data == wanted_)
      found_.push(node);
  }
  const int32_t *nodes() const { return found_.data(); }
  int32_t count() const { return static_cast<int32_t>(found_.size()); }

private:
  struct Seen {
    int32_t data, node;
  };
  void order();

  int32_t stamp_ = 0, wanted_ = 0;
  IndexArray stamps_, found_;
  std::vector<size_t> base_;
  Array<Seen> open_;
};

} // namespace dbc
