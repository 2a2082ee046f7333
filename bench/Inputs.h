// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Inputs of any model as flat arrays: what every implementation of a workload reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dbc::bench {

/// One field of the nodes of a table, or one argument: a value a row or a list a row, either of integers
/// (indices, references) or of vectors.
struct Column {
  std::string name;    ///< the field's or the argument's in the model
  int32_t target = -1; ///< numbers are rows of this table; -1: they are no references
  int32_t extent = 0;  ///< elements of a vector; 0: integers

  std::vector<int32_t>
      offsets;               ///< of lists: row r's are elements offsets[r] .. offsets[r + 1] - 1; else empty
  std::vector<int32_t> ints; ///< empty where extent > 0
  std::vector<float> floats; ///< extent > 0: row after row

  bool is_list() const { return !offsets.empty(); }
  /// Ends the list of a row: all elements since the last end are its own.
  void end_list() { offsets.push_back(static_cast<int32_t>(ints.size())); }
};

/// A column of one integer a row, `target` as in Column.
Column numbers(const std::string &name, int32_t target = -1);
/// A column of a list of integers a row.
Column lists(const std::string &name, int32_t target = -1);
/// A column of a vector of `extent` elements a row.
Column vectors(const std::string &name, int32_t extent);

/// The nodes of one data type of all inputs, those of an input next to each other.
struct Table {
  std::string name;              ///< the data type's in the model; empty: arguments, a row an input
  std::vector<Column> columns;   ///< equally many rows each
  std::vector<uint8_t> kinds{};  ///< constructor of each row; empty where the type has one
  std::vector<int32_t> begin{0}; ///< begin[i] .. begin[i + 1] - 1 are rows of input i

  int32_t rows() const { return begin.back(); }
};

/// Some inputs of one model.
class Inputs {
public:
  /// No inputs. `tables` are the data types, in the order that Column::target counts them; `arguments` those
  /// of the entry.
  Inputs(std::vector<Table> tables, std::vector<Column> arguments);

  int32_t count() const { return arguments().rows(); }
  const std::vector<Table> &tables() const { return tables_; } ///< the arguments come last
  const Table &table(int32_t number) const { return tables_[number]; }
  const Table &arguments() const { return tables_.back(); }
  Table &table(int32_t number) { return tables_[number]; }
  Table &arguments() { return tables_.back(); }

  /// Ends an input: the rows added to all tables since the last end are its own, `rows[t]` of table t.
  void end_input(const std::vector<int32_t> &rows);

  /// Appends inputs first .. last - 1 of `from`, which has the same tables.
  void append(const Inputs &from, int32_t first, int32_t last);
  /// The first `count`, or all if there are fewer.
  Inputs first(int32_t count) const;
  /// As many whole batches as there are; if there is not one, inputs are repeated until there is.
  Inputs whole_batches(int32_t batch) const;
  /// Runs of `size` consecutive inputs; the last may be shorter.
  std::vector<Inputs> cut(int32_t size) const;

private:
  Inputs none() const;

  std::vector<Table> tables_;
};

} // namespace dbc::bench
