// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The lattice LSTM batched by step by hand. A character waits for the one before it in any case, so that the
// levels of a batch are the positions in its sentences: step t computes character t of every sentence, and
// between the steps all words that begin there. Sentences are sorted by length, longest first, so that those
// which go on are always the first rows, and the states of a step are the contiguous operand of the next
// one's product. A word writes its cell beside those of the others that end at the same step, where the
// product of that step reads it.
#include "bench/baselines/Activation.h"
#include "bench/baselines/Batched.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Products.h"

#include <dbc/math.h> // DBC_CLONES

#include <algorithm>
#include <cstring>
#include <string>

namespace dbc::bench {
namespace {

/// Least rows of a product over what needs no state: it is computed for as many steps as have them together,
/// and what it writes is still in the cache when those steps read it.
constexpr int32_t kWindow = 128;
enum { kChar, kWord };             ///< tables
enum { kGlyph, kBefore, kEnding }; ///< columns of kChar
enum { kForm, kStart };            ///< columns of kWord

/// A character at which no word ends. x: what the glyph gives for the gates i, o, g; u: what the state before
/// gives. `c` becomes the new cell.
DBC_CLONES
void plain_cell(int64_t H, const float *__restrict x, const float *__restrict u, const float *__restrict bias,
                float *__restrict c, float *__restrict h) {
  for (int64_t j = 0; j < H; ++j) {
    const float i = quick_sigmoid(x[j] + u[j] + bias[j]);
    const float g = quick_tanh(x[2 * H + j] + u[2 * H + j] + bias[2 * H + j]);
    c[j] += i * (g - c[j]);
    h[j] = gated_tanh(x[H + j] + u[H + j] + bias[H + j], c[j]);
  }
}

/// A character at which `words` words end: x has the gate of the words behind the others. v: the cells of the
/// words; a: their products. `whole` and `mixed`, H elements each, are scratch. `c` is overwritten.
DBC_CLONES
void mixed_cell(int64_t H, const float *__restrict x, const float *__restrict u, const float *__restrict bias,
                int64_t words, const float *__restrict v, const float *__restrict a, float *__restrict whole,
                float *__restrict mixed, float *__restrict c, float *__restrict h) {
  for (int64_t j = 0; j < H; ++j) {
    whole[j] = quick_exp(quick_sigmoid(x[j] + u[j] + bias[j]));
    mixed[j] = whole[j] * quick_tanh(x[2 * H + j] + u[2 * H + j] + bias[2 * H + j]);
  }
  for (int64_t w = 0; w < words; ++w)
    for (int64_t j = 0; j < H; ++j) {
      const float share = quick_exp(quick_sigmoid(x[3 * H + j] + a[w * H + j]));
      whole[j] += share;
      mixed[j] += share * v[w * H + j];
    }
  for (int64_t j = 0; j < H; ++j) {
    c[j] = mixed[j] / whole[j];
    h[j] = gated_tanh(x[H + j] + u[H + j] + bias[H + j], c[j]);
  }
}

/// A word. x: what its form gives for the gates f, i, g; u: what the state of its first character gives,
/// whose cell is `c`.
DBC_CLONES
void word_cell(int64_t H, const float *__restrict x, const float *__restrict u, const float *__restrict c,
               float *__restrict v) {
  for (int64_t j = 0; j < H; ++j)
    v[j] = quick_sigmoid(x[j] + u[j]) * c[j] + gated_tanh(x[H + j] + u[H + j], x[2 * H + j] + u[2 * H + j]);
}

DBC_CLONES
void add_row(int64_t count, const float *__restrict x, const float *__restrict y, float *__restrict to) {
  for (int64_t j = 0; j < count; ++j)
    to[j] = x[j] + y[j];
}

/// Some columns of some matrices of equally many columns, one below the other.
std::vector<float> columns(const std::vector<const std::vector<float> *> &matrices, int64_t of, int64_t first,
                           int64_t last) {
  std::vector<float> all;
  for (const std::vector<float> *matrix : matrices)
    for (auto row = matrix->begin(); row != matrix->end(); row += of)
      all.insert(all.end(), row + first, row + last);
  return all;
}

class LatticeSteps final : public Batched<Inputs> {
public:
  LatticeSteps(const Parameters &p, int32_t hidden, int32_t embed, int32_t tags,
               const std::vector<Inputs> &batches);

private:
  /// One direction of the lattice: its weights, and what of the batch at hand is read that way. Rows are its
  /// characters, step after step.
  struct Direction {
    Direction(const Parameters &p, const std::string &lattice, int32_t hidden, int32_t embed, int32_t tags,
              int32_t sentences, bool back);

