// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The child-sum Tree-LSTM batched by level by hand. What the words give is one product over all nodes before.
// A node writes its state where those of its parent's other children are, so that a level's edges are
// contiguous: one product over them for the forget gates, and one over the sums of the children's states for
// the others.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Batched.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Products.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dbc::bench {
namespace {

constexpr int32_t kBlock = 256; ///< rows of a product over all words
enum { kWord, kChildren };      ///< columns

DBC_CLONES
void sum_rows(int64_t H, int64_t rows, const float *__restrict x, float *__restrict to) {
  for (int64_t j = 0; j < H; ++j)
    to[j] = x[j];
  for (int64_t r = 1; r < rows; ++r)
    for (int64_t j = 0; j < H; ++j)
      to[j] += x[r * H + j];
}

/// x: gates i, f, g, o of the word; u: i, g, o of the children's sum; forget: f of each of `edges` children,
/// whose cells are `cells`. Without children `u` is not read.
DBC_CLONES
void cell(int64_t H, const float *__restrict x, const float *__restrict bias, const float *__restrict u,
          int64_t edges, const float *__restrict forget, const float *__restrict cells, float *__restrict h,
          float *__restrict c) {
  if (edges == 0) {
    for (int64_t j = 0; j < H; ++j) {
      c[j] = gated_tanh(x[j] + bias[j], x[2 * H + j] + bias[2 * H + j]);
      h[j] = gated_tanh(x[3 * H + j] + bias[3 * H + j], c[j]);
    }
    return;
  }
  for (int64_t j = 0; j < H; ++j)
    c[j] = gated_tanh(x[j] + bias[j] + u[j], x[2 * H + j] + bias[2 * H + j] + u[H + j]);
  for (int64_t e = 0; e < edges; ++e)
    for (int64_t j = 0; j < H; ++j)
      c[j] += quick_sigmoid(x[H + j] + bias[H + j] + forget[e * H + j]) * cells[e * H + j];
  for (int64_t j = 0; j < H; ++j)
    h[j] = gated_tanh(x[3 * H + j] + bias[3 * H + j] + u[2 * H + j], c[j]);
}

class ChildSumLevels final : public Batched<Inputs> {
public:
  ChildSumLevels(const Parameters &p, int32_t hidden, int32_t embed, int32_t classes,
                 const std::vector<Inputs> &batches)
      : Batched(batches), hidden_(hidden), embed_(embed), classes_(classes), E_(p["E"].data()),
        b_(p["tree.b"].data()), W_(p["tree.W"].data(), 4 * hidden, embed, kBlock),
        U_(p["tree.U"].data(), 3 * hidden, hidden, kBlock), Uf_(p["tree.Uf"].data(), hidden, hidden, kBlock),
        O_(p["O"].data(), classes, hidden, kBlock) {
    size_t nodes = 0, inputs = 0;
    for (const Inputs &batch : batches) {
      nodes = std::max<size_t>(nodes, batch.table(0).rows());
      inputs = std::max<size_t>(inputs, batch.count());
    }
    const size_t H = hidden;
    for (std::vector<int32_t> *numbers : {&height_, &row_, &node_, &slot_})
      numbers->resize(nodes);
    begin_.resize(nodes + 2);
    edge_.resize(nodes + 1);
    x_.resize(static_cast<size_t>(kBlock) * embed);
    gates_.resize(nodes * 4 * H);
    sums_.resize(nodes * H);
    u_.resize(nodes * 3 * H);
    forget_.resize(nodes * H);
    h_.resize(nodes * H);
    c_.resize(nodes * H);
    logits_.resize(inputs * classes);
  }

private:
  /// Rows are the nodes sorted by height. Edges are numbered by their parents' rows; the states of the roots
  /// come behind them all.
  void schedule(const Inputs &batch) override {
    const Column &children = batch.table(0).columns[kChildren];
    const int32_t nodes = batch.table(0).rows();
    levels_ = 0;
    std::fill(begin_.begin(), begin_.end(), 0);
    for (int32_t n = 0; n < nodes; ++n) { // children come before their parents
      int32_t height = 0;
      for (int32_t e = children.offsets[n]; e < children.offsets[n + 1]; ++e)
        height = std::max(height, height_[children.ints[e]] + 1);
      height_[n] = height;
      ++begin_[height + 1];
      levels_ = std::max(levels_, height + 1);
    }
    for (int32_t l = 0; l < levels_; ++l)
      begin_[l + 1] += begin_[l];
    for (int32_t n = 0; n < nodes; ++n) {
      row_[n] = begin_[height_[n]]++;
      node_[row_[n]] = n;
    }
    for (int32_t l = levels_; l > 0; --l)
      begin_[l] = begin_[l - 1];
    begin_[0] = 0;
    int32_t edge = 0;
    for (int32_t r = 0; r < nodes; ++r) {
      edge_[r] = edge;
      const int32_t n = node_[r];
      for (int32_t e = children.offsets[n]; e < children.offsets[n + 1]; ++e)
        slot_[row_[children.ints[e]]] = edge++;
    }
    edge_[nodes] = edge;
    for (int32_t root : batch.arguments().columns[0].ints)
      slot_[row_[root]] = edge++;
  }

