// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Running a compiled model that is known by what it says about itself.
#include "bench/Compiled.h"

#include <dbc/runtime.h>

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

namespace dbc::bench {

const ModelCode *compiled_model(const std::string &workload, int32_t hidden, const std::string &variant,
                                std::string &why) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string folder(self, length > 0 ? length : 0);
  folder.resize(folder.rfind('/') + 1);
  std::string path = folder + "bench-models/" + workload + "-" + std::to_string(hidden) + variant + ".so";
  if (access(path.c_str(), R_OK) != 0) {
    why = "no model compiled for hidden " + std::to_string(hidden) + "; scripts/bench compiles it";
    return nullptr;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "dbc_bench_model") : nullptr;
  if (!function) {
    why = dlerror();
    return nullptr;
  }
  return reinterpret_cast<const ModelCode *(*)()>(function)();
}

namespace {

/// Nothing that is measured here may fail.
void expect(bool fine, const std::string &message) {
  if (fine)
    return;
  std::fprintf(stderr, "dbc-bench: %s\n", message.c_str());
  std::exit(1);
}
void expect(const Status &status) { expect(status.ok(), status.message); }

/// Number of the thing of that name.
template <class Things>
int32_t find(const Things &things, const std::string &name, const std::string &where) {
  for (size_t i = 0; i < things.size(); ++i)
    if (things[i].name == name)
      return static_cast<int32_t>(i);
  expect(false, where + " has no `" + name + "`");
  return -1;
}

Model make_model(const ModelCode &code, const Parameters &parameters) {
  Weights weights(*code.info);
  for (const Parameters::Parameter &parameter : parameters.all())
    expect(weights.set(parameter.name, parameter.values.data(), parameter.values.size()));
  Model model;
  expect(Model::make(code, weights, &model));
  return model;
}

class Compiled final : public Implementation {
public:
  Compiled(const ModelCode &code, const std::string &entry, const Parameters &parameters,
           const std::vector<Inputs> &batches, int32_t threads);

  void pass(float *out) override;
  double schedule_seconds() const override { return schedule_seconds_; }

private:
  /// Where the columns of a table stand in the model's batch.
  struct BatchTable {
    int32_t table;
    std::vector<int32_t> columns;
  };
  void borrow(const Inputs &inputs);
  float *take_results(float *out) const;

  const std::vector<Inputs> &batches_;
  Model model_;
  Session session_;
  Batch batch_;
  int32_t entry_;
  std::vector<BatchTable> batch_tables_; ///< of the tables of Inputs
  double schedule_seconds_ = 0;
};

Compiled::Compiled(const ModelCode &code, const std::string &entry, const Parameters &parameters,
                   const std::vector<Inputs> &batches, int32_t threads)
    : batches_(batches), model_(make_model(code, parameters)), session_(model_, threads), batch_(*code.info),
      entry_(find(code.info->entries, entry, code.info->name)) {
  const EntryInfo &info = code.info->entries[entry_];
  for (const Table &table : batches[0].tables()) {
    BatchTable to;
    if (table.name.empty()) {
      to.table = batch_.args();
      for (const Column &column : table.columns)
        to.columns.push_back(batch_.arg_column(entry_, find(info.args, column.name, entry)));
    } else {
      to.table = find(code.info->datas, table.name, code.info->name);
      std::vector<FieldInfo> fields;
      for (const ConstructorInfo &constructor : code.info->datas[to.table].constructors)
        fields.insert(fields.end(), constructor.fields.begin(), constructor.fields.end());
      for (const Column &column : table.columns)
        to.columns.push_back(fields[find(fields, column.name, table.name)].column);
    }
    batch_tables_.push_back(to);
  }
}

void Compiled::borrow(const Inputs &inputs) {
  batch_.clear();
  batch_.borrow_inputs(inputs.count());
  for (size_t t = 0; t < batch_tables_.size(); ++t) {
    const Table &table = inputs.tables()[t];
    const BatchTable &to = batch_tables_[t];
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
}

/// Copies the results of the last run; those of an input stand next to each other.
float *Compiled::take_results(float *out) const {
  const Outputs &results = session_.outputs(entry_);
  for (int32_t input = 0; input < results.inputs(); ++input)
    for (int32_t component = 0; component < results.components(); ++component) {
      const ColumnInfo &info = results.component(component).info;
      int64_t begin = input, end = input + 1;
      for (int32_t depth = 0; depth < info.depth; ++depth) {
        begin = results.offsets(component, depth)[begin];
        end = results.offsets(component, depth)[end];
      }
      out = std::copy(results.f32(component) + begin * info.extent,
                      results.f32(component) + end * info.extent, out);
    }
  return out;
}

void Compiled::pass(float *out) {
  int64_t schedule_ns = 0;
  for (const Inputs &inputs : batches_) {
    borrow(inputs);
    expect(session_.run(entry_, batch_));
    if (session_.failed() > 0)
      for (int32_t input = 0; input < inputs.count(); ++input)
        expect(session_.status(input));
    out = take_results(out);
    schedule_ns += session_.profile(entry_).schedule_ns;
  }
  schedule_seconds_ = 1e-9 * static_cast<double>(schedule_ns);
}

} // namespace

std::unique_ptr<Implementation> compiled(const ModelCode &code, const std::string &entry,
                                         const Parameters &parameters, const std::vector<Inputs> &batches,
                                         int32_t threads) {
  return std::make_unique<Compiled>(code, entry, parameters, batches, threads);
}

} // namespace dbc::bench
