// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Reading and making trees.
#include "bench/Trees.h"

#include "bench/Random.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <unordered_map>

namespace dbc::bench {

int32_t TreeBatch::leaves() const {
  return static_cast<int32_t>(std::count(kind.begin(), kind.end(), kLeaf));
}

int32_t TreeBatch::add_leaf(int32_t word, int32_t label) {
  kind.push_back(kLeaf);
  left.push_back(0);
  right.push_back(0);
  this->word.push_back(word);
  this->label.push_back(label);
  return nodes() - 1;
}

int32_t TreeBatch::add_node(int32_t left, int32_t right, int32_t label) {
  kind.push_back(kNode);
  this->left.push_back(left);
  this->right.push_back(right);
  word.push_back(0);
  this->label.push_back(label);
  return nodes() - 1;
}

void TreeBatch::end_tree() {
  root.push_back(nodes() - 1);
  begin.push_back(nodes());
}

/// Appends tree number `tree` of `from` to `to`.
static void copy_tree(const TreeBatch &from, int32_t tree, TreeBatch &to) {
  int32_t shift = to.nodes() - from.begin[tree];
  for (int32_t n = from.begin[tree]; n < from.begin[tree + 1]; ++n) {
    if (from.kind[n] == TreeBatch::kLeaf)
      to.add_leaf(from.word[n], from.label[n]);
    else
      to.add_node(from.left[n] + shift, from.right[n] + shift, from.label[n]);
  }
  to.end_tree();
}

std::vector<TreeBatch> cut(const TreeBatch &trees, int32_t size) {
  std::vector<TreeBatch> batches;
  for (int32_t t = 0; t < trees.trees(); ++t) {
    if (t % size == 0)
      batches.emplace_back();
    copy_tree(trees, t, batches.back());
  }
  return batches;
}

void append(const TreeBatch &from, int32_t count, TreeBatch &to) {
  for (int32_t t = 0; t < count; ++t)
    copy_tree(from, t, to);
}

TreeBatch first(const TreeBatch &trees, int32_t count) {
  TreeBatch some;
  append(trees, std::min(count, trees.trees()), some);
  return some;
}

namespace {

/// Reads one line of SST at a time.
class SstReader {
public:
  SstReader(int32_t vocab, TreeBatch &into) : vocab_(vocab), into_(into) {}

  /// False and `error` set if the line is not one binary tree.
  bool line(const std::string &text, std::string &error);

private:
  /// A node that has been opened: its label and the children or the word seen so far.
  struct Open {
    int32_t label;
    int32_t child[2];
    int32_t children;
    int32_t word;
  };
  bool close(std::string &error);

  int32_t vocab_;
  TreeBatch &into_;
  std::unordered_map<std::string, int32_t> words_;
  std::vector<Open> open_;
  bool done_ = false;
};

bool SstReader::close(std::string &error) {
  Open top = open_.back();
  open_.pop_back();
  if ((top.word < 0) != (top.children == 2)) {
    error = "a node needs either a word or two children";
    return false;
  }
  int32_t node = top.word >= 0 ? into_.add_leaf(top.word, top.label)
                               : into_.add_node(top.child[0], top.child[1], top.label);
  if (open_.empty()) {
    into_.end_tree();
    done_ = true;
    return true;
  }
  Open &parent = open_.back();
  if (parent.children == 2 || parent.word >= 0) {
    error = "a node has more than two children, or a word beside a child";
    return false;
  }
  parent.child[parent.children++] = node;
  return true;
}

bool SstReader::line(const std::string &text, std::string &error) {
  open_.clear();
  done_ = false;
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == ' ' || c == '\r') {
      ++i;
    } else if (done_) {
      error = "text after the end of the tree";
      return false;
    } else if (c == '(') {
      // The label is one digit.
      if (i + 1 >= text.size() || text[i + 1] < '0' || text[i + 1] > '4') {
        error = "a label from 0 to 4 is missing";
        return false;
      }
      open_.push_back({text[i + 1] - '0', {-1, -1}, 0, -1});
      i += 2;
    } else if (open_.empty()) {
      error = "a tree must start with `(`";
      return false;
    } else if (c == ')') {
      if (!close(error))
        return false;
      ++i;
    } else {
      size_t end = std::min(text.find_first_of(" ()\r", i), text.size());
      if (open_.back().word >= 0 || open_.back().children > 0) {
        error = "more than one word in a leaf";
        return false;
      }
      auto number = static_cast<int32_t>(words_.size());
      open_.back().word = words_.emplace(text.substr(i, end - i), number).first->second;
      i = end;
    }
  }
  if (!done_)
    error = "the tree does not end";
  else if (static_cast<int32_t>(words_.size()) > vocab_)
    error = "more than " + std::to_string(vocab_) + " different words";
  return error.empty();
}

} // namespace

TreeBatch read_sst(const std::string &path, int32_t vocab, std::string &error) {
  std::ifstream file(path);
  if (!file) {
    error = "cannot be opened";
    return {};
  }
  TreeBatch trees;
  SstReader reader(vocab, trees);
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (text.empty())
      continue;
    if (!reader.line(text, error)) {
      error = "line " + std::to_string(number) + ": " + error;
      return {};
    }
  }
  if (trees.trees() == 0)
    error = "has no trees";
  return trees;
}

/// A number of leaves whose quantiles are those of SST's dev set, straight lines between.
static int32_t draw_leaves(Random &random) {
  static constexpr double at[] = {0, .01, .1, .25, .5, .75, .9, .99, 1};
  static constexpr double leaves[] = {2, 4, 8, 13, 19, 26, 32, 42, 50};
  double u = random.uniform();
  size_t i = 1;
  while (at[i] < u)
    ++i;
  return static_cast<int32_t>(leaves[i - 1] +
                              (u - at[i - 1]) / (at[i] - at[i - 1]) * (leaves[i] - leaves[i - 1]));
}

TreeBatch generate_trees(int32_t count, int32_t vocab, uint64_t seed) {
  // A span of n leaves is cut at random. Cutting it anywhere with the same chance gives trees that are too
  // shallow, and so now and then a single leaf is taken off at one end, as a language does it. The share was
  // chosen to meet SST's mean depth of 10.9.
  constexpr double kPeel = 0.55;
  struct Span {
    int32_t leaves;
    bool cut;
  };
  Random random(seed);
  TreeBatch trees;
  std::vector<Span> work;
  std::vector<int32_t> done;
  for (int32_t t = 0; t < count; ++t) {
    work.push_back({draw_leaves(random), false});
    while (!work.empty()) {
      Span span = work.back();
      work.pop_back();
      if (span.leaves == 1) {
        // log-uniform ranks: Zipf's law with exponent 1.
        auto rank = static_cast<int32_t>(std::exp(random.uniform() * std::log(vocab + 1.0)));
        done.push_back(trees.add_leaf(std::min(rank, vocab) - 1, random.below(5)));
      } else if (span.cut) {
        int32_t right = done.back();
        done.pop_back();
        done.back() = trees.add_node(done.back(), right, random.below(5));
      } else {
        int32_t left = 1 + random.below(span.leaves - 1);
        if (random.uniform() < kPeel)
          left = random.uniform() < 0.5 ? 1 : span.leaves - 1;
        work.push_back({span.leaves, true});
        work.push_back({span.leaves - left, false});
        work.push_back({left, false});
      }
    }
    done.clear();
    trees.end_tree();
  }
  return trees;
}

} // namespace dbc::bench
