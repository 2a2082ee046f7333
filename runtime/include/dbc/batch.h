// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The structure of a mini-batch: for every data type of a model a table of nodes with one column a field, and
// one more table with a row an input for the entries' arguments. A batch is either built node by node or
// borrows flat arrays.
#pragma once

#include <dbc/buffer.h>
#include <dbc/model_info.h>
#include <dbc/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace dbc {

/// How deep lists may be nested in a field or an argument: [[[[T]]]] at most.
constexpr int32_t kMaxListDepth = 4;

/// What a column holds, flattened: an argument that is a record or a tuple has one column for each of its
/// components, in declaration order, depth first; a list of records has one list column a component.
struct ColumnInfo {
  std::string name; ///< "left"; components of records and tuples: "state.h", "pair.0"
  Elem elem = Elem::F32;
  int32_t bound = 0;   ///< Elem::Index: values lie in 0 .. bound - 1
  int32_t target = -1; ///< Elem::Node: the data type referred to
  int64_t extent = 1;  ///< elements in one value
  int32_t depth = 0;   ///< 0: one value a row; 1: a list of values a row; 2: a list of lists ...
};

/// The components of a type in the order of their columns; `name` starts their names. Results are flattened
/// the same way.
std::vector<ColumnInfo> flatten(const TypeInfo &type, const std::string &name);

/// How generated code reads a column; the same for built and for borrowed columns.
///
/// depth 0: row n's value is at n * extent in the one of `i32`, `u8`, `f32` that fits the element type.
/// depth 1: row n's elements are lists[0].begin[n] .. lists[0].end[n] - 1, element e's value is at e *
/// extent. depth 2: those are numbers of inner lists, whose elements are lists[1].begin[e] .. lists[1].end[e]
/// - 1; and so on.
struct ColumnView {
  struct Lists {
    const int32_t *begin = nullptr;
    const int32_t *end = nullptr;
    int64_t elements = 0; ///< that all lists may reach, once the column was validated
  };
  const int32_t *i32 = nullptr;
  const uint8_t *u8 = nullptr;
  const float *f32 = nullptr;
  Lists lists[kMaxListDepth];
  int32_t device = -1;              ///< whose memory the values are in, if not the host's
  const uint8_t *present = nullptr; ///< a byte a row, or null: every row that can have the field has it
  bool given = false;               ///< false: the whole column is absent

  /// Whether row n has this field. Must be asked before a row is read that an entry uses for the first time.
  bool has(int32_t row) const { return given && (!present || present[row]); }
};

/// Names one column of a batch.
struct ColumnRef {
  int32_t table;
  int32_t column;
};

/// begin .. end - 1.
struct Range {
  int32_t begin = 0, end = 0;
};

struct Numbers;

/// The structure store. Tables 0 .. datas - 1 are the model's data types; table `args()` has one row an input
/// and one column for each distinct (name, type) among all entries' arguments, so that entries which take the
/// same arguments share them.
///
/// Nodes of one data type are numbered 0 .. N - 1 over the whole batch, those of one input contiguously.
///
/// Mistakes while filling do not stop the program: they are kept as the status of the input concerned
/// (bad_input), or of the batch (bad_call, limit), and come out of the next run. A batch that was moved from
/// takes nothing, and its runs fail with bad_call. Asking for a table, column, row or input that is not there
/// gives nothing. One batch may be used by one thread at a time. `clear` keeps all memory: refilling with as
/// much as before allocates nothing.
class Batch {
public:
  /// `info` is borrowed and must outlive the batch.
  explicit Batch(const ModelInfo &info);
  ~Batch();
  Batch(Batch &&) noexcept;
  Batch &operator=(Batch &&) noexcept;

  const ModelInfo &info() const { return *info_; }
  /// Whether it was moved from.
  bool empty() const;
  /// Number of the table of arguments.
  int32_t args() const { return static_cast<int32_t>(info_->datas.size()); }
  /// Column in args() of component number `component` (flatten order over all the arguments) of entry number
  /// `entry`; -1: there is none.
  int32_t arg_column(int32_t entry, int32_t component) const {
    return component >= 0 && component < arg_components(entry) ? arg_columns_[entry][component] : -1;
  }
  /// Number of components of the arguments of an entry.
  int32_t arg_components(int32_t entry) const {
    return static_cast<size_t>(entry) < arg_columns_.size() ? static_cast<int32_t>(arg_columns_[entry].size())
                                                            : 0;
  }
  int32_t columns(int32_t table) const;
  const ColumnInfo &column_info(int32_t table, int32_t column) const;

  /// Forgets all inputs and all borrowed arrays.
  void clear();

  // --- (a) built node by node
  // ---------------------------------------------------------------------------------------