    const float *b;
    Product x_char;          ///< embed -> 4 H: of a glyph, the gates i, o, g, and that of the words
    Product x_word;          ///< embed -> 3 H: of a form
    Product h_char;          ///< H -> 3 H
    Product h_word;          ///< H -> 3 H
    Product v_share;         ///< H -> H: of the cell of a word, its gate
    Product out;             ///< H -> tags
    std::vector<float> tags; ///< a row: its share of the scores

    std::vector<int32_t> glyph;  ///< a row
    std::vector<int32_t> ending; ///< ending[r] .. ending[r + 1] - 1 are the slots of the words ending at r
    std::vector<int32_t> words;  ///< words[r] .. words[r + 1] - 1 are the words that begin at row r
    std::vector<int32_t> form;   ///< a word
    std::vector<int32_t> slot;   ///< a word: where its cell goes
  };

  void schedule(const Inputs &batch) override;
  void sort_sentences(const Column &list);
  void map_rows(const Inputs &batch, const Column &list, Direction &d);
  float *compute(const Inputs &batch, float *out) override;
  void run(Direction &d);
  void window(const Direction &d, int32_t first, int32_t last);
  void step(const Direction &d, int32_t t, int32_t window);

  int32_t hidden_, embed_, tags_;
  const float *G_, *D_;
  Direction directions_[2];
  // The batch at hand.
  int32_t sentences_ = 0, steps_ = 0;
  std::vector<int32_t> counts_;        ///< a step: the sentences that have it
  std::vector<int32_t> first_;         ///< a step: its first row; the last is behind them all
  std::vector<int32_t> position_;      ///< a sentence: its row in each of its steps
  std::vector<int32_t> next_position_; ///< a length: the next position
  std::vector<int32_t> step_;          ///< a character
  std::vector<int32_t> row_;           ///< a character
  std::vector<float> x_;               ///< embeddings of a window
  std::vector<float> x_char_, x_word_; ///< a window: what glyphs and forms give
  std::vector<float> h_;               ///< rows
  std::vector<float> c_;               ///< a sentence, of the last step
  std::vector<float> v_;               ///< slots
  std::vector<float> u_, a_;           ///< a step: products of states, and of words
  std::vector<float> starts_;          ///< a step: states of characters at which words begin
  std::vector<float> whole_, mixed_;
};

LatticeSteps::Direction::Direction(const Parameters &p, const std::string &lattice, int32_t hidden,
                                   int32_t embed, int32_t tags, int32_t sentences, bool back)
    : b(p[lattice + "b"].data()),
      x_char(columns({&p[lattice + "W"], &p[lattice + "Wa"]}, embed + hidden, 0, embed).data(), 4 * hidden,
             embed, kWindow),
      x_word(columns({&p[lattice + "Ww"]}, embed + hidden, 0, embed).data(), 3 * hidden, embed, kWindow),
      h_char(columns({&p[lattice + "W"]}, embed + hidden, embed, embed + hidden).data(), 3 * hidden, hidden,
             sentences),
      h_word(columns({&p[lattice + "Ww"]}, embed + hidden, embed, embed + hidden).data(), 3 * hidden, hidden,
             sentences),
      v_share(columns({&p[lattice + "Wa"]}, embed + hidden, embed, embed + hidden).data(), hidden, hidden,
              sentences),
      out(columns({&p["O"]}, 2 * hidden, back ? hidden : 0, back ? 2 * hidden : hidden).data(), tags, hidden,
          kWindow) {}

int32_t most_sentences(const std::vector<Inputs> &batches) {
  int32_t most = 1;
  for (const Inputs &batch : batches)
    most = std::max(most, batch.count());
  return most;
}

LatticeSteps::LatticeSteps(const Parameters &p, int32_t hidden, int32_t embed, int32_t tags,
                           const std::vector<Inputs> &batches)
    : Batched(batches), hidden_(hidden), embed_(embed), tags_(tags), G_(p["G"].data()),
      D_(p["D"].data()), directions_{
                             Direction(p, "fwd.", hidden, embed, tags, most_sentences(batches), false),
                             Direction(p, "bwd.", hidden, embed, tags, most_sentences(batches), true)} {
  const size_t H = hidden, sentences = most_sentences(batches);
  size_t chars = 0, words = 0, longest = 0;
  for (const Inputs &batch : batches) {
    const std::vector<int32_t> &offsets = batch.arguments().columns[0].offsets;
    for (size_t s = 0; s + 1 < offsets.size(); ++s)
      longest = std::max<size_t>(longest, offsets[s + 1] - offsets[s]);
    chars = std::max<size_t>(chars, batch.table(kChar).rows());
    words = std::max<size_t>(words, batch.table(kWord).rows());
  }
  for (std::vector<int32_t> *numbers : {&step_, &row_})
    numbers->resize(chars);
  for (std::vector<int32_t> *numbers : {&counts_, &first_, &next_position_})
    numbers->resize(longest + 2);
  position_.resize(sentences);
  for (Direction &d : directions_) {
    d.glyph.resize(chars);
    d.ending.resize(chars + 2);
    d.words.resize(chars + 2);
    d.form.resize(words);
    d.slot.resize(words);
    d.tags.resize(chars * tags);
  }
  // Windows and steps take less than that, mostly: they use the beginning only.
  x_.resize(std::max(chars, words) * embed);
  x_char_.resize(chars * 4 * H);
  x_word_.resize(words * 3 * H);
  h_.resize(chars * H);
  c_.resize(sentences * H);
  v_.resize(words * H);
  u_.resize(sentences * 3 * H);
  a_.resize(words * H);
  starts_.resize(sentences * H);
  whole_.resize(H);
  mixed_.resize(H);
}
/// Gives the sentences their positions by counting: by length, longest first. `list` has their characters.
void LatticeSteps::sort_sentences(const Column &list) {
  const std::vector<int32_t> &offsets = list.offsets;
  sentences_ = static_cast<int32_t>(offsets.size()) - 1;
  steps_ = 0;
  std::fill(counts_.begin(), counts_.end(), 0);
  for (int32_t s = 0; s < sentences_; ++s) {
    const int32_t length = offsets[s + 1] - offsets[s];
    steps_ = std::max(steps_, length);
    ++counts_[length];
  }
  // counts_[n] becomes the number of sentences longer than n: those that take part in step n, and the
  // position of the first of length n.
  int32_t longer = 0;
  for (int32_t length = steps_; length >= 0; --length) {
    const int32_t here = counts_[length];
    next_position_[length] = counts_[length] = longer;
    longer += here;
  }
  first_[0] = 0;
  for (int32_t t = 0; t < steps_; ++t)
    first_[t + 1] = first_[t] + counts_[t];
  for (int32_t s = 0; s < sentences_; ++s)
    position_[s] = next_position_[offsets[s + 1] - offsets[s]]++;
}

/// Sorts what is read in one direction by rows. A list of `list` has the characters of a sentence.
void LatticeSteps::map_rows(const Inputs &batch, const Column &list, Direction &d) {
  const std::vector<Column> &chars = batch.table(kChar).columns, &words = batch.table(kWord).columns;
  const Column &ending = chars[kEnding];
  const std::vector<int32_t> &start = words[kStart].ints;
  const int32_t rows = first_[steps_];
  std::fill_n(d.words.begin(), rows + 2, 0);
  for (int32_t s = 0; s < sentences_; ++s)
    for (int32_t i = list.offsets[s]; i < list.offsets[s + 1]; ++i) {
      const int32_t n = list.ints[i], row = first_[step_[n]] + position_[s];
      row_[n] = row;
      d.glyph[row] = chars[kGlyph].ints[n];
      d.ending[row + 1] = ending.offsets[n + 1] - ending.offsets[n];
    }
  d.ending[0] = 0;
  for (int32_t row = 0; row < rows; ++row)
    d.ending[row + 1] += d.ending[row];
  // The positions of the words that begin at a row stand one further on until all words have got theirs.
  for (int32_t n : list.ints)
    for (int32_t e = ending.offsets[n]; e < ending.offsets[n + 1]; ++e)
      ++d.words[row_[start[ending.ints[e]]] + 2];
  for (int32_t row = 0; row < rows; ++row)
    d.words[row + 2] += d.words[row + 1];
  for (int32_t n : list.ints)
    for (int32_t e = ending.offsets[n]; e < ending.offsets[n + 1]; ++e) {
      const int32_t word = ending.ints[e], at = d.words[row_[start[word]] + 1]++;
      d.form[at] = words[kForm].ints[word];
      d.slot[at] = d.ending[row_[n]] + e - ending.offsets[n];
    }
}

void LatticeSteps::schedule(const Inputs &batch) {
  const Column &before = batch.table(kChar).columns[kBefore];
  const std::vector<Column> &lists = batch.arguments().columns;
  for (int32_t n = 0; n < batch.table(kChar).rows(); ++n) // a character comes behind the one before it
    step_[n] = before.offsets[n] < before.offsets[n + 1] ? step_[before.ints[before.offsets[n]]] + 1 : 0;
  sort_sentences(lists[0]);
  for (int back : {0, 1})
    map_rows(batch, lists[back], directions_[back]);
}

/// What needs no state, for rows first .. last - 1 and the words that begin there.
void LatticeSteps::window(const Direction &d, int32_t first, int32_t last) {
  for (int32_t row = first; row < last; ++row)
    std::memcpy(&x_[static_cast<int64_t>(row - first) * embed_],
                &G_[static_cast<int64_t>(d.glyph[row]) * embed_], embed_ * sizeof(float));
  d.x_char.run(x_.data(), last - first, x_char_.data());
  const int32_t word = d.words[first], end = d.words[last];
  for (int32_t w = word; w < end; ++w)
    std::memcpy(&x_[static_cast<int64_t>(w - word) * embed_], &D_[static_cast<int64_t>(d.form[w]) * embed_],
                embed_ * sizeof(float));
  d.x_word.run(x_.data(), end - word, x_word_.data());
}

/// Characters t of all sentences, and the words that begin there. The window begins at row `window`.
void LatticeSteps::step(const Direction &d, int32_t t, int32_t window) {
  const int64_t H = hidden_;
  const int32_t first = first_[t], last = first_[t + 1];
  if (t > 0)
    d.h_char.run(&h_[first_[t - 1] * H], last - first, u_.data());
  const int32_t slot = d.ending[first];
  d.v_share.run(&v_[slot * H], d.ending[last] - slot, a_.data());
  int32_t starts = 0;
  for (int32_t row = first; row < last; ++row) {
    const int64_t r = row - first;
    const float *x = &x_char_[(row - window) * 4 * H], *u = &u_[r * 3 * H];
    float *c = &c_[r * H], *h = &h_[row * H];
    if (d.ending[row] == d.ending[row + 1])
      plain_cell(H, x, u, d.b, c, h);
    else
      mixed_cell(H, x, u, d.b, d.ending[row + 1] - d.ending[row], &v_[d.ending[row] * H],
                 &a_[(d.ending[row] - slot) * H], whole_.data(), mixed_.data(), c, h);
    if (d.words[row] < d.words[row + 1])
      std::memcpy(&starts_[starts++ * H], h, H * sizeof(float));
  }
  d.h_word.run(starts_.data(), starts, u_.data());
  const float *u = u_.data();
  for (int32_t row = first; row < last; ++row) {
    for (int32_t w = d.words[row]; w < d.words[row + 1]; ++w)
      word_cell(H, &x_word_[(w - d.words[window]) * 3 * H], u, &c_[(row - first) * H], &v_[d.slot[w] * H]);
    if (d.words[row] < d.words[row + 1])
      u += 3 * H;
  }
}

/// The states of one direction, and their share of the scores.
void LatticeSteps::run(Direction &d) {
  const int64_t H = hidden_;
  std::fill_n(u_.begin(), sentences_ * 3 * H, 0.0f);
  std::fill_n(c_.begin(), sentences_ * H, 0.0f);
  for (int32_t t = 0; t < steps_;) {
    const int32_t first = first_[t];
    int32_t end = t + 1;
    while (end < steps_ && first_[end] - first < kWindow)
      ++end;
    window(d, first, first_[end]);
    for (; t < end; ++t)
      step(d, t, first);
    d.out.run(&h_[first * H], first_[end] - first, &d.tags[static_cast<int64_t>(first) * tags_]);
  }
}

float *LatticeSteps::compute(const Inputs &batch, float *out) {
  for (Direction &d : directions_)
    run(d);
  const std::vector<Column> &lists = batch.arguments().columns;
  for (size_t i = 0; i < lists[0].ints.size(); ++i, out += tags_)
    add_row(tags_, &directions_[0].tags[static_cast<int64_t>(row_[lists[0].ints[i]]) * tags_],
            &directions_[1].tags[static_cast<int64_t>(row_[lists[1].ints[i]]) * tags_], out);
  return out;
}

} // namespace

std::unique_ptr<Implementation> lattice_cblas(const Parameters &parameters, int32_t hidden, int32_t embed,
                                              int32_t tags, const std::vector<Inputs> &batches) {
  return std::make_unique<LatticeSteps>(parameters, hidden, embed, tags, batches);
}

} // namespace dbc::bench
