// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `child_sum`: test/models/16_child_sum_tree_lstm.dyn on dependency trees.
#include "bench/Numbering.h"
#include "bench/Random.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/Workloads.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace dbc::bench {
namespace {

constexpr int32_t kVocab = 3000, kEmbed = 300, kClasses = 5;
enum { kWord, kChildren }; ///< columns

class ChildSum final : public Workload {
public:
  explicit ChildSum(int32_t hidden) : Workload(hidden) {
    const int64_t H = hidden;
    parameters.draw("E", kVocab * kEmbed, 1);
    parameters.draw("tree.W", 4 * H * kEmbed, glorot(H, kEmbed));
    parameters.draw("tree.b", 4 * H, 0.1);
    parameters.draw("tree.U", 3 * H * H, 2 * glorot(H, H));
    parameters.draw("tree.Uf", H * H, 2 * glorot(H, H));
    parameters.draw("O", kClasses * H, 4 * glorot(kClasses, H));
  }
  const char *entry() const override { return "label"; }
  Data load(const std::string &data, std::string &error) const override;
  int64_t instances(const Inputs &inputs) const override { return inputs.table(0).rows(); }
  int64_t values(const Inputs &inputs) const override { return inputs.count() * kClasses; }
  double flops(const Inputs &inputs) const override {
    const double H = hidden, nodes = inputs.table(0).rows(), edges = nodes - inputs.count();
    // At a leaf the product with the sum of no states is none.
    double inner = 0;
    const std::vector<int32_t> &offsets = inputs.table(0).columns[kChildren].offsets;
    for (size_t n = 0; n + 1 < offsets.size(); ++n)
      inner += offsets[n + 1] > offsets[n];
    return 2 * (nodes * 4 * H * kEmbed + inner * 3 * H * H + edges * H * H + inputs.count() * kClasses * H);
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", child_sum_cblas(parameters, hidden, kEmbed, kClasses, batches)});
    return one;
  }
};

/// Adds a tree of words whose heads are given, as numbers from 0, -1 at the root. Children come before their
/// heads. False if it is no tree.
bool add_tree(const std::vector<int32_t> &words, const std::vector<int32_t> &heads, Inputs &inputs) {
  const auto count = static_cast<int32_t>(words.size());
  std::vector<int32_t> order, row(count, -1);
  for (int32_t w = 0; w < count; ++w)
    if (heads[w] < 0)
      order.push_back(w);
  if (order.size() != 1)
    return false;
  // By levels from the root, then turned round.
  for (size_t at = 0; at < order.size(); ++at)
    for (int32_t w = count - 1; w >= 0; --w)
      if (heads[w] == order[at])
        order.push_back(w);
  if (static_cast<int32_t>(order.size()) != count)
    return false;
  std::reverse(order.begin(), order.end());
  Table &nodes = inputs.table(0);
  const int32_t first = nodes.rows();
  for (int32_t n = 0; n < count; ++n) {
    row[order[n]] = first + n;
    nodes.columns[kWord].ints.push_back(words[order[n]]);
    for (int32_t w = 0; w < count; ++w)
      if (heads[w] == order[n])
        nodes.columns[kChildren].ints.push_back(row[w]);
    nodes.columns[kChildren].end_list();
  }
  inputs.arguments().columns[0].ints.push_back(first + count - 1);
  inputs.end_input({count});
  return true;
}

/// Random trees with about as many words and levels as sentences of SICK have.
void generate(Inputs &inputs) {
  Random random(1);
  while (inputs.count() < 1000) {
    const int32_t count = 4 + random.below(6) + random.below(7);
    std::vector<int32_t> words(count), heads(count);
    for (int32_t w = 0; w < count; ++w) {
      words[w] = random.below(kVocab);
      heads[w] = w == 0 ? -1 : random.below(w);
    }
    add_tree(words, heads, inputs);
  }
}

Data ChildSum::load(const std::string &data, std::string &error) const {
  Data loaded{Inputs({{"Tree", {numbers("word"), lists("children", 0)}}}, {numbers("t", 0)}), "sick dev"};
  Numbering number(kVocab);
  for (const char *sentence : {"a", "b"}) {
    std::string path = data + "/sick/dev/" + sentence;
    std::ifstream tokens(path + ".toks"), parents(path + ".parents");
    if (!tokens || !parents) {
      std::fprintf(stderr, "%s.toks is absent: trees are generated\n", path.c_str());
      loaded.name = "generated";
      generate(loaded.inputs);
      break;
    }
    std::string line, heads_line;
    for (int32_t at = 1; std::getline(tokens, line) && std::getline(parents, heads_line); ++at) {
      std::istringstream words_in(line), heads_in(heads_line);
      std::vector<int32_t> words, heads;
      int32_t head;
      for (std::string word; words_in >> word;)
        words.push_back(number(word));
      while (heads_in >> head)
        heads.push_back(head - 1);
      if (words.size() != heads.size() || !add_tree(words, heads, loaded.inputs)) {
        error = path + ": line " + std::to_string(at) + " is no tree";
        return loaded;
      }
    }
  }
  return loaded;
}

std::vector<double> ChildSum::reference(const Inputs &inputs) const {
  using namespace naive;
  const size_t H = hidden;
  const Table &nodes = inputs.table(0);
  const Column &children = nodes.columns[kChildren];
  std::vector<Vector> h(nodes.rows()), c(nodes.rows());
  for (int32_t n = 0; n < nodes.rows(); ++n) {
    Vector x = row(parameters["E"], nodes.columns[kWord].ints[n], kEmbed);
    Vector y = affine(parameters["tree.W"], x, parameters["tree.b"]);
    const double *i = &y[0], *f = &y[H], *g = &y[2 * H], *o = &y[3 * H];
    Vector total(H), kept(H);
    for (int32_t e = children.offsets[n]; e < children.offsets[n + 1]; ++e) {
      const int32_t k = children.ints[e];
      Vector forget = product(parameters["tree.Uf"], hidden, h[k]);
      total = sum(total, h[k]);
      for (size_t j = 0; j < H; ++j)
        kept[j] += sigmoid(f[j] + forget[j]) * c[k][j];
    }
    Vector u = product(parameters["tree.U"], 3 * hidden, total);
    h[n].resize(H);
    c[n].resize(H);
    for (size_t j = 0; j < H; ++j) {
      c[n][j] = sigmoid(i[j] + u[j]) * std::tanh(g[j] + u[H + j]) + kept[j];
      h[n][j] = sigmoid(o[j] + u[2 * H + j]) * std::tanh(c[n][j]);
    }
  }
  Vector out;
  for (int32_t root : inputs.arguments().columns[0].ints)
    out = join(out, softmax(product(parameters["O"], kClasses, h[root])));
  return out;
}

} // namespace

std::unique_ptr<Workload> make_child_sum(int32_t hidden) { return std::make_unique<ChildSum>(hidden); }

} // namespace dbc::bench
