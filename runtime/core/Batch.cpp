// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Batches: their tables, building node by node, borrowing, and the views that generated code reads. Lists are
// built in BatchLists.cpp, checks are in BatchValidate.cpp.
#include "BatchData.h"

#include <dbc/counted.h>
#include <dbc/messages.h>

#include <algorithm>
#include <climits>
#include <utility>

namespace dbc {

namespace {

void flatten_into(const TypeInfo &type, const std::string &name, int32_t depth,
                  std::vector<ColumnInfo> &out) {
  switch (type.form) {
  case TypeInfo::Form::Value: {
    ColumnInfo c;
    c.name = name;
    c.elem = type.elem;
    c.bound = type.bound;
    c.target = type.data;
    c.extent = type.size();
    c.depth = depth;
    out.push_back(c);
    return;
  }
  case TypeInfo::Form::List:
    flatten_into(type.elements[0], name, depth + 1, out);
    return;
  case TypeInfo::Form::Tuple:
  case TypeInfo::Form::Record:
    for (size_t i = 0; i < type.elements.size(); ++i) {
      bool record = type.form == TypeInfo::Form::Record;
      flatten_into(type.elements[i], name + "." + (record ? type.names[i] : std::to_string(i)), depth, out);
    }
  }
}

bool same_type(const ColumnInfo &a, const ColumnInfo &b) {
  return a.name == b.name && a.elem == b.elem && a.bound == b.bound && a.target == b.target &&
         a.extent == b.extent && a.depth == b.depth;
}

} // namespace

std::vector<ColumnInfo> flatten(const TypeInfo &type, const std::string &name) {
  std::vector<ColumnInfo> out;
  flatten_into(type, name, 0, out);
  return out;
}

Batch::Batch(const ModelInfo &info) : info_(&info) {
  for (const DataInfo &data : info.datas) {
    auto table = std::make_unique<Table>();
    table->name = data.name;
    size_t columns = static_cast<size_t>(data.columns);
    table->columns.resize(columns);
    table->has.assign(data.constructors.size() * columns, 0);
    table->kind_count.assign(data.constructors.size(), 0);
    for (size_t k = 0; k < data.constructors.size(); ++k)
      for (const FieldInfo &field : data.constructors[k].fields) {
        table->has[k * columns + field.column] = 1;
        table->columns[field.column].info = flatten(field.type, field.name)[0];
      }
    tables_.push_back(std::move(table));
  }
  // Arguments: entries that take the same name with the same type share the column.
  auto arguments = std::make_unique<Table>();
  for (const EntryInfo &entry : info.entries) {
    arg_columns_.emplace_back();
    for (const ArgInfo &arg : entry.args)
      for (const ColumnInfo &component : flatten(arg.type, arg.name)) {
        size_t c = 0;
        while (c < arguments->columns.size() && !same_type(arguments->columns[c].info, component))
          ++c;
        if (c == arguments->columns.size()) {
          arguments->columns.emplace_back();
          arguments->columns.back().info = component;
        }
        arg_columns_.back().push_back(static_cast<int32_t>(c));
      }
  }
  arguments->has.assign(arguments->columns.size(), 1);
  arguments->kind_count.assign(1, 0);
  tables_.push_back(std::move(arguments));
  for (auto &table : tables_)
    for (size_t c = 0; c < table->columns.size(); ++c)
      table->columns[c].number = static_cast<int32_t>(c);
}

Batch::~Batch() = default;
bool Batch::empty() const { return tables_.empty(); }
Batch::Batch(Batch &&other) noexcept : info_(other.info_) { *this = std::move(other); }
Batch &Batch::operator=(Batch &&other) noexcept {
  info_ = other.info_;
  tables_ = std::exchange(other.tables_, {});
  arg_columns_ = std::exchange(other.arg_columns_, {});
  inputs_ = std::exchange(other.inputs_, 0);
  flat_ = std::exchange(other.flat_, false);
  finished_ = std::exchange(other.finished_, false);
  fills_ = other.fills_;
  whole_ = std::exchange(other.whole_, {});
  statuses_ = std::move(other.statuses_);
  open_ = std::exchange(other.open_, {-1, -1});
  open_row_ = other.open_row_;
  open_depth_ = other.open_depth_;
  return *this;
}

int32_t Batch::columns(int32_t table) const {
  const bool is_there = table >= 0 && static_cast<size_t>(table) < tables_.size();
  return is_there ? static_cast<int32_t>(tables_[table]->columns.size()) : 0;
}
const ColumnInfo &Batch::column_info(int32_t table, int32_t column) const {
  static const ColumnInfo none;
  return has(table, column) ? tables_[table]->columns[column].info : none;
}

void Batch::clear() {
  for (auto &table : tables_)
    table->clear();
  inputs_ = 0;
  flat_ = finished_ = false;
  whole_ = Status();
  statuses_.begin(0);
  open_ = {-1, -1};
}

// --- mistakes
// -------------------------------------------------------------------------------------------------------

void Batch::misuse(const std::string &what) {
  if (whole_.ok())
    whole_ = Status::error(Code::bad_call, info_->name + ": " + what);
}

/// A mistake in what is said about one input.
void Batch::wrong(int32_t input, const std::string &what) {
  if (flat_ || input < 0 || input >= inputs_)
    return misuse(what);
  fail(input, describe(Code::bad_input, args(), input, -1, what));
}

/// A mistake in what is given for a field or an argument.
void Batch::wrong(int32_t table, int32_t row, int32_t column, const std::string &what) {
  const int32_t input = input_of(table, row);
  if (flat_ || input < 0 || input >= inputs_)
    return misuse("`" + column_info(table, column).name + "`: " + what);
  fail(input, describe(Code::bad_input, table, row, column, what));
}

/// For calls that say whether they were right.
bool Batch::refuse(const std::string &what) {
  misuse(what);
  return false;
}

void Batch::fail(int32_t input, Status status) {
  if (input < 0 || input >= inputs_)
    return misuse("input " + std::to_string(input) + " fails, but there is none of that number");
  statuses_.fail(input, std::move(status));
}

int32_t Batch::input_of(int32_t table, int32_t row) const {
  if (table == args())
    return row;
  if (table < 0 || table > args() || empty())
    return -1;
  const Table &t = *tables_[table];
  if (!t.borrowed && t.begin.size() < static_cast<size_t>(inputs_))
    return -1; // flat, and nothing was borrowed
  const int32_t *begin = t.borrowed ? t.begin_view : t.begin.data();
  return static_cast<int32_t>(std::upper_bound(begin, begin + inputs_, row) - begin) - 1;
}

bool Batch::numbered(int32_t table, int32_t row) const {
  return static_cast<size_t>(row) < tables_[table]->numbers.size();
}

int32_t Batch::node_number(int32_t table, int32_t row) const {
  const Table &t = *tables_[table];
  if (numbered(table, row))
    return t.numbers[row];
  const int32_t *begin = t.borrowed ? t.begin_view : t.begin.data();
  return row - begin[input_of(table, row)];
}

std::string Batch::node_name(int32_t data, int32_t node) const {
  if (data >= args() || node < 0 || node >= rows(data))
    return "no node";
  std::string type = numbered(data, node) ? std::string() : tables_[data]->name + " ";
  return type + "node " + std::to_string(node_number(data, node));
}

std::string Batch::describe_row(int32_t table, int32_t row, Status &status) const {
  if (row < 0 || row >= rows(table))
    return info_->name + ": ";
  status.input = input_of(table, row);
  std::string text = info_->name + ": input " + std::to_string(status.input) + ": ";
  if (table == args())
    return text;
  status.data = table;
  status.node = node_number(table, row);
  text += node_name(table, row);
  const Table &t = *tables_[table];
  const uint8_t *kinds = t.borrowed ? t.kinds_view : t.kinds.data();
  const DataInfo &data = info_->datas[table];
  if ((data.constructors.size() > 1 || numbered(table, row)) && kinds &&
      kinds[row] < data.constructors.size())
    text += " (" + data.constructors[kinds[row]].name + ")";
  return text + ": ";
}

Status Batch::describe(Code code, int32_t table, int32_t row, int32_t column, const std::string &what) const {
  Status status;
  status.code = code;
  status.message = describe_row(table, row, status);
  if (has(table, column)) {
    status.field = tables_[table]->columns[column].info.name;
    status.message += (table == args() ? "argument `" : "field `") + status.field + "`: ";
  }
  status.message += what;
  return status;
}

Status Batch::describe_missing(int32_t table, int32_t row, int32_t column, const char *at) const {
  Status status;
  status.code = Code::bad_input;
  status.message = describe_row(table, row, status);
  status.field = column_info(table, column).name;
  status.message +=
      (table == args() ? "argument `" : "field `") + status.field + "` " + messages::missing_field(at);
  return status;
}

// --- building
// -------------------------------------------------------------------------------------------------------

int32_t Batch::begin_input() {
  int32_t input = -1;
  guarded([&] {
    if (flat_)
      return misuse("begin_input on a batch of flat arrays");
    if (finished_) {
      // The end that finish() wrote behind the last input goes again.
      for (auto &table : tables_)
        if (!table->begin.empty())
          table->begin.pop();
      finished_ = false;
    }
    open_ = {-1, -1};
    if (inputs_ == INT_MAX - 1)
      throw std::bad_alloc();
    for (auto &table : tables_)
      table->begin.reserve(table->begin.size() + 1);
    statuses_.extend(inputs_ + 1);
    for (auto &table : tables_)
      table->begin.push(table->rows);
    tables_.back()->rows = inputs_ + 1;
    input = inputs_++;
  });
  return input;
}

int32_t Batch::add_node(int32_t data, int32_t constructor) {
  int32_t node = -1;
  guarded([&] {
    if (data < 0 || data >= args() || flat_ || inputs_ == 0)
      return misuse(flat_ || inputs_ == 0 ? "add_node without begin_input" : "add_node: no such data type");
    Table &table = *tables_[data];
    if (finished_) {
      for (auto &t : tables_)
        t->begin.pop();
      finished_ = false;
    }
    if (constructor < 0 || static_cast<size_t>(constructor) >= table.kind_count.size())
      return fail(inputs_ - 1, describe(Code::bad_input, args(), inputs_ - 1, -1,
                                        "constructor " + std::to_string(constructor) + " of " + table.name +
                                            " is outside 0.." + std::to_string(table.kind_count.size() - 1)));
    if (table.rows == INT_MAX)
      throw std::bad_alloc();
    table.kinds.push(static_cast<uint8_t>(constructor));
    ++table.kind_count[constructor];
    node = table.rows++;
  });
  return node;
}

void Batch::number_node(int32_t data, int32_t node, int32_t number) {
  guarded([&] {
    if (data < 0 || data >= args() || node >= tables_[data]->rows)
      return misuse("number_node: no such node");
    if (node < 0)
      return; // what add_node gave for a mistake that is recorded
    Array<int32_t> &numbers = tables_[data]->numbers;
    numbers.extend(static_cast<size_t>(node) + 1, 0);
    numbers[node] = number;
  });
}

Batch::Column *Batch::column_for(int32_t table, int32_t row, int32_t column, int32_t depth,
                                 Assignable assignable, size_t count, const void *values) {
  if (table < 0 || table > args() || column < 0 || column >= columns(table)) {
    misuse("no such column");
    return nullptr;
  }
  if (row == -1) {
    // What begin_input or add_node gave for a mistake that is recorded; or there was no such call.
    if (whole_.ok() && (inputs_ == 0 || statuses_[inputs_ - 1].ok()))
      wrong(inputs_ - 1, "`" + tables_[table]->columns[column].info.name + "` is set, but no " +
                             (table == args() ? "input was begun" : "node was added"));
    return nullptr;
  }
  Table &t = *tables_[table];
  Column &c = t.columns[column];
  if (row < 0 || row >= t.rows) {
    misuse("row " + std::to_string(row) + " is set, but there are " + std::to_string(t.rows));
    return nullptr;
  }
  if (c.borrowed || (depth == 0) != (c.info.depth == 0) || (depth > 0 && depth > c.info.depth) ||
      !assignable(c.info.elem)) {
    misuse("`" + c.info.name + "` is set as something that it is not");
    return nullptr;
  }
  if (count != SIZE_MAX && count != static_cast<size_t>(c.info.extent)) {
    wrong(table, row, column,
          counted(count, "number is", "numbers are") + " given, but " +
              (depth > 0 ? "an element has " : "it has ") + std::to_string(c.info.extent));
    return nullptr;
  }
  if (values == nullptr) {
    wrong(table, row, column, "no numbers are given, but a null pointer");
    return nullptr;
  }
  const uint8_t *kinds = t.borrowed ? t.kinds_view : t.kinds.data();
  size_t kind = table != args() && kinds ? kinds[row] : 0;
  if (kind >= t.kind_count.size() || !t.has[kind * t.columns.size() + column]) {
    Status status = describe(Code::bad_input, table, row, -1, "has no field `" + c.info.name + "`");
    status.field = c.info.name;
    fail(status.input, std::move(status));
    return nullptr;
  }
  c.validated = false;
  if (finished_) {
    if (!flat_)
      for (auto &each : tables_)
        each->begin.pop();
    finished_ = false;
  }
  return &c;
}

namespace {
/// Writes one value of `extent` elements at row `row` of a column that may yet be shorter.
template <class T> void put(Array<T> &to, int32_t row, int64_t extent, const T *values) {
  size_t at = static_cast<size_t>(row) * extent;
  to.extend(at + extent, T());
  std::copy(values, values + extent, to.data() + at);
}
} // namespace

void Batch::set_int(int32_t table, int32_t row, int32_t column, int32_t value) {
  guarded([&] {
    if (Column *c = column_for(table, row, column, 0, is_int, 1, &value))
      put(c->values.i32, row, 1, &value), c->mark(row);
  });
}
void Batch::set_bool(int32_t table, int32_t row, int32_t column, bool value) {
  uint8_t byte = value;
  set_bools(table, row, column, &byte, 1);
}
void Batch::set_node(int32_t table, int32_t row, int32_t column, int32_t node) {
  guarded([&] {
    if (Column *c = column_for(table, row, column, 0, is_node, 1, &node))
      put(c->values.i32, row, 1, &node), c->mark(row);
  });
}
void Batch::set_f32(int32_t table, int32_t row, int32_t column, float value) {
  set_f32s(table, row, column, &value, 1);
}
void Batch::set_ints(int32_t table, int32_t row, int32_t column, const int32_t *values, size_t count) {
  guarded([&] {
    if (Column *c = column_for(table, row, column, 0, is_int, count, values))
      put(c->values.i32, row, c->info.extent, values), c->mark(row);
  });
}
void Batch::set_bools(int32_t table, int32_t row, int32_t column, const uint8_t *values, size_t count) {
  guarded([&] {
    if (Column *c = column_for(table, row, column, 0, is_bool, count, values))
      put(c->values.u8, row, c->info.extent, values), c->mark(row);
  });
}
void Batch::set_f32s(int32_t table, int32_t row, int32_t column, const float *values, size_t count) {
  guarded([&] {
    if (Column *c = column_for(table, row, column, 0, is_f32, count, values))
      put(c->values.f32, row, c->info.extent, values), c->mark(row);
  });
}

// --- borrowing
// ------------------------------------------------------------------------------------------------------

void Batch::borrow_inputs(int32_t inputs) {
  guarded([&] {
    if (inputs_ > 0 || inputs < 0)
      return misuse("borrow_inputs on a batch that has inputs");
    statuses_.begin(inputs);
    inputs_ = inputs;
    tables_.back()->rows = inputs;
    flat_ = true;
    finished_ = false;
  });
}

bool Batch::borrow_nodes(int32_t data, const uint8_t *kinds, int32_t count, const int32_t *begin) {
  if (!flat_ || data < 0 || data >= args())
    return refuse("borrow_nodes: no such data type, or borrow_inputs was not called");
  if (count < 0 || !begin)
    return refuse("borrow_nodes: " + std::string(count < 0 ? "count is below 0" : "begin is null"));
  Table &table = *tables_[data];
  if (!kinds && count > 0 && table.kind_count.size() > 1) // an empty array may have no address
    return refuse("borrow_nodes: " + table.name + " has several constructors, kinds must be given");
  if (begin[0] != 0 || begin[inputs_] != count)
    return refuse("borrow_nodes: begin of " + table.name + " must start with 0 and end with " +
                  std::to_string(count));
  for (int32_t i = 0; i < inputs_; ++i)
    if (begin[i] > begin[i + 1])
      return refuse("borrow_nodes: begin of " + table.name + " falls at input " + std::to_string(i));
  table.rows = count;
  table.kinds_view = kinds;
  table.begin_view = begin;
  table.borrowed = true;
  table.kinds_validated = false;
  // What was checked against the nodes of before: rows of this type, and references to them from anywhere.
  for (auto &each : tables_)
    for (Column &column : each->columns)
      column.validated = false;
  finished_ = false;
  return true;
}

Batch::Column *Batch::borrowed_column(int32_t table, int32_t column, Assignable assignable) {
  if (!flat_ || table < 0 || table > args() || column < 0 || column >= columns(table)) {
    misuse(flat_ ? "no such column" : "an array is borrowed without borrow_inputs");
    return nullptr;
  }
  Column &c = tables_[table]->columns[column];
  if (!assignable(c.info.elem)) {
    misuse("`" + c.info.name + "` is borrowed as something that it is not");
    return nullptr;
  }
  c.borrowed = true;
  c.validated = false;
  finished_ = false;
  return &c;
}

void Batch::borrow_ints(int32_t table, int32_t column, const int32_t *values, size_t count) {
  if (Column *c = borrowed_column(table, column, is_i32))
    c->view.i32 = values, c->borrowed_values = count;
}
void Batch::borrow_bools(int32_t table, int32_t column, const uint8_t *values, size_t count) {
  if (Column *c = borrowed_column(table, column, is_bool))
    c->view.u8 = values, c->borrowed_values = count;
}
void Batch::borrow_f32s(int32_t table, int32_t column, const float *values, size_t count, int32_t device) {
  if (Column *c = borrowed_column(table, column, is_f32))
    c->view.f32 = values, c->view.device = device, c->borrowed_values = count;
}
size_t Batch::borrow_offsets(int32_t table, int32_t column, int32_t level, const int32_t *offsets,
                             size_t count) {
  Column *c = borrowed_column(table, column, [](Elem) { return true; });
  if (!c)
    return 0;
  if (level < 0 || level >= c->info.depth || !offsets || count < 1)
    return refuse("`" + c->info.name + "` has no lists of level " + std::to_string(level) +
                  ", or no offsets are given");
  c->view.lists[level].begin = offsets;
  c->view.lists[level].end = offsets + 1;
  c->borrowed_offsets[level] = count;
  if (offsets[count - 1] < 0)
    return refuse("`" + c->info.name + "`: the last offset is " + std::to_string(offsets[count - 1]));
  return static_cast<size_t>(offsets[count - 1]);
}

// --- reading
// --------------------------------------------------------------------------------------------------------

void Batch::finish() {
  if (finished_)
    return;
  guarded([&] {
    for (auto &pointer : tables_) {
      Table &t = *pointer;
      if (!flat_) {
        t.begin.push(t.rows);
        t.kinds_view = t.kinds.data();
      } else if (!t.borrowed) {
        t.begin.assign(static_cast<size_t>(inputs_) + 1, 0);
      }
      if (!t.borrowed)
        t.begin_view = t.begin.data();
      bool is_args = pointer == tables_.back();
      for (Column &c : t.columns) {
        c.view.given = c.borrowed || c.present_count > 0;
        if (c.borrowed || !c.view.given)
          continue;
        // A device is given whole rows, those behind the last one that has the field too.
        if (c.info.depth == 0)
          c.reserve_rows(t.rows);
        c.view.i32 = c.values.i32.data();
        c.view.u8 = c.values.u8.data();
        c.view.f32 = c.values.f32.data();
        for (int32_t level = 0; level < c.info.depth; ++level) {
          if (level == 0) {
            c.lists[0].begin.extend(t.rows, 0);
            c.lists[0].end.extend(t.rows, 0);
          }
          c.view.lists[level] = {c.lists[level].begin.data(), c.lists[level].end.data(),
                                 c.built_elements(level)};
        }
        c.present.extend(t.rows, 0);
        // Where every row that can have the field has it, generated code need not look at the bytes.
        int64_t expected = t.rows;
        if (!t.borrowed && !is_args) {
          expected = 0;
          for (size_t k = 0; k < t.kind_count.size(); ++k)
            expected += t.has[k * t.columns.size() + c.number] ? t.kind_count[k] : 0;
        }
        c.view.present = c.present_count == expected ? nullptr : c.present.data();
      }
    }
    finished_ = true;
    ++fills_;
  });
}

int32_t Batch::rows(int32_t table) const {
  return table >= 0 && static_cast<size_t>(table) < tables_.size() ? tables_[table]->rows : 0;
}
int32_t Batch::values(int32_t table, int32_t column) const {
  const int32_t depth = column_info(table, column).depth;
  return depth == 0 ? rows(table)
                    : static_cast<int32_t>(this->column(table, column).lists[depth - 1].elements);
}
Range Batch::rows(int32_t table, Range inputs) const {
  if (table == args())
    return inputs;
  if (begin(table) == nullptr || inputs.begin < 0 || inputs.begin > inputs.end || inputs.end > inputs_)
    return {};
  return {begin(table)[inputs.begin], begin(table)[inputs.end]};
}
const int32_t *Batch::begin(int32_t data) const {
  return data >= 0 && static_cast<size_t>(data) < tables_.size() ? tables_[data]->begin_view : nullptr;
}
const uint8_t *Batch::kinds(int32_t data) const {
  return data >= 0 && data < args() && !empty() ? tables_[data]->kinds_view : nullptr;
}
const ColumnView &Batch::column(int32_t table, int32_t column) const {
  static const ColumnView none;
  return has(table, column) ? tables_[table]->columns[column].view : none;
}

} // namespace dbc
