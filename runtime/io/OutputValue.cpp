// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One input's result as a tree.
#include "ValueTree.h"

namespace dbc {

namespace {
struct OutputSource {
  const Outputs &outputs;
  const NodeTable *nodes;
  std::pair<int64_t, int64_t> range(int32_t component, int32_t depth, int64_t row) const {
    if (row < 0 || row >= outputs.lists(component, depth)) // of an input that is not there
      return {0, 0};
    const int32_t *offsets = outputs.offsets(component, depth);
    return {offsets[row], offsets[row + 1]};
  }
  double number(int32_t component, const TypeInfo &type, int64_t i) const {
    double v = outputs.number(component, static_cast<size_t>(i));
    return type.elem == Elem::Node && nodes ? nodes->index(type.data, static_cast<int32_t>(v)) : v;
  }
};
} // namespace

Value output_value(const Outputs &outputs, const EntryInfo &entry, int32_t input, const NodeTable *nodes) {
  std::vector<int64_t> rows(static_cast<size_t>(entry.result.components()), input);
  return io::value_tree(OutputSource{outputs, nodes}, entry.result, 0, 0, rows);
}

} // namespace dbc
