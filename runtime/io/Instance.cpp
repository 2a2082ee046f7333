// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Instances as plain structures: to JSON lines and out of batches.
#include "JsonText.h"
#include "Result.h"
#include "ValueTree.h"

#include <dbc/io/instance.h>

namespace dbc {

namespace {

/// The constructor's name, with its type's where several types have it.
std::string constructor_key(const ModelInfo &model, int32_t data, int32_t kind) {
  const std::string &name = model.datas[data].constructors[kind].name;
  int owners = 0;
  for (const DataInfo &d : model.datas)
    for (const ConstructorInfo &c : d.constructors)
      owners += c.name == name;
  return owners > 1 ? model.datas[data].name + "." + name : name;
}

/// Reads columns of one table of a batch; nodes become indices into the instance's table.
struct ColumnSource {
  const Batch &batch;
  int32_t table, input;
  const std::vector<int32_t> &first;   ///< index of the input's first node of each data type
  const std::vector<int32_t> &columns; ///< by component
  bool &stray;                         ///< set where a reference leaves the input

  std::pair<int64_t, int64_t> range(int32_t component, int32_t depth, int64_t row) const {
    const ColumnView::Lists &lists = batch.column(table, columns[component]).lists[depth];
    return {lists.begin[row], lists.end[row]};
  }
  double number(int32_t component, const TypeInfo &type, int64_t i) const {
    const ColumnView &view = batch.column(table, columns[component]);
    if (type.elem == Elem::F32)
      return view.f32[i];
    if (type.elem == Elem::Bool)
      return view.u8[i];
    if (type.elem != Elem::Node)
      return view.i32[i];
    int32_t node = view.i32[i];
    const int32_t *begin = batch.begin(type.data);
    if (node < begin[input] || node >= begin[input + 1]) {
      stray = true;
      return 0;
    }
    return first[type.data] + (node - begin[input]);
  }
  Value value(const TypeInfo &type, int64_t row) const {
    return io::value_tree(*this, type, 0, 0, std::vector<int64_t>(columns.size(), row));
  }
};

} // namespace

std::string instance_json(const ModelInfo &model, const EntryInfo &entry, const Instance &instance) {
  std::string line = "{\"nodes\": [";
  for (size_t n = 0; n < instance.nodes.size(); ++n) {
    const Instance::Node &node = instance.nodes[n];
    const ConstructorInfo &constructor = model.datas[node.data].constructors[node.kind];
    line += n ? ", {" : "{";
    io::append_string(line, constructor_key(model, node.data, node.kind));
    line += ": {";
    bool any = false;
    for (size_t f = 0; f < node.fields.size(); ++f) {
      if (!node.given[f])
        continue;
      line += any ? ", " : "";
      any = true;
      io::append_string(line, constructor.fields[f].name);
      line += ": ";
      append_json(line, node.fields[f], constructor.fields[f].type);
    }
    line += "}}";
  }
  line += "], \"args\": {";
  for (size_t a = 0; a < instance.args.size(); ++a) {
    line += a ? ", " : "";
    io::append_string(line, entry.args[a].name);
    line += ": ";
    append_json(line, instance.args[a], entry.args[a].type);
  }
  line += "}";
  if (instance.weight != 1) {
    line += ", \"weight\": ";
    io::append_f32(line, instance.weight);
  }
  return line + "}";
}

Status get_instance(const EntryInfo &entry, Batch &batch, int32_t input, Instance &instance) {
  return io::guarded([&]() -> Status {
    const ModelInfo &model = batch.info();
    int32_t number = -1;
    for (const EntryInfo &e : model.entries)
      if (e.name == entry.name)
        number = static_cast<int32_t>(&e - model.entries.data());
    if (number < 0 || input < 0 || input >= batch.inputs())
      return io::failure(model.name + ": the batch has no input " + std::to_string(input) + " of `" +
                             entry.name + "`",
                         Code::bad_call);
    batch.finish();
    Instance read;
    std::vector<int32_t> first;
    int32_t nodes = 0;
    for (size_t d = 0; d < model.datas.size(); ++d) {
      const int32_t *begin = batch.begin(static_cast<int32_t>(d));
      first.push_back(nodes);
      nodes += begin[input + 1] - begin[input];
    }
    bool stray = false;
    for (size_t d = 0; d < model.datas.size(); ++d) {
      int32_t data = static_cast<int32_t>(d);
      const int32_t *begin = batch.begin(data);
      const uint8_t *kinds = batch.kinds(data);
      for (int32_t row = begin[input]; row < begin[input + 1]; ++row) {
        Instance::Node &node = read.nodes.emplace_back();
        node.data = data;
        node.kind = kinds ? kinds[row] : 0;
        for (const FieldInfo &field : model.datas[d].constructors[node.kind].fields) {
          bool given = batch.column(data, field.column).has(row);
          node.given.push_back(given);
          std::vector<int32_t> columns{field.column};
          node.fields.push_back(
              given ? ColumnSource{batch, data, input, first, columns, stray}.value(field.type, row)
                    : Value());
        }
      }
    }
    int32_t component = 0;
    for (const ArgInfo &arg : entry.args) {
      std::vector<int32_t> columns;
      for (int32_t i = 0; i < arg.type.components(); ++i) {
        columns.push_back(batch.arg_column(number, component++));
        if (!batch.column(batch.args(), columns.back()).has(input))
          return io::failure(model.name + ": argument `" + arg.name + "` of input " + std::to_string(input) +
                                 " is not set",
                             Code::bad_call);
      }
      read.args.push_back(
          ColumnSource{batch, batch.args(), input, first, columns, stray}.value(arg.type, input));
    }
    if (stray)
      return io::failure(model.name + ": a reference of input " + std::to_string(input) +
                             " leaves its own nodes",
                         Code::bad_input);
    instance = std::move(read);
    return Status();
  });
}

} // namespace dbc