  float *compute(const Inputs &batch, float *out) override {
    const int64_t H = hidden_;
    const std::vector<int32_t> &words = batch.table(0).columns[kWord].ints;
    const int32_t nodes = batch.table(0).rows();
    for (int32_t at = 0; at < nodes; at += kBlock) {
      int32_t rows = std::min(kBlock, nodes - at);
      for (int32_t r = 0; r < rows; ++r)
        std::memcpy(&x_[static_cast<int64_t>(r) * embed_],
                    &E_[static_cast<int64_t>(words[node_[at + r]]) * embed_], embed_ * sizeof(float));
      W_.run(x_.data(), rows, &gates_[at * 4 * H]);
    }
    for (int32_t l = 0; l < levels_; ++l) {
      const int32_t first = begin_[l], last = begin_[l + 1];
      if (l > 0) {
        Uf_.run(&h_[edge_[first] * H], edge_[last] - edge_[first], forget_.data());
        for (int32_t r = first; r < last; ++r)
          sum_rows(H, edge_[r + 1] - edge_[r], &h_[edge_[r] * H], &sums_[(r - first) * H]);
        U_.run(sums_.data(), last - first, u_.data());
      }
      for (int32_t r = first; r < last; ++r)
        cell(H, &gates_[r * 4 * H], b_, &u_[(r - first) * 3 * H], edge_[r + 1] - edge_[r],
             &forget_[static_cast<int64_t>(edge_[r] - edge_[first]) * H], &c_[edge_[r] * H],
             &h_[slot_[r] * H], &c_[slot_[r] * H]);
    }
    O_.run(&h_[edge_[nodes] * H], batch.count(), logits_.data());
    for (int32_t i = 0; i < batch.count(); ++i) {
      const float *x = &logits_[static_cast<int64_t>(i) * classes_];
      float *y = out + static_cast<int64_t>(i) * classes_, most = *std::max_element(x, x + classes_), sum = 0;
      for (int32_t k = 0; k < classes_; ++k)
        sum += y[k] = std::exp(x[k] - most);
      for (int32_t k = 0; k < classes_; ++k)
        y[k] /= sum;
    }
    return out + static_cast<int64_t>(batch.count()) * classes_;
  }

  int32_t hidden_, embed_, classes_;
  const float *E_, *b_;
  Product W_, U_, Uf_, O_;
  // The batch at hand.
  int32_t levels_ = 0;
  std::vector<int32_t> height_, row_; ///< a node
  std::vector<int32_t> node_, slot_;  ///< a row
  std::vector<int32_t> begin_;        ///< a level: its first row
  std::vector<int32_t> edge_;         ///< a row: its first edge
  std::vector<float> x_, gates_, sums_, u_, forget_, h_, c_, logits_;
};

} // namespace

std::unique_ptr<Implementation> child_sum_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                                int32_t classes, const std::vector<Inputs> &batches) {
  return std::make_unique<ChildSumLevels>(parameters, hidden, embed, classes, batches);
}

} // namespace dbc::bench
