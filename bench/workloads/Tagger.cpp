// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The workload `tagger`, and its training: the scores of test/models/05_bilstm_crf_tagger.dyn on sentences.
#include "bench/Numbering.h"
#include "bench/Random.h"
#include "bench/baselines/Levels.h"
#include "bench/baselines/Reference.h"
#include "bench/workloads/Workloads.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace dbc::bench {
namespace {

constexpr int32_t kWords = 10000, kTags = 9, kEmbed = 128;

/// The sentences, or generated ones; with their tags as a second column.
Data load_sentences(const std::string &data, bool tagged) {
  std::vector<Column> columns = {lists("words")};
  if (tagged)
    columns.push_back(lists("tags"));
  Data loaded{Inputs({{"Sentence", columns}}, {numbers("s", 0)}), "wikiner dev"};
  auto add_word = [&](int32_t word, int32_t tag) {
    std::vector<Column> &to = loaded.inputs.table(0).columns;
    to[0].ints.push_back(word);
    if (tagged)
      to[1].ints.push_back(tag);
  };
  auto end_sentence = [&] {
    for (Column &column : loaded.inputs.table(0).columns)
      column.end_list();
    loaded.inputs.arguments().columns[0].ints.push_back(loaded.inputs.count());
    loaded.inputs.end_input({1});
  };
  std::string path = data + "/ner_wikiner/dev.txt";
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s is absent: sentences are generated with its mean length\n", path.c_str());
    loaded.name = "generated";
    Random random(1);
    while (loaded.inputs.count() < 1696) {
      for (int32_t left = 1 + random.below(23) + random.below(23); left > 0; --left) {
        const int32_t word = random.below(kWords);
        add_word(word, word % kTags);
      }
      end_sentence();
    }
    return loaded;
  }
  Numbering word_number(kWords), tag_number(kTags);
  for (std::string line; std::getline(file, line);) {
    std::istringstream tokens(line); // "word|TAG"
    for (std::string token; tokens >> token;) {
      const size_t bar = token.rfind('|');
      add_word(word_number(token.substr(0, bar)), tag_number(token.substr(bar + 1)));
    }
    end_sentence();
  }
  return loaded;
}

class Tagger : public Workload {
public:
  explicit Tagger(int32_t hidden, double word_bound = 1) : Workload(hidden) {
    const int64_t H = hidden;
    parameters.draw("E", kWords * kEmbed, word_bound);
    for (const char *direction : {"context.fwd.", "context.bwd."}) {
      const std::string lstm = direction;
      parameters.draw(lstm + "W", 4 * H * kEmbed, glorot(H, kEmbed));
      parameters.draw(lstm + "U", 4 * H * H, 2 * glorot(H, H));
      parameters.draw(lstm + "b", 4 * H, 0.1);
    }
    parameters.draw("H", H * 2 * H, 2 * glorot(H, 2 * H));
    parameters.draw("O", kTags * H, 4 * glorot(kTags, H));
    // What is above the scores is there, but not measured.
    parameters.draw("crf.T", kTags * kTags, 1);
    parameters.draw("crf.first", kTags, 1);
    parameters.draw("crf.last", kTags, 1);
  }
  const char *entry() const override { return "unary"; }
  Data load(const std::string &data, std::string &) const override { return load_sentences(data, false); }
  int64_t instances(const Inputs &inputs) const override { return 2 * words(inputs); }
  int64_t values(const Inputs &inputs) const override { return words(inputs) * kTags; }
  double flops(const Inputs &inputs) const override {
    const double H = hidden;
    return 2.0 * static_cast<double>(words(inputs)) * (2 * 4 * H * (kEmbed + H) + H * 2 * H + kTags * H);
  }
  std::vector<double> reference(const Inputs &inputs) const override { return scores(inputs); }
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back({"cblas", tagger_cblas(parameters, hidden, kEmbed, kTags, batches)});
    return one;
  }

protected:
  /// The scores of a sentence's words, one after the other.
  std::vector<double> scores(const Inputs &inputs) const;
  static int64_t words(const Inputs &inputs) { return inputs.table(0).columns[0].offsets.back(); }
};

/// By the words' cross entropies, without the CRF.
class TaggerTraining final : public Tagger {
public:
  explicit TaggerTraining(int32_t hidden) : Tagger(hidden, kTrainedWordBound) {}
  Mode mode() const override { return Mode::Train; }
  float learning_rate() const override { return 0.002F; }
  const char *entry() const override { return "independent"; }
  Data load(const std::string &data, std::string &) const override { return load_sentences(data, true); }
  int64_t values(const Inputs &) const override { return 1; }
  double flops(const Inputs &inputs) const override {
    return 3 * Tagger::flops(inputs); // each product, and the gradients of its operand and of its matrix
  }
  std::vector<double> reference(const Inputs &inputs) const override;
  std::vector<Contestant> by_hand(const std::vector<Inputs> &batches) const override {
    std::vector<Contestant> one;
    one.push_back(
        {"cblas", tagger_cblas_training(parameters, hidden, kEmbed, kTags, batches, learning_rate())});
    return one;
  }
};

std::vector<double> Tagger::scores(const Inputs &inputs) const {
  using namespace naive;
  const size_t H = hidden;
  const Column &words = inputs.table(0).columns[0];
  Vector out;
  for (int32_t s = 0; s < inputs.count(); ++s) {
    const int32_t begin = words.offsets[s], count = words.offsets[s + 1] - begin;
    std::vector<Vector> states[2];
    for (int back = 0; back < 2; ++back) {
      const std::string lstm = back ? "context.bwd." : "context.fwd.";
      Vector h(H), c(H);
      states[back].resize(count);
      for (int32_t step = 0; step < count; ++step) {
        const int32_t at = back ? count - 1 - step : step;
        Vector x = row(parameters["E"], words.ints[begin + at], kEmbed);
        Vector y = sum(affine(parameters[lstm + "W"], x, parameters[lstm + "b"]),
                       product(parameters[lstm + "U"], 4 * hidden, h));
        const double *i = &y[0], *f = &y[H], *g = &y[2 * H], *o = &y[3 * H];
        for (size_t j = 0; j < H; ++j) {
          c[j] = sigmoid(f[j]) * c[j] + sigmoid(i[j]) * std::tanh(g[j]);
          h[j] = sigmoid(o[j]) * std::tanh(c[j]);
        }
        states[back][at] = h;
      }
    }
    for (int32_t at = 0; at < count; ++at) {
      Vector top = product(parameters["H"], hidden, join(states[0][at], states[1][at]));
      for (double &x : top)
        x = std::tanh(x);
      out = join(out, product(parameters["O"], kTags, top));
    }
  }
  return out;
}

std::vector<double> TaggerTraining::reference(const Inputs &inputs) const {
  const std::vector<double> all = scores(inputs);
  const std::vector<int32_t> &tags = inputs.table(0).columns[1].ints;
  double sum = 0;
  for (size_t w = 0; w < tags.size(); ++w) {
    const naive::Vector own(all.begin() + w * kTags, all.begin() + (w + 1) * kTags);
    sum -= std::log(naive::softmax(own)[tags[w]]);
  }
  return {sum / inputs.count()};
}

} // namespace

std::unique_ptr<Workload> make_tagger(int32_t hidden) { return std::make_unique<Tagger>(hidden); }

std::unique_ptr<Workload> make_tagger_training(int32_t hidden) {
  return std::make_unique<TaggerTraining>(hidden);
}

} // namespace dbc::bench
