// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The BiLSTM tagger batched by step by hand. Sentences are sorted by length, longest first, so that those
// which go on are always the first rows, and the states of a step are the contiguous operand of the next
// one's product.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Batched.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Products.h"
#include "bench/baselines/SentenceSteps.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dbc::bench {
namespace {

constexpr int32_t kBlock = 256; ///< rows of a product over all words

/// Gates i, f, g, o of some rows: what the words give, what the states give, and the bias. `before` is null
/// at the first step.
DBC_CLONES
void cells(int64_t H, int64_t rows, const float *x, const float *u, const float *bias, const float *before,
           float *h, float *c) {
  for (int64_t r = 0; r < rows; ++r) {
    const float *__restrict a = x + r * 4 * H;
    float *__restrict hr = h + r * H, *__restrict cr = c + r * H;
    if (before) {
      const float *__restrict b = u + r * 4 * H, *__restrict old = before + r * H;
      for (int64_t j = 0; j < H; ++j) {
        cr[j] = quick_sigmoid(a[H + j] + b[H + j] + bias[H + j]) * old[j] +
                gated_tanh(a[j] + b[j] + bias[j], a[2 * H + j] + b[2 * H + j] + bias[2 * H + j]);
        hr[j] = gated_tanh(a[3 * H + j] + b[3 * H + j] + bias[3 * H + j], cr[j]);
      }
    } else {
      for (int64_t j = 0; j < H; ++j) {
        cr[j] = gated_tanh(a[j] + bias[j], a[2 * H + j] + bias[2 * H + j]);
        hr[j] = gated_tanh(a[3 * H + j] + bias[3 * H + j], cr[j]);
      }
    }
  }
}

DBC_CLONES
void tanh_all(int64_t count, float *x) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = quick_tanh(x[i]);
}

class TaggerSteps final : public Batched<Inputs> {
public:
  TaggerSteps(const Parameters &p, int32_t hidden, int32_t embed, int32_t tags,
              const std::vector<Inputs> &batches)
      : Batched(batches), hidden_(hidden), embed_(embed), tags_(tags),
        E_(p["E"].data()), directions_{Direction(p, "context.fwd.", hidden, embed, most_sentences(batches)),
                                       Direction(p, "context.bwd.", hidden, embed, most_sentences(batches))},
        top_(p["H"].data(), hidden, 2 * hidden, kBlock), scores_(p["O"].data(), tags, hidden, kBlock) {
    size_t words = 0, sentences = most_sentences(batches), longest = 0;
    for (const Inputs &batch : batches) {
      const std::vector<int32_t> &offsets = batch.table(0).columns[0].offsets;
      words = std::max<size_t>(words, offsets.back());
      for (size_t s = 0; s + 1 < offsets.size(); ++s)
        longest = std::max<size_t>(longest, offsets[s + 1] - offsets[s]);
    }
    const size_t H = hidden;
    steps_.reserve(static_cast<int32_t>(sentences), static_cast<int32_t>(longest));
    x_.resize(std::max(kBlock * static_cast<size_t>(embed), kBlock * 2 * H));
    gates_.resize(words * 4 * H);
    u_.resize(sentences * 4 * H);
    y_.resize(kBlock * H);
    for (std::vector<float> &h : h_)
      h.resize(words * H);
    c_.resize(words * H);
  }

private:
  struct Direction {
    Direction(const Parameters &p, const std::string &lstm, int32_t hidden, int32_t embed, int32_t sentences)
        : W(p[lstm + "W"].data(), 4 * hidden, embed, kBlock),
          U(p[lstm + "U"].data(), 4 * hidden, hidden, sentences), b(p[lstm + "b"].data()) {}
    Product W, U;
    const float *b;
  };

  static int32_t most_sentences(const std::vector<Inputs> &batches) {
    int32_t most = 1;
    for (const Inputs &batch : batches)
      most = std::max(most, batch.table(0).rows());
    return most;
  }

  void schedule(const Inputs &batch) override { steps_.make(batch.table(0).columns[0].offsets); }

  float *compute(const Inputs &batch, float *out) override {
    const Column &words = batch.table(0).columns[0];
    for (int back : {0, 1})
      run(words, back);
    score(words, out);
    return out + static_cast<int64_t>(words.offsets.back()) * tags_;
  }

  void run(const Column &words, int back) {
    const Direction &d = directions_[back];
    const int64_t H = hidden_;
    float *h = h_[back].data(), *c = c_.data();
    // What the words give, in blocks.
    int32_t row = 0, filled = 0;
    auto flush = [&] {
      d.W.run(x_.data(), filled, &gates_[static_cast<int64_t>(row) * 4 * H]);
      row += filled;
      filled = 0;
    };
    for (int32_t t = 0; t < steps_.steps; ++t)
      for (int32_t r = 0; r < steps_.count[t]; ++r) {
        int32_t s = steps_.order[r], begin = words.offsets[s], length = words.offsets[s + 1] - begin;
        int32_t word = words.ints[begin + (back ? length - 1 - t : t)];
        std::memcpy(&x_[static_cast<int64_t>(filled) * embed_], &E_[static_cast<int64_t>(word) * embed_],
                    embed_ * sizeof(float));
        if (++filled == kBlock)
          flush();
      }
    flush();
    for (int32_t t = 0; t < steps_.steps; ++t) {
      int64_t at = steps_.first[t] * H;
      if (t > 0)
        d.U.run(h + steps_.first[t - 1] * H, steps_.count[t], u_.data());
      cells(H, steps_.count[t], &gates_[4 * at], u_.data(), d.b,
            t > 0 ? c + steps_.first[t - 1] * H : nullptr, h + at, c + at);
    }
  }

  void score(const Column &words, float *out) {
    const int64_t H = hidden_;
    int32_t filled = 0;
    auto flush = [&] {
      top_.run(x_.data(), filled, y_.data());
      tanh_all(filled * H, y_.data());
      scores_.run(y_.data(), filled, out);
      out += static_cast<int64_t>(filled) * tags_;
      filled = 0;
    };
    for (int32_t s = 0; s < steps_.sentences; ++s) {
      int32_t length = words.offsets[s + 1] - words.offsets[s];
      for (int32_t t = 0; t < length; ++t) {
        float *x = &x_[static_cast<int64_t>(filled) * 2 * H];
        std::memcpy(x, &h_[0][steps_.row(s, t) * H], H * sizeof(float));
        std::memcpy(x + H, &h_[1][steps_.row(s, length - 1 - t) * H], H * sizeof(float));
        if (++filled == kBlock)
          flush();
      }
    }
    flush();
  }

  int32_t hidden_, embed_, tags_;
  const float *E_;
  Direction directions_[2];
  Product top_, scores_;
  SentenceSteps steps_; ///< of the batch at hand
  std::vector<float> x_, gates_, u_, y_, h_[2], c_;
};

} // namespace

std::unique_ptr<Implementation> tagger_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                             int32_t tags, const std::vector<Inputs> &batches) {
  return std::make_unique<TaggerSteps>(parameters, hidden, embed, tags, batches);
}

} // namespace dbc::bench
