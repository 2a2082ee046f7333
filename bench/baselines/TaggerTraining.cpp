// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Training the BiLSTM tagger batched by step by hand, with CBLAS for the products: as TaggerSteps.cpp, and
// back. What needs no state is one product over all words, and so is the gradient of each matrix, which is
// the step at once. Only the vectors of words that there are change.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Batched.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/SentenceSteps.h"
#include "bench/baselines/TrainedMatrix.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cmath>
#include <cstring>

namespace dbc::bench {
namespace {

// A row is a function of its own because compilers trust `__restrict` on parameters only. y: what words and
// states give, without bias, then the activated gates i, f, g, o, then the gradients of what was activated.
// t: tanh(c). `before`: c of the step before, zeros in the first one.

BENCH_INLINE void row(int64_t H, const float *__restrict u, const float *__restrict bias,
                      const float *__restrict before, float *__restrict y, float *__restrict h,
                      float *__restrict c, float *__restrict t) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = quick_sigmoid(y[j] + u[j] + bias[j]),
                f = quick_sigmoid(y[H + j] + u[H + j] + bias[H + j]),
                g = quick_tanh(y[2 * H + j] + u[2 * H + j] + bias[2 * H + j]),
                o = quick_sigmoid(y[3 * H + j] + u[3 * H + j] + bias[3 * H + j]);
    y[j] = i;
    y[H + j] = f;
    y[2 * H + j] = g;
    y[3 * H + j] = o;
    c[j] = f * before[j] + i * g;
    t[j] = quick_tanh(c[j]);
    h[j] = o * t[j];
  }
}

/// dc: gradient of c, from the step behind; becomes that for the step before.
BENCH_INLINE void row_back(int64_t H, const float *__restrict before, const float *__restrict t,
                           const float *__restrict dh, float *__restrict dc, float *__restrict y) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = y[j], f = y[H + j], g = y[2 * H + j], o = y[3 * H + j],
                cell = dc[j] + dh[j] * o * (1 - t[j] * t[j]);
    y[j] = cell * g * i * (1 - i);
    y[H + j] = cell * before[j] * f * (1 - f);
    y[2 * H + j] = cell * i * (1 - g * g);
    y[3 * H + j] = dh[j] * t[j] * o * (1 - o);
    dc[j] = cell * f;
  }
}

DBC_CLONES
void cells(int64_t H, int64_t rows, const float *u, const float *bias, const float *before, float *y,
           float *h, float *c, float *t) {
  for (int64_t r = 0; r < rows; ++r)
    row(H, u + r * 4 * H, bias, before + r * H, y + r * 4 * H, h + r * H, c + r * H, t + r * H);
}

DBC_CLONES
void cells_back(int64_t H, int64_t rows, const float *before, const float *t, const float *dh, float *dc,
                float *y) {
  for (int64_t r = 0; r < rows; ++r)
    row_back(H, before + r * H, t + r * H, dh + r * H, dc + r * H, y + r * 4 * H);
}

DBC_CLONES
void tanh_all(int64_t count, float *x) {
  for (int64_t i = 0; i < count; ++i)
    x[i] = quick_tanh(x[i]);
}

/// dx of y = tanh(x) in place of dy.
DBC_CLONES
void tanh_back(int64_t count, const float *__restrict y, float *__restrict dy) {
  for (int64_t i = 0; i < count; ++i)
    dy[i] *= 1 - y[i] * y[i];
}

/// An LSTM over sentences in one direction. A row a word, step after step.
class Direction {
public:
  Direction(const Parameters &p, const std::string &name, int32_t hidden, int32_t embed, bool backwards)
      : name(name), W_(p[name + "W"], 4 * hidden, embed), U_(p[name + "U"], 4 * hidden, hidden),
        b_(p[name + "b"]), hidden_(hidden), embed_(embed), backwards_(backwards) {}

  void reserve(size_t words, size_t sentences) {
    const size_t H = hidden_;
    word_.resize(words);
    x_.resize(words * embed_);
    dx_.resize(words * embed_);
    y_.resize(words * 4 * H);
    u_.resize(sentences * 4 * H);
    none_.assign(sentences * 4 * H, 0);
    dc_.resize(sentences * H);
    for (std::vector<float> *rows : {&h, &dh, &c_, &t_, &before_})
      rows->resize(words * H);
  }

