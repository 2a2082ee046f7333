// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Training the Tree-LSTM batched by level by hand, with CBLAS for the products. Every node has one slot, and
// a node's children have two that lie side by side: states are products' operands as they lie, and so are
// the gradients of states, to which the products of the way back add. The gradient of a matrix is one
// product over all rows of the batch, which is the step at once. Only the vectors of words that there are
// change.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Batched.h"
#include "bench/baselines/TrainedMatrix.h"
#include "bench/baselines/TreeLevels.h"
#include "bench/baselines/TreeLstm.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dbc::bench {
namespace {

// A row is a function of its own because compilers trust `__restrict` on parameters only. y: products without
// bias, then activated gates, then the gradients of what was activated. t: tanh(c).

BENCH_INLINE void leaf_row(int64_t H, const float *__restrict bias, float *__restrict y, float *__restrict h,
                           float *__restrict c, float *__restrict t) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = quick_sigmoid(y[j] + bias[j]), o = quick_sigmoid(y[H + j] + bias[H + j]),
                u = quick_tanh(y[2 * H + j] + bias[2 * H + j]);
    y[j] = i;
    y[H + j] = o;
    y[2 * H + j] = u;
    c[j] = i * u;
    t[j] = quick_tanh(c[j]);
    h[j] = o * t[j];
  }
}

BENCH_INLINE void node_row(int64_t H, const float *__restrict bias, const float *__restrict children,
                           float *__restrict y, float *__restrict h, float *__restrict c,
                           float *__restrict t) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = quick_sigmoid(y[j] + bias[j]), l = quick_sigmoid(y[H + j] + bias[H + j]),
                r = quick_sigmoid(y[2 * H + j] + bias[2 * H + j]),
                o = quick_sigmoid(y[3 * H + j] + bias[3 * H + j]),
                u = quick_tanh(y[4 * H + j] + bias[4 * H + j]);
    y[j] = i;
    y[H + j] = l;
    y[2 * H + j] = r;
    y[3 * H + j] = o;
    y[4 * H + j] = u;
    c[j] = i * u + l * children[j] + r * children[H + j];
    t[j] = quick_tanh(c[j]);
    h[j] = o * t[j];
  }
}

BENCH_INLINE void leaf_row_back(int64_t H, const float *__restrict t, const float *__restrict dh,
                                const float *__restrict dc, float *__restrict y) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = y[j], o = y[H + j], u = y[2 * H + j], cell = dc[j] + dh[j] * o * (1 - t[j] * t[j]);
    y[j] = cell * u * i * (1 - i);
    y[H + j] = dh[j] * t[j] * o * (1 - o);
    y[2 * H + j] = cell * i * (1 - u * u);
  }
}

BENCH_INLINE void node_row_back(int64_t H, const float *__restrict children, const float *__restrict t,
                                const float *__restrict dh, const float *__restrict dc, float *__restrict y,
                                float *__restrict dchildren) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = y[j], l = y[H + j], r = y[2 * H + j], o = y[3 * H + j], u = y[4 * H + j],
                cell = dc[j] + dh[j] * o * (1 - t[j] * t[j]);
    y[j] = cell * u * i * (1 - i);
    y[H + j] = cell * children[j] * l * (1 - l);
    y[2 * H + j] = cell * children[H + j] * r * (1 - r);
    y[3 * H + j] = dh[j] * t[j] * o * (1 - o);
    y[4 * H + j] = cell * i * (1 - u * u);
    dchildren[j] = cell * l;
    dchildren[H + j] = cell * r;
  }
}

/// A row a slot, of `hidden` elements: states, tanh(c), and the gradients of the states.
struct Slots {
  std::vector<float> h, c, t, dh, dc;
};

DBC_CLONES
void leaves(int64_t H, int32_t rows, const float *bias, const int32_t *slots, float *y, Slots &s) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = slots[r] * H;
    leaf_row(H, bias, y + r * 3 * H, &s.h[at], &s.c[at], &s.t[at]);
  }
}

/// `first`: number of the first of these inner nodes.
DBC_CLONES
void nodes(int64_t H, int32_t first, int32_t rows, const float *bias, const int32_t *slots, float *y,
           Slots &s) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = slots[r] * H;
    node_row(H, bias, &s.c[2 * (first + r) * H], y + r * 5 * H, &s.h[at], &s.c[at], &s.t[at]);
  }
}

DBC_CLONES
void leaves_back(int64_t H, int32_t rows, const int32_t *slots, const Slots &s, float *y) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = slots[r] * H;
    leaf_row_back(H, &s.t[at], &s.dh[at], &s.dc[at], y + r * 3 * H);
  }
}

DBC_CLONES
void nodes_back(int64_t H, int32_t first, int32_t rows, const int32_t *slots, Slots &s, float *y) {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t at = slots[r] * H, below = 2 * (first + r) * H;
    node_row_back(H, &s.c[below], &s.t[at], &s.dh[at], &s.dc[at], y + r * 5 * H, &s.dc[below]);
  }
}

class Training final : public Batched<TreeBatch> {
public:
  Training(const TreeLstm &model, const std::vector<TreeBatch> &batches, float rate);
  std::vector<float> parameter(const std::string &name) override;

private:
  static constexpr int32_t kEmbed = TreeLstm::kEmbed, kClasses = TreeLstm::kClasses;

  void schedule(const TreeBatch &batch) override;
  float *compute(const TreeBatch &batch, float *out) override;
  void forward();
  double classify();
  void backward();
  void step(float rate);

  int32_t hidden_;
  float rate_;
  std::vector<float> E_, b_, d_, e_;
  TrainedMatrix W_, U_, V_;
  TreeLevels schedule_;
  std::vector<int32_t> label_; ///< a slot
  std::vector<float> x_, dx_;  ///< words of the leaves
  std::vector<float> leaf_y_, node_y_;
  std::vector<float> z_; ///< a slot: scores of the classes, then their gradients
  Slots slots_;
};

