// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The gated graph network batched by step by hand: all atoms of the batch take a step together. Bonds are
// sorted by kind, so that each kind is one product over the gathered states of the atoms that they lead to.
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

constexpr int32_t kBlock = 256; ///< rows of a product
enum { kAtom, kBond };          ///< tables
enum { kX, kBonds };            ///< columns of atoms
enum { kKind, kTo };            ///< columns of bonds

DBC_CLONES
void add_row(int64_t H, const float *__restrict x, const float *__restrict bias, float *__restrict to) {
  for (int64_t j = 0; j < H; ++j)
    to[j] += x[j] + bias[j];
}

/// Gates r, z, n: p of the message, q of the state.
DBC_CLONES
void gru(int64_t H, const float *__restrict p, const float *__restrict b, const float *__restrict q,
         const float *__restrict d, const float *__restrict h, float *__restrict next) {
  for (int64_t j = 0; j < H; ++j) {
    float r = quick_sigmoid(p[j] + b[j] + q[j] + d[j]);
    float z = quick_sigmoid(p[H + j] + b[H + j] + q[H + j] + d[H + j]);
    float n = quick_tanh(p[2 * H + j] + b[2 * H + j] + r * (q[2 * H + j] + d[2 * H + j]));
    next[j] = n + z * (h[j] - n);
  }
}

class GgnnSteps final : public Batched<Inputs> {
public:
  GgnnSteps(const Parameters &p, int32_t hidden, int32_t features, int32_t kinds, int32_t steps,
            const std::vector<Inputs> &batches)
      : Batched(batches), hidden_(hidden), features_(features), steps_(steps), parameters_(p),
        lift_(p["lift.W"].data(), hidden, features, kBlock),
        W_(p["gru.W"].data(), 3 * hidden, hidden, kBlock), U_(p["gru.U"].data(), 3 * hidden, hidden, kBlock) {
    const size_t H = hidden;
    for (int32_t k = 0; k < kinds; ++k)
      along_.emplace_back(p["along.W"].data() + k * H * H, hidden, hidden, kBlock);
    size_t atoms = 0, bonds = 0;
    for (const Inputs &batch : batches) {
      atoms = std::max<size_t>(atoms, batch.table(kAtom).rows());
      bonds = std::max<size_t>(bonds, batch.table(kBond).rows());
    }
    from_.resize(bonds);
    to_.resize(bonds);
    begin_.resize(kinds + 2);
    for (std::vector<float> *states : {&h_, &next_, &m_})
      states->resize(atoms * H);
    x_.resize(kBlock * H);
    y_.resize(kBlock * H);
    p_.resize(kBlock * 3 * H);
    q_.resize(kBlock * 3 * H);
  }

private:
  /// Sorts the bonds by kind: from_ is the atom that has one, to_ the atom that it leads to.
  void schedule(const Inputs &batch) override {
    const Column &bonds = batch.table(kAtom).columns[kBonds];
    const std::vector<int32_t> &kind = batch.table(kBond).columns[kKind].ints,
                               &to = batch.table(kBond).columns[kTo].ints;
    std::fill(begin_.begin(), begin_.end(), 0);
    for (int32_t bond : bonds.ints)
      ++begin_[kind[bond] + 2];
    for (size_t k = 2; k < begin_.size(); ++k)
      begin_[k] += begin_[k - 1];
    for (int32_t a = 0; a < batch.table(kAtom).rows(); ++a)
      for (int32_t e = bonds.offsets[a]; e < bonds.offsets[a + 1]; ++e) {
        int32_t at = begin_[kind[bonds.ints[e]] + 1]++;
        from_[at] = a;
        to_[at] = to[bonds.ints[e]];
      }
  }

  float *compute(const Inputs &batch, float *out) override {
    const int64_t H = hidden_;
    const int32_t atoms = batch.table(kAtom).rows();
    const float *x = batch.table(kAtom).columns[kX].floats.data(), *lift = parameters_["lift.b"].data();
    std::fill(h_.begin(), h_.end(), 0.0f);
    for (int32_t at = 0; at < atoms; at += kBlock) {
      int32_t rows = std::min(kBlock, atoms - at);
      lift_.run(x + static_cast<int64_t>(at) * features_, rows, y_.data());
      for (int64_t r = 0; r < rows; ++r)
        add_row(H, &y_[r * H], lift, &h_[(at + r) * H]);
    }
    const float *along = parameters_["along.b"].data(), *b = parameters_["gru.b"].data(),
                *d = parameters_["gru.d"].data();
    for (int32_t t = 0; t < steps_; ++t) {
      std::fill(m_.begin(), m_.begin() + atoms * H, 0.0f);
      for (size_t k = 0; k < along_.size(); ++k)
        for (int32_t at = begin_[k]; at < begin_[k + 1]; at += kBlock) {
          int32_t rows = std::min(kBlock, begin_[k + 1] - at);
          for (int64_t r = 0; r < rows; ++r)
            std::memcpy(&x_[r * H], &h_[to_[at + r] * H], H * sizeof(float));
          along_[k].run(x_.data(), rows, y_.data());
          for (int64_t r = 0; r < rows; ++r)
            add_row(H, &y_[r * H], along + k * H, &m_[from_[at + r] * H]);
        }
      for (int32_t at = 0; at < atoms; at += kBlock) {
        int32_t rows = std::min(kBlock, atoms - at);
        W_.run(&m_[at * H], rows, p_.data());
        U_.run(&h_[at * H], rows, q_.data());
        for (int64_t r = 0; r < rows; ++r)
          gru(H, &p_[r * 3 * H], b, &q_[r * 3 * H], d, &h_[(at + r) * H], &next_[(at + r) * H]);
      }
      h_.swap(next_);
    }
    readout(batch, out);
    return out + batch.count();
  }

  void readout(const Inputs &batch, float *out) {
    const int64_t H = hidden_;
    const float *gate = parameters_["gate.W"].data(), *value = parameters_["value.W"].data();
    const float *x = batch.table(kAtom).columns[kX].floats.data();
    for (int32_t i = 0; i < batch.count(); ++i) {
      out[i] = 0;
      for (int32_t a = batch.table(kAtom).begin[i]; a < batch.table(kAtom).begin[i + 1]; ++a) {
        const float *h = &h_[a * H];
        float g = parameters_["gate.b"][0], v = parameters_["value.b"][0];
        for (int64_t j = 0; j < H; ++j) {
          g += gate[j] * h[j];
          v += value[j] * h[j];
        }
        for (int64_t j = 0; j < features_; ++j)
          g += gate[H + j] * x[a * features_ + j];
        out[i] += v / (1 + std::exp(-g));
      }
    }
  }

  int32_t hidden_, features_, steps_;
  const Parameters &parameters_;
  Product lift_, W_, U_;
  std::vector<Product> along_; ///< a kind
  // The batch at hand.
  std::vector<int32_t> from_, to_, begin_; ///< bonds by kind; begin_[k] .. begin_[k + 1] - 1 are of kind k
  std::vector<float> h_, next_, m_, x_, y_, p_, q_;
};

} // namespace

std::unique_ptr<Implementation> ggnn_cblas(const Parameters &parameters, int32_t hidden, int32_t features,
                                           int32_t kinds, int32_t steps, const std::vector<Inputs> &batches) {
  return std::make_unique<GgnnSteps>(parameters, hidden, features, kinds, steps, batches);
}

} // namespace dbc::bench
