// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A compiled model is known by what it says about itself.
#include "bench/ModelBatch.h"

#include <cstdio>
#include <cstdlib>

namespace dbc::bench {

static void expect(bool fine, const std::string &message) {
  if (fine)
    return;
  std::fprintf(stderr, "dbc-bench: %s\n", message.c_str());
  std::exit(1);
}

void expect(const Status &status) { expect(status.ok(), status.message); }

void expect_all(const Session &session, int32_t inputs) {
  if (session.failed() > 0)
    for (int32_t input = 0; input < inputs; ++input)
      expect(session.status(input));
}

/// Number of the thing of that name.
template <class Things>
static int32_t find(const Things &things, const std::string &name, const std::string &where) {
  for (size_t i = 0; i < things.size(); ++i)
    if (things[i].name == name)
      return static_cast<int32_t>(i);
  expect(false, where + " has no `" + name + "`");
  return -1;
}

int32_t find_entry(const ModelInfo &info, const std::string &name) {
  return find(info.entries, name, info.name);
}

Weights make_weights(const ModelInfo &info, const Parameters &parameters) {
  Weights weights(info);
  for (const Parameters::Parameter &parameter : parameters.all())
    expect(weights.set(parameter.name, parameter.values.data(), parameter.values.size()));
  return weights;
}

Model make_model(const ModelCode &code, const Weights &weights) {
  Model model;
  expect(Model::make(code, weights, &model));
  return model;
}

ModelBatch::ModelBatch(const ModelInfo &info, int32_t entry, const Inputs &some) : batch_(info) {
  const EntryInfo &of = info.entries[entry];
  for (const Table &table : some.tables()) {
    BatchTable to;
    if (table.name.empty()) {
      to.table = batch_.args();
      for (const Column &column : table.columns)
        to.columns.push_back(batch_.arg_column(entry, find(of.args, column.name, of.name)));
    } else {
      to.table = find(info.datas, table.name, info.name);
      std::vector<FieldInfo> fields;
      for (const ConstructorInfo &constructor : info.datas[to.table].constructors)
        fields.insert(fields.end(), constructor.fields.begin(), constructor.fields.end());
      for (const Column &column : table.columns)
        to.columns.push_back(fields[find(fields, column.name, table.name)].column);
    }
    tables_.push_back(to);
  }
}

Batch &ModelBatch::borrow(const Inputs &inputs) {
  batch_.clear();
  batch_.borrow_inputs(inputs.count());
  for (size_t t = 0; t < tables_.size(); ++t) {
    const Table &table = inputs.tables()[t];
    const BatchTable &to = tables_[t];
    // What it refuses, the run says.
    if (!table.name.empty())
      batch_.borrow_nodes(to.table, table.kinds.empty() ? nullptr : table.kinds.data(), table.rows(),
                          table.begin.data());
    for (size_t c = 0; c < to.columns.size(); ++c) {
      const Column &column = table.columns[c];
      if (column.is_list())
        batch_.borrow_offsets(to.table, to.columns[c], 0, column.offsets.data(), column.offsets.size());
      if (column.extent > 0)
        batch_.borrow_f32s(to.table, to.columns[c], column.floats.data(), column.floats.size());
      else
        batch_.borrow_ints(to.table, to.columns[c], column.ints.data(), column.ints.size());
    }
  }
  return batch_;
}

} // namespace dbc::bench
