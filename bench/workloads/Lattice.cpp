// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `lattice`: test/models/lattice_lstm.dyn on sentences of characters with the words found in
// them.
#include "bench/Random.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/Workloads.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace dbc::bench {
namespace {

constexpr int32_t kGlyphs = 3000, kWords = 12000, kTags = 18, kEmbed = 50;
enum { kChar, kWord };             ///< tables
enum { kGlyph, kBefore, kEnding }; ///< columns of kChar
enum { kForm, kStart };            ///< columns of kWord
enum { kForwards, kBackwards };    ///< arguments

/// A sentence: its characters, and the words from one character to another.
struct Sentence {
  struct Word {
    int32_t form, first, last;
  };
  std::vector<int32_t> glyphs;
  std::vector<Word> words;
};

class Lattice final : public Workload {
public:
  explicit Lattice(int32_t hidden) : Workload(hidden) {
    const int64_t H = hidden, in = kEmbed + H;
    parameters.draw("G", kGlyphs * kEmbed, 1);
    parameters.draw("D", kWords * kEmbed, 1);
    for (const char *direction : {"fwd.", "bwd."}) {
      const std::string lattice = direction;
      parameters.draw(lattice + "W", 3 * H * in, 2 * glorot(H, in));
      parameters.draw(lattice + "b", 3 * H, 0.1);
      parameters.draw(lattice + "Ww", 3 * H * in, 2 * glorot(H, in));
      parameters.draw(lattice + "Wa", H * in, 2 * glorot(H, in));
    }
    parameters.draw("O", kTags * 2 * H, 4 * glorot(kTags, 2 * H));
  }
  const char *entry() const override { return "scores"; }
  Data load(const std::string &data, std::string &error) const override;
  int64_t instances(const Inputs &inputs) const override {
    return int64_t(inputs.table(kChar).rows()) + inputs.table(kWord).rows();
  }
  int64_t values(const Inputs &inputs) const override {
    return int64_t(inputs.table(kChar).rows()) / 2 * kTags;
  }
  double flops(const Inputs &inputs) const override {
    const double H = hidden, chars = inputs.table(kChar).rows(), words = inputs.table(kWord).rows();
    return 2 * ((3 * chars + 4 * words) * H * (kEmbed + H) + chars / 2 * kTags * 2 * H);
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", lattice_cblas(parameters, hidden, kEmbed, kTags, batches)});
    return one;
  }
};

/// Adds one direction of a sentence: each character has the one before it and the words that end there.
void add_direction(const Sentence &sentence, Inputs &inputs) {
  Table &chars = inputs.table(kChar), &words = inputs.table(kWord);
  const auto first = static_cast<int32_t>(chars.columns[kGlyph].ints.size());
  const auto first_word = static_cast<int32_t>(words.columns[kForm].ints.size());
  for (size_t i = 0; i < sentence.glyphs.size(); ++i) {
    const auto at = static_cast<int32_t>(i);
    chars.columns[kGlyph].ints.push_back(sentence.glyphs[i]);
    if (at > 0)
      chars.columns[kBefore].ints.push_back(first + at - 1);
    chars.columns[kBefore].end_list();
    for (size_t w = 0; w < sentence.words.size(); ++w)
      if (sentence.words[w].last == at)
        chars.columns[kEnding].ints.push_back(first_word + static_cast<int32_t>(w));
    chars.columns[kEnding].end_list();
  }
  for (const Sentence::Word &word : sentence.words) {
    words.columns[kForm].ints.push_back(word.form);
    words.columns[kStart].ints.push_back(first + word.first);
  }
}

void add(Sentence sentence, Inputs &inputs) {
  const auto count = static_cast<int32_t>(sentence.glyphs.size());
  const auto words = static_cast<int32_t>(sentence.words.size());
  const int32_t first = inputs.table(kChar).rows();
  add_direction(sentence, inputs);
  // Backwards a word ends where it began.
  std::reverse(sentence.glyphs.begin(), sentence.glyphs.end());
  for (Sentence::Word &word : sentence.words)
    word = {word.form, count - 1 - word.last, count - 1 - word.first};
  add_direction(sentence, inputs);
  std::vector<Column> &arguments = inputs.arguments().columns;
  for (int32_t i = 0; i < count; ++i) {
    arguments[kForwards].ints.push_back(first + i);
    arguments[kBackwards].ints.push_back(first + 2 * count - 1 - i);
  }
  arguments[kForwards].end_list();
  arguments[kBackwards].end_list();
  inputs.end_input({2 * count, 2 * words});
}

/// The next lattice of a file of ED-Batch: positions, their tags, and for each position the arcs (from, id)
/// that end there; that from the position before is a character, any other a word. False if it is none.
bool read(std::istream &file, Sentence &sentence) {
  int32_t positions = 0, arcs, from, id;
  file >> positions;
  for (int32_t p = 0; p < positions; ++p)
    file >> id;
  for (int32_t p = 0; p < positions; ++p) {
    file >> arcs;
    for (int32_t a = 0; file && a < arcs; ++a) {
      file >> from >> id;
      if (!file || from < 0 || from >= p)
        return false;
      if (from == p - 1)
        sentence.glyphs.push_back(id % kGlyphs);
      else
        sentence.words.push_back({id % kWords, from, p - 1});
    }
  }
  return file && static_cast<int32_t>(sentence.glyphs.size()) == positions - 1;
}

/// Sentences of about as many characters and words as the real ones have.
Sentence generate(Random &random) {
  Sentence sentence;
  const int32_t count = 12 + random.below(40) + random.below(40);
  for (int32_t i = 0; i < count; ++i) {
    sentence.glyphs.push_back(random.below(kGlyphs));
    for (int32_t span : {2, 3})
      if (i + 1 >= span && random.uniform() < 0.3)
        sentence.words.push_back({random.below(kWords), i + 1 - span, i});
  }
  return sentence;
}

Data Lattice::load(const std::string &data, std::string &error) const {
  Data loaded{Inputs({{"Char", {numbers("glyph"), lists("before", kChar), lists("ending", kWord)}},
                      {"Word", {numbers("form"), numbers("start", kChar)}}},
                     {lists("f", kChar), lists("b", kChar)}),
              "lattice_ner dev"};
  std::string path = data + "/lattice_ner/edbatch_lattice.dev.txt";
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s is absent: lattices are generated\n", path.c_str());
    loaded.name = "generated";
    Random random(1);
    for (int32_t l = 0; l < 113; ++l)
      add(generate(random), loaded.inputs);
    return loaded;
  }
  int32_t count = 0;
  file >> count;
  for (int32_t l = 0; l < count; ++l) {
    Sentence sentence;
    if (!read(file, sentence)) {
      error = path + ": lattice " + std::to_string(l) + " is malformed";
      break;
    }
    add(std::move(sentence), loaded.inputs);
  }
  return loaded;
}

