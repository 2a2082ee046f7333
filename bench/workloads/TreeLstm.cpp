// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `tree_lstm`, and its training: examples/tree_lstm on sentences.
#include "bench/baselines/TreeLstm.h"
#include "bench/baselines/TreeLevels.h"
#include "bench/workloads/BinaryTrees.h"
#include "bench/workloads/Workloads.h"

#include <functional>

namespace dbc::bench {
namespace {

/// A baseline with its inputs as it reads them.
class OnTrees final : public Implementation {
public:
  using Make = std::function<std::unique_ptr<Implementation>(const std::vector<TreeBatch> &)>;
  OnTrees(const Make &make, const std::vector<Inputs> &batches) {
    for (const Inputs &batch : batches)
      batches_.push_back(tree_batch(batch));
    baseline_ = make(batches_);
  }
  std::vector<float> parameter(const std::string &name) override { return baseline_->parameter(name); }
  void pass(float *out) override { baseline_->pass(out); }
  double schedule_seconds() const override { return baseline_->schedule_seconds(); }

private:
  std::vector<TreeBatch> batches_;
  std::unique_ptr<Implementation> baseline_;
};

class TreeLstmWorkload : public Workload {
public:
  explicit TreeLstmWorkload(int32_t hidden, double word_bound = 1)
      : Workload(hidden), model_(hidden, /*seed=*/1, word_bound) {
    parameters.set("E", model_.E);
    parameters.set("W", model_.W);
    parameters.set("b", model_.b);
    parameters.set("U", model_.U);
    parameters.set("d", model_.d);
    parameters.set("V", model_.V);
    parameters.set("e", model_.e);
  }
  const char *entry() const override { return "sentiment"; }
  Data load(const std::string &data, std::string &error) const override {
    return load_sst(data, TreeLstm::kVocab, error);
  }
  int64_t instances(const Inputs &inputs) const override { return inputs.table(0).rows(); }
  int64_t values(const Inputs &inputs) const override { return inputs.count() * TreeLstm::kClasses; }
  double flops(const Inputs &inputs) const override { return model_.flops(tree_batch(inputs)); }
  std::vector<LevelProduct> products(const std::vector<Inputs> &batches) const override {
    std::vector<LevelProduct> all;
    for (const Inputs &batch : batches) {
      TreeBatch trees = tree_batch(batch);
      TreeLevels levels;
      levels.reserve(trees.nodes());
      levels.make(trees);
      all.push_back({levels.leaves, 3 * hidden, TreeLstm::kEmbed});
      for (int32_t l = 0; l < levels.levels; ++l)
        all.push_back({levels.begin[l + 1] - levels.begin[l], 5 * hidden, 2 * hidden});
      all.push_back({trees.trees(), TreeLstm::kClasses, hidden});
    }
    return all;
  }
  std::vector<double> reference(const Inputs &inputs) const override {
    return tree_lstm_reference(model_, tree_batch(inputs));
  }
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    auto gemv = [&](const std::vector<TreeBatch> &trees) { return tree_lstm_gemv_node(model_, trees); };
    auto cblas = [&](const std::vector<TreeBatch> &trees) { return tree_lstm_cblas(model_, trees); };
    std::vector<Contestant> two;
    two.push_back({"gemv-node", std::make_unique<OnTrees>(gemv, batches)});
    two.push_back({"cblas", std::make_unique<OnTrees>(cblas, batches)});
    return two;
  }

protected:
  TreeLstm model_;
};

/// By the loss at every node.
class TreeLstmTraining final : public TreeLstmWorkload {
public:
  explicit TreeLstmTraining(int32_t hidden) : TreeLstmWorkload(hidden, kTrainedWordBound) {}
  Mode mode() const override { return Mode::Train; }
  float learning_rate() const override { return 0.01F; }
  const char *entry() const override { return "nll"; }
  Data load(const std::string &data, std::string &error) const override {
    return load_labelled_sst(data, TreeLstm::kVocab, error);
  }
  int64_t values(const Inputs &) const override { return 1; }
  double flops(const Inputs &inputs) const override {
    const TreeBatch trees = tree_batch(inputs);
    const double above_roots = 2.0 * (trees.nodes() - trees.trees()) * TreeLstm::kClasses * hidden;
    // A product is three: itself, and the gradients of its operand and of its matrix.
    return 3 * (model_.flops(trees) + above_roots);
  }
  std::vector<LevelProduct> products(const std::vector<Inputs> &) const override { return {}; }
  std::vector<double> reference(const Inputs &inputs) const override {
    return {tree_lstm_loss_reference(model_, tree_batch(inputs))};
  }
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    auto cblas = [this](const std::vector<TreeBatch> &trees) {
      return tree_lstm_cblas_training(model_, trees, learning_rate());
    };
    std::vector<Contestant> one;
    one.push_back({"cblas", std::make_unique<OnTrees>(cblas, batches)});
    return one;
  }
};

} // namespace

std::unique_ptr<Workload> make_tree_lstm(int32_t hidden) {
  return std::make_unique<TreeLstmWorkload>(hidden);
}

std::unique_ptr<Workload> make_tree_lstm_training(int32_t hidden) {
  return std::make_unique<TreeLstmTraining>(hidden);
}

} // namespace dbc::bench
