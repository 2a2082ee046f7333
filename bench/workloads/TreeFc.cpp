// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `treefc`: test/models/13_treefc.dyn on perfect trees of 128 leaves, as TensorFlow Fold's paper
// has them.
#include "bench/Random.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/BinaryTrees.h"
#include "bench/workloads/Workloads.h"

namespace dbc::bench {
namespace {

constexpr int32_t kVocab = 10000, kTrees = 256, kLeaves = 128;

class TreeFc final : public Workload {
public:
  explicit TreeFc(int32_t hidden) : Workload(hidden) {
    const int64_t H = hidden;
    parameters.draw("E", kVocab * H, 1);
    parameters.draw("W", H * 2 * H, 2 * glorot(H, 2 * H));
    parameters.draw("b", H, 0.1);
  }
  const char *entry() const override { return "root"; }
  Data load(const std::string &, std::string &) const override;
  int64_t instances(const Inputs &inputs) const override { return inputs.table(0).rows(); }
  int64_t values(const Inputs &inputs) const override { return int64_t(inputs.count()) * hidden; }
  double flops(const Inputs &inputs) const override {
    TreeView trees(inputs);
    return 2.0 * (trees.nodes - trees.leaves()) * hidden * 2 * hidden;
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", treefc_cblas(parameters, hidden, batches)});
    return one;
  }
};

Data TreeFc::load(const std::string &, std::string &) const {
  Random random(1);
  TreeBatch trees;
  for (int32_t t = 0; t < kTrees; ++t) {
    std::vector<int32_t> level;
    for (int32_t l = 0; l < kLeaves; ++l)
      level.push_back(trees.add_leaf(random.below(kVocab), 0));
    while (level.size() > 1) {
      for (size_t n = 0; n < level.size() / 2; ++n)
        level[n] = trees.add_node(level[2 * n], level[2 * n + 1], 0);
      level.resize(level.size() / 2);
    }
    trees.end_tree();
  }
  return {tree_inputs(trees), "generated"};
}

std::vector<double> TreeFc::reference(const Inputs &inputs) const {
  using namespace naive;
  TreeView trees(inputs);
  std::vector<Vector> h(trees.nodes);
  for (int32_t n = 0; n < trees.nodes; ++n) {
    if (trees.is_leaf(n)) {
      h[n] = row(parameters["E"], trees.word[n], hidden);
      continue;
    }
    h[n] = affine(parameters["W"], join(h[trees.left[n]], h[trees.right[n]]), parameters["b"]);
    for (double &x : h[n])
      x = x > 0 ? x : 0;
  }
  Vector out;
  for (int32_t root : trees.root)
    out = join(out, h[root]);
  return out;
}

} // namespace

std::unique_ptr<Workload> make_treefc(int32_t hidden) { return std::make_unique<TreeFc>(hidden); }

} // namespace dbc::bench
