// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Makes sentences as binary trees, one a line in the form of the Stanford Sentiment Treebank, `(label (label
// word) ..)`, with the shape statistics of its training set: 2 to 52 leaves, median 18; median depth 11.
// Words and labels are drawn uniformly.
//
// usage: make_trees [COUNT [SEED]]

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

constexpr int kWords = 20000, kLabels = 5;

class Trees {
public:
  explicit Trees(uint64_t seed) : bits(seed) {}

  /// Number of leaves: the treebank's quantiles, straight lines between them.
  int leaves() {
    static const struct {
      double share, leaves;
    } quantiles[] = {{0, 2}, {0.1, 7}, {0.25, 12}, {0.5, 18}, {0.75, 25}, {0.9, 32}, {0.99, 43}, {1, 52}};
    double u = uniform();
    int i = 0;
    while (u > quantiles[i + 1].share)
      ++i;
    double t = (u - quantiles[i].share) / (quantiles[i + 1].share - quantiles[i].share);
    return static_cast<int>(quantiles[i].leaves + t * (quantiles[i + 1].leaves - quantiles[i].leaves) + 0.5);
  }

  std::string tree(int leaves) {
    std::string label = std::to_string(below(kLabels));
    if (leaves == 1)
      return "(" + label + " w" + std::to_string(below(kWords)) + ")";
    // English branches to the right: more often than not the left part is one word.
    int left = uniform() < 0.56 ? 1 : 1 + below(leaves - 1);
    std::string first = tree(left), second = tree(leaves - left);
    return "(" + label + " " + first + " " + second + ")";
  }

private:
  // Not the distributions of <random>: their numbers differ between libraries.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  int below(int n) { return static_cast<int>(uniform() * n); }

  std::mt19937_64 bits;
};

} // namespace

int main(int argc, char **argv) {
  int count = argc > 1 ? std::atoi(argv[1]) : 200;
  Trees trees(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (int i = 0; i < count; ++i)
    std::puts(trees.tree(trees.leaves()).c_str());
}