  /// Starts the next input; nodes added and arguments set from here on are its own. Returns its number.
  int32_t begin_input();
  /// Adds a node to the current input; `constructor` counts in declaration order. Returns its number in the
  /// table, or -1 where the call was wrong (functions below take a -1 quietly: the mistake is recorded
  /// already).
  int32_t add_node(int32_t data, int32_t constructor);
  /// Says by which number the application knows a node among all nodes of its input. Messages and
  /// Status::node then have that one: "node 7 (Leaf)", where they would have "Tree node 3 (Leaf)".
  void number_node(int32_t data, int32_t node, int32_t number);

  // Values of depth 0. `row`: a node's number, or an input's number in table args(). Fields may be set in any
  // order; references may name nodes that are added later. Setting twice keeps the later value.
  void set_int(int32_t table, int32_t row, int32_t column, int32_t value); ///< Index, Int
  void set_bool(int32_t table, int32_t row, int32_t column, bool value);
  void set_node(int32_t table, int32_t row, int32_t column,
                int32_t node);                                           ///< the target's number in its table
  void set_f32(int32_t table, int32_t row, int32_t column, float value); ///< extent 1
  void set_ints(int32_t table, int32_t row, int32_t column, const int32_t *values, size_t count);
  void set_bools(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count);
  void set_f32s(int32_t table, int32_t row, int32_t column, const float *values, size_t count);

  // Lists of depth 1, an element at a time. The first append makes the list; an empty one is made by
  // set_empty. Lists of several rows may grow interleaved: amortised constant time an element.
  void set_empty(int32_t table, int32_t row, int32_t column);
  void append_int(int32_t table, int32_t row, int32_t column, int32_t value); ///< Index, Int, Node
  void append_bool(int32_t table, int32_t row, int32_t column, bool value);
  void append_f32s(int32_t table, int32_t row, int32_t column, const float *values,
                   size_t count); ///< one element
  void append_ints(int32_t table, int32_t row, int32_t column, const int32_t *values,
                   size_t count); ///< one element
  void append_bools(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count);
  /// A whole list at once, in place of what was there: all elements' numbers one after the other.
  void set_list(int32_t table, int32_t row, int32_t column, const int32_t *values, size_t count);
  void set_list(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count);
  void set_list(int32_t table, int32_t row, int32_t column, const float *values, size_t count);
  /// The same of nodes, by handles whose `id` is a node's number.
  template <class Handle>
  void set_nodes(int32_t table, int32_t row, int32_t column, const Handle *nodes, size_t count) {
    if (nodes == nullptr)
      return set_list(table, row, column, static_cast<const int32_t *>(nullptr), count);
    set_empty(table, row, column);
    for (size_t i = 0; i < count; ++i)
      append_int(table, row, column, nodes[i].id);
  }

  // Lists of any depth, as they are read: open_list once for every level, push elements into the innermost,
  // one by one, and close_list. `count` numbers are those of ONE element. One column at a time. The outermost
  // open_list starts the row's list anew.
  void open_list(int32_t table, int32_t row, int32_t column);
  void push_int(int32_t value); ///< Index, Int, Node
  void push_bool(bool value);
  void push_f32s(const float *values, size_t count);
  void push_ints(const int32_t *values, size_t count);
  void push_bools(const uint8_t *values, size_t count);
  void close_list();

  // --- (b) flat arrays, borrowed until the next clear()
  // -------------------------------------------------------------

  /// Number of inputs of a batch of flat arrays; before anything else is borrowed.
  void borrow_inputs(int32_t inputs);
  /// Nodes of a data type: their constructors (null where the type has one) and the first node of each input,
  /// `begin[0 .. inputs]`, begin[inputs] == count. False if that is refused.
  bool borrow_nodes(int32_t data, const uint8_t *kinds, int32_t count, const int32_t *begin);
  /// A whole column: for depth 0 `count` = rows * extent numbers; for lists all elements' numbers one after
  /// the other.
  void borrow_ints(int32_t table, int32_t column, const int32_t *values, size_t count); ///< Index, Int, Node
  void borrow_bools(int32_t table, int32_t column, const uint8_t *values, size_t count);
  /// With a `device` they are in its memory, and only runs that compute there can use them.
  void borrow_f32s(int32_t table, int32_t column, const float *values, size_t count, int32_t device = -1);
  /// Offsets of a list column, outermost level 0: `count` = number of lists + 1, offsets[0] == 0. Returns the
  /// number of elements, which is the last offset, or 0 where the call was wrong.
  size_t borrow_offsets(int32_t table, int32_t column, int32_t level, const int32_t *offsets, size_t count);

  // --- reading
  // ------------------------------------------------------------------------------------------------------