Training::Training(const TreeLstm &model, const std::vector<TreeBatch> &batches, float rate)
    : Batched(batches), hidden_(model.hidden), rate_(rate), E_(model.E), b_(model.b), d_(model.d),
      e_(model.e), W_(model.W, 3 * model.hidden, kEmbed), U_(model.U, 5 * model.hidden, 2 * model.hidden),
      V_(model.V, kClasses, model.hidden) {
  size_t nodes = 0, leaves = 0, inner = 0;
  for (const TreeBatch &batch : batches) {
    nodes = std::max<size_t>(nodes, batch.nodes());
    leaves = std::max<size_t>(leaves, batch.leaves());
    inner = std::max<size_t>(inner, batch.nodes() - batch.leaves());
  }
  const size_t H = hidden_;
  schedule_.reserve(static_cast<int32_t>(nodes));
  label_.resize(nodes);
  x_.resize(leaves * kEmbed);
  dx_.resize(leaves * kEmbed);
  leaf_y_.resize(leaves * 3 * H);
  node_y_.resize(inner * 5 * H);
  z_.resize(nodes * kClasses);
  for (std::vector<float> *rows : {&slots_.h, &slots_.c, &slots_.t, &slots_.dh, &slots_.dc})
    rows->resize(nodes * H);
}

std::vector<float> Training::parameter(const std::string &name) {
  return name == "E"   ? E_
         : name == "W" ? W_.values()
         : name == "b" ? b_
         : name == "U" ? U_.values()
         : name == "d" ? d_
         : name == "V" ? V_.values()
                       : e_;
}

void Training::schedule(const TreeBatch &batch) {
  schedule_.make(batch);
  for (int32_t n = 0; n < batch.nodes(); ++n)
    label_[schedule_.slot[schedule_.row[n]]] = batch.label[n];
}

void Training::forward() {
  const int64_t H = hidden_;
  const TreeLevels &s = schedule_;
  for (int64_t r = 0; r < s.leaves; ++r)
    std::memcpy(&x_[r * kEmbed], &E_[static_cast<int64_t>(s.word[r]) * kEmbed], kEmbed * sizeof(float));
  W_.forward(x_.data(), s.leaves, leaf_y_.data());
  leaves(H, s.leaves, b_.data(), s.slot.data(), leaf_y_.data(), slots_);
  for (int32_t l = 0; l < s.levels; ++l) {
    const int32_t at = s.begin[l], rows = s.begin[l + 1] - at;
    U_.forward(&slots_.h[2 * at * H], rows, &node_y_[5 * at * H]);
    nodes(H, at, rows, d_.data(), &s.slot[s.leaves + at], &node_y_[5 * at * H], slots_);
  }
}

/// The sum of the nodes' losses; z_ becomes its gradient, and slots_.dh what it gives to the states.
double Training::classify() {
  const int32_t nodes = schedule_.leaves + schedule_.inner;
  V_.forward(slots_.h.data(), nodes, z_.data());
  double loss = 0;
  for (int32_t slot = 0; slot < nodes; ++slot) {
    float *z = &z_[static_cast<int64_t>(slot) * kClasses], p[kClasses];
    for (int32_t k = 0; k < kClasses; ++k)
      z[k] += e_[k];
    softmax(z, p);
    loss -= std::log(p[label_[slot]]);
    std::copy(p, p + kClasses, z);
    z[label_[slot]] -= 1;
  }
  V_.backward(z_.data(), nodes, slots_.dh.data());
  return loss;
}

void Training::backward() {
  const int64_t H = hidden_;
  const TreeLevels &s = schedule_;
  // Nothing is above the roots, whose slots are the last ones.
  std::fill(slots_.dc.begin() + 2 * s.inner * H, slots_.dc.begin() + (s.leaves + s.inner) * H, 0.0F);
  for (int32_t l = s.levels; l-- > 0;) {
    const int32_t at = s.begin[l], rows = s.begin[l + 1] - at;
    nodes_back(H, at, rows, &s.slot[s.leaves + at], slots_, &node_y_[5 * at * H]);
    U_.add_backward(&node_y_[5 * at * H], rows, &slots_.dh[2 * at * H]);
  }
  leaves_back(H, s.leaves, s.slot.data(), slots_, leaf_y_.data());
  W_.backward(leaf_y_.data(), s.leaves, dx_.data());
}

void Training::step(float rate) {
  const TreeLevels &s = schedule_;
  const int32_t nodes = s.leaves + s.inner;
  V_.step(rate, z_.data(), slots_.h.data(), nodes);
  step_bias(rate, z_.data(), nodes, e_);
  U_.step(rate, node_y_.data(), slots_.h.data(), s.inner);
  step_bias(rate, node_y_.data(), s.inner, d_);
  W_.step(rate, leaf_y_.data(), x_.data(), s.leaves);
  step_bias(rate, leaf_y_.data(), s.leaves, b_);
  step_rows(rate, dx_.data(), s.word.data(), s.leaves, kEmbed, E_);
}

float *Training::compute(const TreeBatch &batch, float *out) {
  const auto trees = static_cast<float>(batch.trees());
  forward();
  *out = static_cast<float>(classify() / trees);
  backward();
  step(rate_ / trees);
  return out + 1;
}

} // namespace

std::unique_ptr<Implementation> tree_lstm_cblas_training(const TreeLstm &model,
                                                         const std::vector<TreeBatch> &batches, float rate) {
  return std::make_unique<Training>(model, batches, rate);
}

} // namespace dbc::bench
