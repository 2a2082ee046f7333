// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Cutting flat arrays into batches: references and offsets count from the start of a batch.
#include "bench/Inputs.h"

#include <algorithm>

namespace dbc::bench {

Column numbers(const std::string &name, int32_t target) {
  Column column;
  column.name = name;
  column.target = target;
  return column;
}

Column lists(const std::string &name, int32_t target) {
  Column column = numbers(name, target);
  column.offsets = {0};
  return column;
}

Column vectors(const std::string &name, int32_t extent) {
  Column column = numbers(name);
  column.extent = extent;
  return column;
}

Inputs::Inputs(std::vector<Table> tables, std::vector<Column> arguments) : tables_(std::move(tables)) {
  tables_.emplace_back();
  tables_.back().columns = std::move(arguments);
}

void Inputs::end_input(const std::vector<int32_t> &rows) {
  for (size_t t = 0; t < rows.size(); ++t)
    tables_[t].begin.push_back(tables_[t].rows() + rows[t]);
  arguments().begin.push_back(count() + 1);
}

/// Appends elements first .. last - 1, each moved on by `shift`.
static void append_shifted(const std::vector<int32_t> &from, int32_t first, int32_t last, int32_t shift,
                           std::vector<int32_t> &to) {
  for (int32_t i = first; i < last; ++i)
    to.push_back(from[i] + shift);
}

void Inputs::append(const Inputs &from, int32_t first, int32_t last) {
  // How far references to each table move.
  std::vector<int32_t> shift(tables_.size());
  for (size_t t = 0; t < tables_.size(); ++t)
    shift[t] = tables_[t].rows() - from.tables_[t].begin[first];
  for (size_t t = 0; t < tables_.size(); ++t) {
    const Table &source = from.tables_[t];
    Table &table = tables_[t];
    int32_t low = source.begin[first], high = source.begin[last];
    if (!source.kinds.empty())
      table.kinds.insert(table.kinds.end(), source.kinds.begin() + low, source.kinds.begin() + high);
    for (size_t c = 0; c < table.columns.size(); ++c) {
      const Column &old = source.columns[c];
      Column &column = table.columns[c];
      int32_t begin = low, end = high;
      if (old.is_list()) {
        begin = old.offsets[low];
        end = old.offsets[high];
        append_shifted(old.offsets, low + 1, high + 1, column.offsets.back() - begin, column.offsets);
      }
      if (old.extent > 0)
        column.floats.insert(column.floats.end(), old.floats.begin() + int64_t(begin) * old.extent,
                             old.floats.begin() + int64_t(end) * old.extent);
      else
        append_shifted(old.ints, begin, end, old.target < 0 ? 0 : shift[old.target], column.ints);
    }
    append_shifted(source.begin, first + 1, last + 1, shift[t], table.begin);
  }
}

/// The same tables without rows.
Inputs Inputs::none() const {
  Inputs empty({}, {});
  empty.tables_.resize(tables_.size());
  for (size_t t = 0; t < tables_.size(); ++t) {
    empty.tables_[t].name = tables_[t].name;
    for (const Column &column : tables_[t].columns) {
      Column fresh;
      fresh.name = column.name;
      fresh.target = column.target;
      fresh.extent = column.extent;
      if (column.is_list())
        fresh.offsets = {0};
      empty.tables_[t].columns.push_back(fresh);
    }
  }
  return empty;
}

Inputs Inputs::first(int32_t count) const {
  Inputs some = none();
  some.append(*this, 0, std::min(count, this->count()));
  return some;
}

Inputs Inputs::whole_batches(int32_t batch) const {
  if (count() >= batch)
    return first(count() / batch * batch);
  Inputs filled = none();
  while (filled.count() < batch)
    filled.append(*this, 0, std::min(count(), batch - filled.count()));
  return filled;
}

std::vector<Inputs> Inputs::cut(int32_t size) const {
  std::vector<Inputs> batches;
  for (int32_t at = 0; at < count(); at += size) {
    batches.push_back(none());
    batches.back().append(*this, at, std::min(at + size, count()));
  }
  return batches;
}

} // namespace dbc::bench
