// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/BatchGraph.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

namespace dbc::driver {

namespace {

/// Reads the nodes of an input, and what refers to them in the columns that an entry reads.
class InputReader {
public:
  InputReader(const ModelInfo &info, const EntryCode &entry, const Batch &batch)
      : info(info), entry(entry), batch(batch) {}

  void read(int32_t number, InputGraph &to) {
    for (int32_t data = 0; data < batch.args(); ++data) {
      const int32_t begin = batch.begin(data)[number], end = batch.begin(data)[number + 1];
      first.push_back(static_cast<int32_t>(to.nodes.size()) - begin);
      const uint8_t *kinds = batch.kinds(data);
      for (int32_t node = begin; node < end; ++node)
        to.nodes.push_back({data, kinds != nullptr ? kinds[node] : 0, node, 0, 0, 0, ""});
    }
    for (int32_t node = 0; node < static_cast<int32_t>(to.nodes.size()); ++node)
      fields(node, to);
    for (int32_t component : entry.reads_args)
      if (const int32_t column = batch.arg_column(entry.entry, component); column >= 0)
        targets(batch.args(), column, number, [&](int32_t target) { to.arguments.push_back(target); });
  }

private:
  void fields(int32_t node, InputGraph &to) {
    const InputGraph::Node &from = to.nodes[node];
    const ConstructorInfo &constructor = info.datas[from.data].constructors[from.constructor];
    for (const FieldInfo &field : constructor.fields)
      if (llvm::any_of(entry.reads, [&](const ColumnRef &read) {
            return read.table == from.data && read.column == field.column;
          }))
        targets(from.data, field.column, from.number, [&](int32_t target) {
          to.edges.push_back({node, target, field.name});
        });
  }
  /// Calls `each` with the number in its input of each node that a row of a column refers to.
  void targets(int32_t table, int32_t column, int32_t row, llvm::function_ref<void(int32_t)> each) {
    const ColumnInfo &refers = batch.column_info(table, column);
    const ColumnView &view = batch.column(table, column);
    if (refers.elem != Elem::Node || !view.has(row))
      return;
    std::vector<int32_t> values{row}; // of the row: lists, lists in these, and so on
    for (int32_t depth = 0; depth < refers.depth; ++depth) {
      const ColumnView::Lists &lists = view.lists[depth];
      std::vector<int32_t> inner;
      for (int32_t list : values)
        for (int32_t element = lists.begin[list]; element < lists.end[list]; ++element)
          inner.push_back(element);
      values = std::move(inner);
    }
    for (int32_t value : values)
      for (int64_t i = 0; i < refers.extent; ++i)
        each(first[refers.target] + view.i32[value * refers.extent + i]);
  }

  const ModelInfo &info;
  const EntryCode &entry;
  const Batch &batch;
  std::vector<int32_t> first; ///< of each data type: what makes a node's number that in its input
};

} // namespace

InputGraph readInput(const ModelInfo &info, const EntryCode &entry, const Batch &batch, int32_t number) {
  InputGraph input;
  InputReader(info, entry, batch).read(number, input);
  return input;
}

void findLevels(InputGraph &input) {
  // Kahn's algorithm, from the nodes that refer to none.
  std::vector<std::vector<int32_t>> referring(input.nodes.size());
  std::vector<int32_t> open(input.nodes.size());
  for (const InputGraph::Edge &edge : input.edges) {
    referring[edge.to].push_back(edge.from);
    ++open[edge.from];
  }
  std::vector<int32_t> ready, level(input.nodes.size());
  for (size_t node = 0; node < open.size(); ++node) {
    input.nodes[node].level = -1;
    if (open[node] == 0)
      ready.push_back(static_cast<int32_t>(node));
  }
  for (size_t at = 0; at < ready.size(); ++at) {
    const int32_t node = ready[at];
    input.nodes[node].level = level[node];
    for (int32_t from : referring[node]) {
      level[from] = std::max(level[from], level[node] + 1);
      if (--open[from] == 0)
        ready.push_back(from);
    }
  }
}

void keepNearest(InputGraph &input, int64_t most) {
  std::vector<std::vector<int32_t>> targets(input.nodes.size());
  for (const InputGraph::Edge &edge : input.edges)
    targets[edge.from].push_back(edge.to);
  std::vector<int32_t> slot(input.nodes.size(), -1), order;
  auto discover = [&](int32_t node) {
    if (slot[node] >= 0 || static_cast<int64_t>(order.size()) == most)
      return;
    slot[node] = static_cast<int32_t>(order.size());
    order.push_back(node);
  };
  llvm::for_each(input.arguments, discover);
  for (size_t at = 0, other = 0; static_cast<int64_t>(order.size()) < most;) {
    if (at < order.size())
      llvm::for_each(targets[order[at++]], discover);
    else
      discover(static_cast<int32_t>(other++));
  }
  InputGraph left;
  left.number = input.number;
  for (int32_t node : order)
    left.nodes.push_back(input.nodes[node]);
  for (const InputGraph::Edge &edge : input.edges)
    if (slot[edge.from] >= 0 && slot[edge.to] >= 0)
      left.edges.push_back({slot[edge.from], slot[edge.to], edge.field});
  for (int32_t node : input.arguments)
    if (slot[node] >= 0)
      left.arguments.push_back(slot[node]);
  input = std::move(left);
}

} // namespace dbc::driver