  /// Ends filling; called by every run, costs nothing the second time.
  void finish();
  /// Another number after each time that it was filled and finished; 0 while it is being filled. Tells
  /// whether it was changed.
  uint64_t fill() const { return finished_ ? fills_ : 0; }
  /// Checks all columns that an entry reads, each at most once a fill: constructors, indices, references
  /// (they must stay inside the input and name a node of the right table), offsets. O(size). `statuses` is
  /// begun anew and tells which inputs cannot be used by this entry; mistakes in columns that it does not
  /// read are no concern of its own. Returns a failure of the batch as a whole, or ok. May throw
  /// std::bad_alloc.
  Status validate(const ColumnRef *columns, size_t count, InputStatuses &statuses);

  int32_t inputs() const { return inputs_; }
  Range all() const { return {0, inputs_}; }
  int32_t rows(int32_t table) const;
  /// The values of a column: as many as rows, or as all lists may reach, once the column was validated.
  int32_t values(int32_t table, int32_t column) const;
  /// The rows of a table that belong to inputs next to each other. After finish().
  Range rows(int32_t table, Range inputs) const;
  /// begin[i] .. begin[i + 1] - 1 are input i's nodes; `inputs() + 1` numbers. After finish().
  const int32_t *begin(int32_t data) const;
  /// Constructor of every node; null for the table of arguments and for flat types of one constructor.
  const uint8_t *kinds(int32_t data) const;
  /// After finish().
  const ColumnView &column(int32_t table, int32_t column) const;
  /// The input that a row belongs to. O(log inputs); for messages.
  int32_t input_of(int32_t table, int32_t row) const;
  /// A node as messages name it: "Tree node 3", the fourth Tree of its input, or "node 7" where number_node
  /// has said so.
  std::string node_name(int32_t data, int32_t node) const;
  /// Records that an input cannot be used by any entry (a reader of files found it wrong); the first failure
  /// of an input stays.
  void fail(int32_t input, Status status);
  /// What was wrong with an input while it was filled; runs find more. Of an input that is not there
  /// bad_call, until the calling thread has asked kWordsOfThread times more.
  const Status &status(int32_t input) const {
    return input >= 0 && input < inputs_ ? statuses_[input]
                                         : no_such_input(info_->name, input, inputs_, "the batch");
  }
  /// A Status about a row, with input, node and field filled in (the constructor only where there are
  /// several): "tree_lstm: input 3: Tree node 7 (Node): field `left`: what", for the table of arguments
  /// "tree_lstm: input 3: argument `t`: what"; without a column (-1) "... (Node): what".
  Status describe(Code code, int32_t table, int32_t row, int32_t column, const std::string &what) const;
  /// The same for a field that a row does not have.
  Status describe_missing(int32_t table, int32_t row, int32_t column, const char *at) const;

private:
  struct Table;
  struct Column;
  using Assignable = bool (*)(Elem);
  bool refuse(const std::string &what);
  bool has(int32_t table, int32_t column) const {
    return table >= 0 && static_cast<size_t>(table) < tables_.size() && column >= 0 &&
           column < columns(table);
  }
  Column *column_for(int32_t table, int32_t row, int32_t column, int32_t depth, Assignable assignable,
                     size_t count, const void *values);
  template <class T>
  void set_whole_list(int32_t table, int32_t row, int32_t column, Assignable assignable,
                      Array<T> Numbers::*numbers, const T *values, size_t count);
  Column *borrowed_column(int32_t table, int32_t column, Assignable assignable);
  Column *pushable(Assignable assignable, size_t count, const void *values);
  int64_t append_position(Column &column, int32_t row);
  void misuse(const std::string &what);
  void wrong(int32_t input, const std::string &what);
  void wrong(int32_t table, int32_t row, int32_t column, const std::string &what);
  template <class Body> void guarded(Body &&body);
  std::string describe_row(int32_t table, int32_t row, Status &status) const;
  bool numbered(int32_t table, int32_t row) const;
  int32_t node_number(int32_t table, int32_t row) const;
  void fetch(const ColumnRef *columns, size_t count) const;
  void validate_kinds(int32_t data);
  void test_kinds(int32_t data);
  void validate_column(int32_t table, int32_t column);
  void test_column(int32_t table, int32_t column);
  Status check_sizes(int32_t table, int32_t column) const;

  const ModelInfo *info_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<std::vector<int32_t>> arg_columns_;
  int32_t inputs_ = 0;
  bool flat_ = false, finished_ = false;
  uint64_t fills_ = 0;
  Status whole_;           ///< what is wrong with the batch as a whole
  InputStatuses statuses_; ///< mistakes while filling, and wrong constructors
  ColumnRef open_{-1, -1}; ///< the column being streamed
  int32_t open_row_ = -1, open_depth_ = 0;
};

} // namespace dbc
