// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `mv_rnn`: test/models/21_mv_rnn.dyn, whose nodes are a vector and a matrix, on sentences.
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/BinaryTrees.h"
#include "bench/workloads/Workloads.h"

#include <cmath>

namespace dbc::bench {
namespace {

// Each word has a matrix of its own, so that the words of SST would take gigabytes: they share these.
constexpr int32_t kVocab = 300, kClasses = 5;
/// A node costs 4 hidden^3 operations; so many inputs are enough of them.
constexpr int32_t kTrees = 256;

class MvRnn final : public Workload {
public:
  explicit MvRnn(int32_t hidden) : Workload(hidden) {
    // Products with these keep the size of vectors, and of matrices.
    const int64_t d = hidden;
    const double square = std::sqrt(3.0 / static_cast<double>(d));
    parameters.draw("vec", kVocab * d, 1);
    parameters.draw("mat", kVocab * d * d, square);
    parameters.draw("Wv", d * 2 * d, square);
    parameters.draw("bv", d, 0.1);
    parameters.draw("Wm", d * 2 * d, square);
    parameters.draw("Bm", d * d, 0.1 * square);
    parameters.draw("V", kClasses * d, glorot(kClasses, d));
    parameters.draw("e", kClasses, 0.5);
  }
  const char *entry() const override { return "meaning"; }
  Data load(const std::string &data, std::string &error) const override;
  int64_t instances(const Inputs &inputs) const override { return inputs.table(0).rows(); }
  int64_t values(const Inputs &inputs) const override {
    return int64_t(inputs.count()) * hidden * (hidden + 1);
  }
  double flops(const Inputs &inputs) const override {
    TreeView trees(inputs);
    const double d = hidden;
    return 2.0 * (trees.nodes - trees.leaves()) * (4 * d * d + 2 * d * d * d);
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", mv_rnn_cblas(parameters, hidden, batches)});
    return one;
  }
};

Data MvRnn::load(const std::string &data, std::string &error) const {
  Data trees = load_sst(data, 20000, error);
  trees.inputs = trees.inputs.first(kTrees);
  for (int32_t &word : trees.inputs.table(0).columns[0].ints)
    word %= kVocab;
  return trees;
}

std::vector<double> MvRnn::reference(const Inputs &inputs) const {
  using namespace naive;
  const int64_t d = hidden;
  const std::vector<float> &Wm = parameters["Wm"], &Bm = parameters["Bm"];
  TreeView trees(inputs);
  std::vector<Vector> v(trees.nodes), M(trees.nodes);
  auto times = [d](const Vector &matrix, const Vector &x) {
    Vector y(d);
    for (int64_t i = 0; i < d; ++i)
      for (int64_t j = 0; j < d; ++j)
        y[i] += matrix[i * d + j] * x[j];
    return y;
  };
  for (int32_t n = 0; n < trees.nodes; ++n) {
    if (trees.is_leaf(n)) {
      v[n] = row(parameters["vec"], trees.word[n], d);
      M[n] = row(parameters["mat"], trees.word[n], d * d);
      continue;
    }
    const int32_t l = trees.left[n], r = trees.right[n];
    v[n] = affine(parameters["Wv"], join(times(M[r], v[l]), times(M[l], v[r])), parameters["bv"]);
    for (double &x : v[n])
      x = std::tanh(x);
    M[n].assign(Bm.begin(), Bm.end());
    const Vector both = join(M[l], M[r]);
    for (int64_t i = 0; i < d; ++i)
      for (int64_t k = 0; k < 2 * d; ++k)
        for (int64_t j = 0; j < d; ++j)
          M[n][i * d + j] += static_cast<double>(Wm[i * 2 * d + k]) * both[k * d + j];
  }
  Vector out;
  for (int32_t root : trees.root)
    out = join(out, join(v[root], M[root]));
  return out;
}

} // namespace

std::unique_ptr<Workload> make_mv_rnn(int32_t hidden) { return std::make_unique<MvRnn>(hidden); }

} // namespace dbc::bench