  /// The row of word `at` of a sentence of `length` words.
  int32_t row_of(const SentenceSteps &s, int32_t sentence, int32_t at, int32_t length) const {
    return s.row(sentence, backwards_ ? length - 1 - at : at);
  }

  void forward(const SentenceSteps &s, const Column &words, const std::vector<float> &E) {
    const int64_t H = hidden_;
    for (int32_t sentence = 0; sentence < s.sentences; ++sentence) {
      const int32_t begin = words.offsets[sentence], length = words.offsets[sentence + 1] - begin;
      for (int32_t at = 0; at < length; ++at) {
        const int64_t r = row_of(s, sentence, at, length);
        word_[r] = words.ints[begin + at];
        std::memcpy(&x_[r * embed_], &E[static_cast<int64_t>(word_[r]) * embed_], embed_ * sizeof(float));
      }
    }
    W_.forward(x_.data(), words.offsets.back(), y_.data());
    for (int32_t step = 0; step < s.steps; ++step) {
      const int64_t at = s.first[step] * H;
      if (step > 0)
        U_.forward(&h[s.first[step - 1] * H], s.count[step], u_.data());
      cells(H, s.count[step], step > 0 ? u_.data() : none_.data(), b_.data(), before(s, step), &y_[4 * at],
            &h[at], &c_[at], &t_[at]);
    }
  }

  /// From dh, to which the steps behind add.
  void backward(const SentenceSteps &s) {
    const int64_t H = hidden_;
    std::fill(dc_.begin(), dc_.end(), 0.0F);
    for (int32_t step = s.steps; step-- > 0;) {
      const int64_t at = s.first[step] * H;
      cells_back(H, s.count[step], before(s, step), &t_[at], &dh[at], dc_.data(), &y_[4 * at]);
      if (step > 0)
        U_.add_backward(&y_[4 * at], s.count[step], &dh[s.first[step - 1] * H]);
    }
  }

  void step(float rate, const SentenceSteps &s, int32_t words, std::vector<float> &E) {
    const int64_t H = hidden_;
    W_.backward(y_.data(), words, dx_.data());
    if (s.steps > 1) {
      // Rows from the second step on, beside the states that they come from.
      const int64_t first = s.first[1];
      for (int32_t t = 1; t < s.steps; ++t)
        std::memcpy(&before_[(s.first[t] - first) * H], &h[s.first[t - 1] * H],
                    s.count[t] * H * sizeof(float));
      U_.step(rate, &y_[first * 4 * H], before_.data(), words - s.first[1]);
    }
    W_.step(rate, y_.data(), x_.data(), words);
    step_bias(rate, y_.data(), words, b_);
    step_rows(rate, dx_.data(), word_.data(), words, embed_, E);
  }

  std::vector<float> parameter(char of) const {
    return of == 'W' ? W_.values() : of == 'U' ? U_.values() : b_;
  }

  const std::string name;
  std::vector<float> h, dh; ///< states and their gradients

private:
  const float *before(const SentenceSteps &s, int32_t step) const {
    return step > 0 ? &c_[static_cast<int64_t>(s.first[step - 1]) * hidden_] : none_.data();
  }

  TrainedMatrix W_, U_;
  std::vector<float> b_;
  int32_t hidden_, embed_;
  bool backwards_;
  std::vector<int32_t> word_;
  std::vector<float> x_, dx_, y_, u_, none_, dc_, c_, t_, before_;
};

class Training final : public Batched<Inputs> {
public:
  Training(const Parameters &p, int32_t hidden, int32_t embed, int32_t tags,
           const std::vector<Inputs> &batches, float rate)
      : Batched(batches), parameters_(p), hidden_(hidden), tags_(tags), rate_(rate),
        E_(p["E"]), directions_{Direction(p, "context.fwd.", hidden, embed, false),
                                Direction(p, "context.bwd.", hidden, embed, true)},
        top_(p["H"], hidden, 2 * hidden), scores_(p["O"], tags, hidden) {
    size_t words = 0, sentences = 0, longest = 0;
    for (const Inputs &batch : batches) {
      const std::vector<int32_t> &offsets = batch.table(0).columns[0].offsets;
      words = std::max<size_t>(words, offsets.back());
      sentences = std::max(sentences, offsets.size() - 1);
      for (size_t s = 0; s + 1 < offsets.size(); ++s)
        longest = std::max<size_t>(longest, offsets[s + 1] - offsets[s]);
    }
    const size_t H = hidden;
    steps_.reserve(static_cast<int32_t>(sentences), static_cast<int32_t>(longest));
    for (Direction &direction : directions_)
      direction.reserve(words, sentences);
    both_.resize(words * 2 * H);
    dboth_.resize(words * 2 * H);
    y_.resize(words * H);
    dy_.resize(words * H);
    z_.resize(words * tags);
  }