std::vector<double> Lattice::reference(const Inputs &inputs) const {
  using namespace naive;
  const size_t H = hidden;
  const Table &chars = inputs.table(kChar), &words = inputs.table(kWord);
  const Column &before = chars.columns[kBefore], &ending = chars.columns[kEnding];
  std::vector<Vector> h(chars.rows()), c(chars.rows());
  Vector out;
  for (int32_t s = 0; s < inputs.count(); ++s) {
    const int32_t begin = chars.begin[s], end = chars.begin[s + 1];
    for (int32_t t = begin; t < end; ++t) {
      // The first half of a sentence's characters is read forwards, the other backwards.
      const std::string lattice = t < begin + (end - begin) / 2 ? "fwd." : "bwd.";
      Vector x = row(parameters["G"], chars.columns[kGlyph].ints[t], kEmbed), h0(H), c0(H);
      for (int32_t e = before.offsets[t]; e < before.offsets[t + 1]; ++e) {
        h0 = sum(h0, h[before.ints[e]]);
        c0 = sum(c0, c[before.ints[e]]);
      }
      Vector y = affine(parameters[lattice + "W"], join(x, h0), parameters[lattice + "b"]);
      // The shares of the character itself and of the words, which add up to 1.
      Vector whole(H), mixed(H);
      for (int32_t e = ending.offsets[t]; e < ending.offsets[t + 1]; ++e) {
        const int32_t w = ending.ints[e], start = words.columns[kStart].ints[w];
        Vector form = row(parameters["D"], words.columns[kForm].ints[w], kEmbed), cell(H);
        Vector gates = product(parameters[lattice + "Ww"], 3 * hidden, join(form, h[start]));
        for (size_t j = 0; j < H; ++j)
          cell[j] = sigmoid(gates[j]) * c[start][j] + sigmoid(gates[H + j]) * std::tanh(gates[2 * H + j]);
        Vector a = product(parameters[lattice + "Wa"], hidden, join(x, cell));
        for (size_t j = 0; j < H; ++j) {
          whole[j] += std::exp(sigmoid(a[j]));
          mixed[j] += std::exp(sigmoid(a[j])) * cell[j];
        }
      }
      const bool alone = ending.offsets[t] == ending.offsets[t + 1];
      h[t].resize(H);
      c[t].resize(H);
      for (size_t j = 0; j < H; ++j) {
        const double i = sigmoid(y[j]), g = std::tanh(y[2 * H + j]), e = std::exp(i);
        c[t][j] = alone ? (1 - i) * c0[j] + i * g : (e * g + mixed[j]) / (e + whole[j]);
        h[t][j] = sigmoid(y[H + j]) * std::tanh(c[t][j]);
      }
    }
    const std::vector<Column> &arguments = inputs.arguments().columns;
    for (int32_t i = arguments[kForwards].offsets[s]; i < arguments[kForwards].offsets[s + 1]; ++i)
      out = join(out, product(parameters["O"], kTags,
                              join(h[arguments[kForwards].ints[i]], h[arguments[kBackwards].ints[i]])));
  }
  return out;
}

} // namespace

std::unique_ptr<Workload> make_lattice(int32_t hidden) { return std::make_unique<Lattice>(hidden); }

} // namespace dbc::bench
