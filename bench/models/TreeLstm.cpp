// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The Tree-LSTM compiled by dbc, as a plug-in: how an application with its structures in flat arrays uses it.
#include "bench/models/TreeLstmPlugin.h"

#include "tree_lstm.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace tree_lstm = dbc::models::tree_lstm;

namespace dbc::bench {
namespace {

static_assert(tree_lstm::dims::vocab == TreeLstm::kVocab && tree_lstm::dims::embed == TreeLstm::kEmbed &&
                  tree_lstm::dims::classes == TreeLstm::kClasses,
              "compiled for other sizes than the baselines have");

/// Nothing that is measured here may fail.
void expect(const dbc::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "dbc-bench: tree_lstm: %s\n", status.message.c_str());
  std::exit(1);
}

tree_lstm::Model make_model(const TreeLstm &from) {
  tree_lstm::Weights weights;
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
  tree_lstm::Model model;
  expect(tree_lstm::Model::make(weights, &model));
  return model;
}

class Compiled final : public Implementation {
public:
  Compiled(const TreeLstm &model, const std::vector<TreeBatch> &batches, int32_t threads)
      : batches_(batches), model_(make_model(model)), session_(model_, threads) {}

  void pass(float *out) override;
  double schedule_seconds() const override { return schedule_seconds_; }

private:
  const std::vector<TreeBatch> &batches_;
  tree_lstm::Model model_;
  tree_lstm::Session session_;
  tree_lstm::Batch batch_;
  double schedule_seconds_ = 0;
};

void Compiled::pass(float *out) {
  int64_t schedule_ns = 0;
  for (const TreeBatch &trees : batches_) {
    tree_lstm::TreeArrays nodes; // labels are left out: the entry does not read them
    nodes.count = trees.nodes();
    nodes.begin = trees.begin.data();
    nodes.kinds = trees.kind.data();
    nodes.word = trees.word.data();
    nodes.left = trees.left.data();
    nodes.right = trees.right.data();
    tree_lstm::SentimentArrays arguments;
    arguments.t = trees.root.data();
    batch_.clear();
    batch_.borrow_inputs(trees.trees());
    batch_.borrow(nodes);
    batch_.borrow(arguments);
    expect(session_.sentiment(batch_));
    if (session_.failed() > 0)
      for (int32_t t = 0; t < trees.trees(); ++t)
        expect(session_.status(t));
    out = std::copy_n(session_.sentiment_result().data(), trees.trees() * tree_lstm::dims::classes, out);
    schedule_ns += session_.sentiment_profile().schedule_ns;
  }
  schedule_seconds_ = 1e-9 * static_cast<double>(schedule_ns);
}

} // namespace

extern "C" __attribute__((visibility("default"))) Implementation *
dbc_bench_make_tree_lstm(const TreeLstm &model, const std::vector<TreeBatch> &batches, int32_t threads) {
  return new Compiled(model, batches, threads);
}

} // namespace dbc::bench
