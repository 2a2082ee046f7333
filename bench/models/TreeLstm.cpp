// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The Tree-LSTM compiled by dbc, as a plug-in: how an application with its structures in flat arrays uses it.
#include "bench/models/TreeLstmPlugin.h"

#include <dbc/runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

extern "C" const dbc::ModelCode *dbc_code_tree_lstm();

namespace dbc::bench {
namespace {

/// Nothing that is measured here may fail.
void expect(const Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "dbc-bench: tree_lstm: %s\n", status.message.c_str());
  std::exit(1);
}

dbc::Model make_model(const ModelCode &code, const TreeLstm &from) {
  dbc::Weights weights(*code.info);
  auto set = [&](const char *name, const std::vector<float> &values) {
    expect(weights.set(name, values.data(), values.size()));
  };
  set("E", from.E);
  set("W", from.W);
  set("b", from.b);
  set("U", from.U);
  set("d", from.d);
  set("V", from.V);
  set("e", from.e);
  dbc::Model model;
  expect(dbc::Model::make(code, weights, &model));
  return model;
}

class Compiled final : public Implementation {
public:
  Compiled(const TreeLstm &model, const std::vector<TreeBatch> &batches, int32_t threads)
      : code_(*dbc_code_tree_lstm()), batches_(batches), model_(make_model(code_, model)),
        session_(model_, threads), batch_(*code_.info), left_(column("left")), right_(column("right")),
        word_(column("word")) {
    while (code_.info->entries[entry_].name != "sentiment")
      ++entry_;
  }

  void pass(float *out) override;
  double schedule_seconds() const override { return schedule_seconds_; }

private:
  int32_t column(const char *name) const {
    int32_t number = 0;
    while (batch_.column_info(0, number).name != name)
      ++number;
    return number;
  }

  const ModelCode &code_;
  const std::vector<TreeBatch> &batches_;
  dbc::Model model_;
  Session session_;
  Batch batch_;
  int32_t left_, right_, word_, entry_ = 0;
  double schedule_seconds_ = 0;
};

void Compiled::pass(float *out) {
  int64_t schedule_ns = 0;
  for (const TreeBatch &trees : batches_) {
    batch_.clear();
    batch_.borrow_inputs(trees.trees());
    batch_.borrow_nodes(0, trees.kind.data(), trees.nodes(), trees.begin.data());
    batch_.borrow_ints(0, left_, trees.left.data(), trees.left.size());
    batch_.borrow_ints(0, right_, trees.right.data(), trees.right.size());
    batch_.borrow_ints(0, word_, trees.word.data(), trees.word.size());
    batch_.borrow_ints(batch_.args(), batch_.arg_column(entry_, 0), trees.root.data(), trees.root.size());
    expect(session_.run(entry_, batch_));
    if (session_.failed() > 0)
      for (int32_t t = 0; t < trees.trees(); ++t)
        expect(session_.status(t));
    schedule_ns += session_.profile(entry_).schedule_ns;
    out = std::copy_n(session_.outputs(entry_).f32(0),
                      static_cast<size_t>(trees.trees()) * TreeLstm::kClasses, out);
  }
  schedule_seconds_ = 1e-9 * static_cast<double>(schedule_ns);
}

} // namespace

extern "C" __attribute__((visibility("default"))) Implementation *
dbc_bench_make_tree_lstm(const TreeLstm &model, const std::vector<TreeBatch> &batches, int32_t threads) {
  return new Compiled(model, batches, threads);
}

} // namespace dbc::bench