  std::vector<float> parameter(const std::string &name) override {
    for (const Direction &direction : directions_)
      if (name.compare(0, direction.name.size(), direction.name) == 0)
        return direction.parameter(name.back());
    // What the loss does not depend on stays as it was.
    return name == "E"   ? E_
           : name == "H" ? top_.values()
           : name == "O" ? scores_.values()
                         : parameters_[name];
  }

private:
  void schedule(const Inputs &batch) override { steps_.make(batch.table(0).columns[0].offsets); }

  float *compute(const Inputs &batch, float *out) override {
    const Column &words = batch.table(0).columns[0];
    const int32_t count = words.offsets.back();
    const auto sentences = static_cast<float>(batch.count());
    for (Direction &direction : directions_)
      direction.forward(steps_, words, E_);
    copy_states(words, /*back=*/false);
    top_.forward(both_.data(), count, y_.data());
    tanh_all(static_cast<int64_t>(count) * hidden_, y_.data());
    scores_.forward(y_.data(), count, z_.data());
    *out = static_cast<float>(loss(count, batch.table(0).columns[1].ints.data()) / sentences);

    scores_.backward(z_.data(), count, dy_.data());
    tanh_back(static_cast<int64_t>(count) * hidden_, y_.data(), dy_.data());
    top_.backward(dy_.data(), count, dboth_.data());
    copy_states(words, /*back=*/true);
    for (Direction &direction : directions_)
      direction.backward(steps_);

    const float rate = rate_ / sentences;
    scores_.step(rate, z_.data(), y_.data(), count);
    top_.step(rate, dy_.data(), both_.data(), count);
    for (Direction &direction : directions_)
      direction.step(rate, steps_, count, E_);
    return out + 1;
  }

  /// Both states of each word, in the order of words: from the directions' rows, or their gradients back.
  void copy_states(const Column &words, bool back) {
    const int64_t H = hidden_;
    for (int32_t s = 0; s < steps_.sentences; ++s) {
      const int32_t begin = words.offsets[s], length = words.offsets[s + 1] - begin;
      for (int32_t at = 0; at < length; ++at)
        for (int d : {0, 1}) {
          const int64_t row = directions_[d].row_of(steps_, s, at, length) * H,
                        both = (2 * (begin + at) + d) * H;
          if (back)
            std::memcpy(&directions_[d].dh[row], &dboth_[both], H * sizeof(float));
          else
            std::memcpy(&both_[both], &directions_[d].h[row], H * sizeof(float));
        }
    }
  }

  /// The sum of the words' cross entropies; z_ becomes its gradient.
  double loss(int32_t words, const int32_t *tag) {
    double sum = 0;
    for (int32_t w = 0; w < words; ++w) {
      float *z = &z_[static_cast<int64_t>(w) * tags_];
      const float most = *std::max_element(z, z + tags_), right = z[tag[w]];
      float all = 0;
      for (int32_t k = 0; k < tags_; ++k)
        all += z[k] = std::exp(z[k] - most);
      sum += std::log(all) + most - right;
      for (int32_t k = 0; k < tags_; ++k)
        z[k] /= all;
      z[tag[w]] -= 1;
    }
    return sum;
  }

  const Parameters &parameters_;
  int32_t hidden_, tags_;
  float rate_;
  std::vector<float> E_;
  Direction directions_[2];
  TrainedMatrix top_, scores_;
  SentenceSteps steps_;
  std::vector<float> both_, dboth_, y_, dy_; ///< a row a word, in the order of words
  std::vector<float> z_;                     ///< scores of the tags, then their gradients
};

} // namespace

std::unique_ptr<Implementation> tagger_cblas_training(const Parameters &parameters, int32_t hidden,
                                                      int32_t embed, int32_t tags,
                                                      const std::vector<Inputs> &batches, float rate) {
  return std::make_unique<Training>(parameters, hidden, embed, tags, batches, rate);
}

} // namespace dbc::bench
