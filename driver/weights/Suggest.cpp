// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Suggest.h"
#include "driver/weights/Choices.h"
#include "driver/weights/Layers.h"
#include "driver/weights/Names.h"
#include <algorithm>
#include <map>

namespace dbc::driver {

using Kind = MapExpr::Kind;
using Shape = std::vector<int64_t>;

namespace {

/// Of one param the words that a file would have: W is a weight, b a bias.
std::vector<std::string> wordsOfSingle(const std::string &path) {
  const size_t dot = path.rfind('.');
  const std::string own = dot == std::string::npos ? path : path.substr(dot + 1);
  std::vector<std::string> words = wordsOfParam(dot == std::string::npos ? "" : path.substr(0, dot));
  if (own == "E")
    words.push_back("embedding");
  if (own == "b" || own == "d")
    words.push_back("bias");
  else if (own.size() == 1)
    words.push_back("weight");
  else
    for (std::string &word : wordsOfParam(own))
      words.push_back(std::move(word));
  return words;
}

/// Single tensors, and series of tensors whose names differ in a number, for params that no layer of nn has.
class Singles {
public:
  explicit Singles(const TensorSource &source) : source_(source) {
    for (size_t t = 0; t < source.tensors().size(); ++t)
      if (source.tensors()[t].unreadable.empty())
        inOrder_.push_back(t);
    std::sort(inOrder_.begin(), inOrder_.end(), [&](size_t a, size_t b) {
      return inNaturalOrder(source.tensors()[a].name, source.tensors()[b].name);
    });
    for (size_t t : inOrder_)
      for (const NumberInName &number : numbersIn(source.tensors()[t].name))
        series_[number.pattern].emplace(number.number, t);
  }

  Wanted choicesFor(int32_t number, const ParamInfo &param) {
    Wanted result{param.name, {}};
    const std::vector<std::string> words = wordsOfSingle(param.name);
    for (size_t t : inOrder_) {
      const SourceTensor &tensor = source_.tensors()[t];
      const MapExpr turned = operation(Kind::Transpose, {tensorExpr(tensor.name)});
      const double score = likeness(words, wordsOf(tensor.name));
      if (tensor.extents == param.extents)
        add(number, tensorExpr(tensor.name), {t}, tensor.name, score, result);
      else if (shapeOf(turned, source_, param.extents) == param.extents)
        add(number, turned, {t}, tensor.name, score - 0.1, result);
    }
    addSeries(number, param, words, result);
    return result;
  }

private:
  void addSeries(int32_t number, const ParamInfo &param, const std::vector<std::string> &words,
                 Wanted &result) {
    if (param.extents.empty())
      return;
    const Shape each(param.extents.begin() + 1, param.extents.end());
    const int64_t count = param.extents[0];
    for (const auto &[pattern, series] : series_)
      for (const auto &[first, tensor] : series) {
        std::vector<size_t> tensors;
        for (auto at = series.find(first);
             at != series.end() && static_cast<int64_t>(tensors.size()) < count &&
             at->first == first + static_cast<int64_t>(tensors.size()) &&
             source_.tensors()[at->second].extents == each;
             ++at)
          tensors.push_back(at->second);
        if (static_cast<int64_t>(tensors.size()) < count)
          continue;
        std::optional<MapExpr> value = stackOf(tensorExpr(pattern), first, count, tensors, source_);
        if (!value)
          continue;
        std::sort(tensors.begin(), tensors.end());
        add(number, std::move(*value), std::move(tensors), pattern, likeness(words, wordsOf(pattern)),
            result);
      }
  }
  static void add(int32_t number, MapExpr value, std::vector<size_t> tensors, const std::string &from,
                  double score, Wanted &result) {
    Choice choice;
    choice.values.emplace_back(number, std::move(value));
    choice.tensors = std::move(tensors);
    choice.from = from;
    choice.score = score;
    if (score <= 0)
      choice.doubts.push_back("only the shape tells so");
    result.choices.push_back(std::move(choice));
  }

  const TensorSource &source_;
  std::vector<size_t> inOrder_;                             ///< readable ones
  std::map<std::string, std::map<int64_t, size_t>> series_; ///< by pattern and number
};

void take(const std::vector<Wanted> &wanted, std::vector<bool> &used, Proposal &proposal) {
  const std::vector<int> chosen = choose(wanted, used);
  for (size_t w = 0; w < wanted.size(); ++w)
    if (chosen[w] >= 0)
      for (const auto &[param, value] : wanted[w].choices[static_cast<size_t>(chosen[w])].values)
        proposal.values[static_cast<size_t>(param)] = value;
  for (std::string &doubt : doubtsOf(wanted, chosen))
    proposal.doubts.push_back(std::move(doubt));
}

} // namespace

Proposal suggest(const ModelInfo &model, const std::vector<bool> &isOfLibrary, const TensorSource &source) {
  Proposal proposal;
  proposal.values.resize(model.params.size());
  std::vector<bool> &used = proposal.used;
  used.resize(source.tensors().size());
  take(modulesForLayers(model, isOfLibrary, source), used, proposal);
  Singles singles(source);
  std::vector<Wanted> wanted;
  for (size_t p = 0; p < model.params.size(); ++p)
    if (!proposal.values[p])
      wanted.push_back(singles.choicesFor(static_cast<int32_t>(p), model.params[p]));
  take(wanted, used, proposal);
  return proposal;
}

} // namespace dbc::driver
