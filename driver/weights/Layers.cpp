// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Layers.h"
#include "driver/weights/Modules.h"
#include "driver/weights/Names.h"
#include <algorithm>
#include <map>
#include <set>

namespace dbc::driver {

using Kind = MapExpr::Kind;
using Shape = std::vector<int64_t>;

namespace {

//---- What is known of nn and of PyTorch ----

/// What a param of a layer may be made of, the first that fits. Names are those within a module.
struct Role {
  const char *param;
  std::vector<MapExpr> ways;
};
/// How a module of PyTorch gives the params of a layer.
struct Layer {
  std::vector<Role> roles;
  const char *gates = ""; ///< the order of its blocks of rows, in words
  int64_t recurrent =
      0; ///< so many blocks of rows has the matrix `U` of the state, each square; 0: it has none
};

MapExpr zeros() {
  MapExpr expr;
  expr.kind = Kind::Number;
  return expr;
}

const std::vector<Layer> &layers() {
  auto tensor = [](const char *name) { return tensorExpr(name); };
  auto one = [&](Kind kind, const char *name) { return operation(kind, {tensor(name)}); };
  MapExpr positions = one(Kind::Permute, "weight");
  positions.axes = {2, 0, 1};
  const Role weightIh = {"W", {tensor("weight_ih")}}, weightHh = {"U", {tensor("weight_hh")}},
             bias = {"b", {tensor("bias"), zeros()}};
  const MapExpr oneBehindOther =
      operation(Kind::Concat, {tensor("q_proj_weight"), tensor("k_proj_weight"), tensor("v_proj_weight")});
  static const std::vector<Layer> all = {
      // LSTM, GRU
      {{weightIh, weightHh, {"b", {operation(Kind::Add, {tensor("bias_ih"), tensor("bias_hh")}), zeros()}}},
       "i f g o",
       4},
      {{weightIh, weightHh, {"b", {tensor("bias_ih"), zeros()}}, {"d", {tensor("bias_hh"), zeros()}}},
       "r z g",
       3},
      // MultiheadAttention
      {{{"W", {tensor("in_proj_weight"), oneBehindOther}}, {"b", {tensor("in_proj_bias"), zeros()}}},
       "query, key, value"},
      // Linear, Conv1d
      {{{"W", {tensor("weight"), one(Kind::Transpose, "weight"), operation(Kind::Reshape, {positions})}},
        bias}},
      // Embedding
      {{{"W", {tensor("weight"), one(Kind::Transpose, "weight")}}}},
      // LayerNorm
      {{{"g", {tensor("weight")}}, bias}},
  };
  return all;
}

//---- One with the other ----

class Fitter {
public:
  Fitter(const ModelInfo &model, const std::vector<bool> &isOfLibrary, const TensorSource &source)
      : model_(model), isOfLibrary_(isOfLibrary), source_(source), modules_(modulesOf(source)),
        series_(seriesOf(modules_)) {}

  Wanted choicesFor(const LayerParams &wanted) {
    Wanted result{wanted.path, {}};
    for (const Layer &layer : layers()) {
      if (layer.roles.size() != wanted.params.size() || !hasBlocks(wanted, layer) ||
          !std::all_of(layer.roles.begin(), layer.roles.end(),
                       [&](const Role &role) { return wanted.params.count(role.param) > 0; }))
        continue;
      for (const Module &module : modules_)
        tryModules(wanted, layer, {&module}, std::nullopt, result.choices);
      trySeries(wanted, layer, result.choices);
    }
    return result;
  }

private:
  /// Whether the matrix of the state has as many blocks as such a layer's: with W, U and b alone a layer may
  /// be an LSTM or another one.
  bool hasBlocks(const LayerParams &wanted, const Layer &layer) const {
    auto found = wanted.params.find("U");
    if (layer.recurrent == 0 || found == wanted.params.end())
      return true;
    const Shape &shape = shapeOfParam(found->second);
    return shape.size() >= 2 && shape[shape.size() - 2] == layer.recurrent * shape.back();
  }
  /// Tables of layers: as many modules as the axis in front has elements, with numbers that follow on
  /// another.
  void trySeries(const LayerParams &wanted, const Layer &layer, std::vector<Choice> &choices) {
    const Shape &some = shapeOfParam(wanted.params.begin()->second);
    if (some.empty())
      return;
    const int64_t count = some[0];
    std::set<const Module *> alone; // "enc3.layers.3" is in two series
    for (const auto &[pattern, series] : series_)
      for (const auto &[first, module] : series) {
        std::vector<const Module *> run;
        for (auto at = series.find(first); at != series.end() && static_cast<int64_t>(run.size()) < count &&
                                           at->first == first + static_cast<int64_t>(run.size());
             ++at)
          run.push_back(at->second);
        if (static_cast<int64_t>(run.size()) == count && (count > 1 || alone.insert(module).second))
          tryModules(wanted, layer, run, first, choices);
      }
  }

  /// Adds a choice if the modules give all params: one module for a layer, or those from a number `first` on
  /// for a table of layers.
  void tryModules(const LayerParams &wanted, const Layer &layer, const std::vector<const Module *> &modules,
                  std::optional<int64_t> first, std::vector<Choice> &choices) {
    Choice choice;
    for (const Role &role : layer.roles)
      if (!addValue(role, wanted.params.at(role.param), modules, first, choice))
        return;
    if (choice.tensors.empty())
      return;
    std::sort(choice.tensors.begin(), choice.tensors.end());
    choice.from = nameOf(*modules[0]) + (modules.size() > 1 ? "` to `" + modules.back()->name : "");
    choice.score += likeness(wordsOfParam(wanted.path), wordsOf(modules[0]->name));
    // A module that has more than the layer takes is probably another.
    size_t count = 0;
    for (const Module *module : modules)
      count += module->tensors.size();
    if (count > choice.tensors.size())
      choice.score -= 0.3;
    if (*layer.gates && !isOfLibrary_[static_cast<size_t>(wanted.params.begin()->second)])
      choice.doubts.push_back(std::string("gates are taken to stand as in PyTorch, ") + layer.gates +
                              ", which dbc cannot know of a layer that is not one of nn");
    choices.push_back(std::move(choice));
  }

  /// A module that was saved by itself has no name; its first tensor has.
  std::string nameOf(const Module &module) const {
    return module.name.empty() ? source_.tensors()[module.tensors.begin()->second].name : module.name;
  }

  bool addValue(const Role &role, int32_t param, const std::vector<const Module *> &modules,
                std::optional<int64_t> first, Choice &choice) {
    Shape shape = shapeOfParam(param);
    if (first && (shape.empty() || shape[0] != static_cast<int64_t>(modules.size())))
      return false;
    if (first)
      shape.erase(shape.begin());
    for (const MapExpr &way : role.ways) {
      if (way.kind == Kind::Number) {
        // Only of modules that all lack the tensor, not of one whose tensor has another shape.
        if (std::any_of(modules.begin(), modules.end(),
                        [&](const Module *module) { return hasAny(role, *module); }))
          return false;
        choice.values.emplace_back(param, way);
        choice.score -= 0.3;
        choice.doubts.push_back("`" + model_.params[static_cast<size_t>(param)].name +
                                "` is taken to be 0, as there is no " + namesOf(role.ways[0]));
        return true;
      }
      std::vector<MapExpr> each;
      for (const Module *module : modules) {
        MapExpr value = way;
        if (!fill(value, *module) || shapeOf(value, source_, shape) != shape)
          break;
        each.push_back(std::move(value));
      }
      if (each.size() < modules.size())
        continue;
      std::vector<size_t> tensors;
      for (const MapExpr &one : each)
        tensorsOf(one, source_, tensors);
      std::optional<MapExpr> value = first ? stackOfAll(each, *first, shape, tensors) : each[0];
      if (!value)
        continue;
      choice.tensors.insert(choice.tensors.end(), tensors.begin(), tensors.end());
      if (way.kind == Kind::Transpose)
        choice.score -= 0.2;
      choice.values.emplace_back(param, std::move(*value));
      return true;
    }
    return false;
  }
  /// The tensors of a way, for messages.
  static std::string namesOf(const MapExpr &way) {
    if (way.kind == Kind::Tensor)
      return "`" + way.name + "`";
    std::string names;
    for (const MapExpr &operand : way.operands)
      names += (names.empty() ? "" : " or ") + namesOf(operand);
    return names;
  }
  static bool hasAny(const Role &role, const Module &module) {
    auto has = [&](const MapExpr &expr) { return module.tensors.count(expr.name) > 0; };
    return std::any_of(role.ways.begin(), role.ways.end(), [&](const MapExpr &way) {
      return has(way) || std::any_of(way.operands.begin(), way.operands.end(), has);
    });
  }
  /// Puts the module's tensors for their names within it.
  bool fill(MapExpr &value, const Module &module) const {
    if (value.kind == Kind::Tensor) {
      auto at = module.tensors.find(value.name);
      if (at == module.tensors.end())
        return false;
      value.name = source_.tensors()[at->second].name;
    }
    return std::all_of(value.operands.begin(), value.operands.end(),
                       [&](MapExpr &operand) { return fill(operand, module); });
  }
  /// The expressions of a series as one: each of `shape`, numbered from `first` on.
  std::optional<MapExpr> stackOfAll(const std::vector<MapExpr> &each, int64_t first, const Shape &shape,
                                    const std::vector<size_t> &tensors) const {
    MapExpr pattern = each[0];
    if (!makePattern(each, first, pattern))
      return std::nullopt;
    if (pattern.kind == Kind::Reshape) // its own is that of the whole param
      pattern.shape = shape;
    return stackOf(std::move(pattern), first, static_cast<int64_t>(each.size()), tensors, source_);
  }
  /// Makes `pattern`, the first of expressions whose names differ in a number, one of them all.
  static bool makePattern(const std::vector<MapExpr> &each, int64_t first, MapExpr &pattern) {
    if (pattern.kind == Kind::Tensor) {
      // Other numbers may stand beside that of the series: "lstm2.weight_ih_l1". The last that fits is the
      // one that users would take.
      std::vector<NumberInName> numbers = numbersIn(pattern.name);
      std::reverse(numbers.begin(), numbers.end());
      for (const NumberInName &number : numbers) {
        int64_t at = first;
        if (number.number == first && std::all_of(each.begin(), each.end(), [&](const MapExpr &expr) {
              return withNumber(number.pattern, "i", at++) == expr.name;
            })) {
          pattern.name = number.pattern;
          return true;
        }
      }
      return false;
    }
    for (size_t k = 0; k < pattern.operands.size(); ++k) {
      std::vector<MapExpr> operands;
      for (const MapExpr &expr : each)
        operands.push_back(expr.operands[k]);
      if (!makePattern(operands, first, pattern.operands[k]))
        return false;
    }
    return true;
  }
  const Shape &shapeOfParam(int32_t param) const { return model_.params[static_cast<size_t>(param)].extents; }

  const ModelInfo &model_;
  const std::vector<bool> &isOfLibrary_;
  const TensorSource &source_;
  const std::vector<Module> modules_;
  const std::map<std::string, Series> series_;
};

} // namespace

std::optional<MapExpr> stackOf(MapExpr pattern, int64_t first, int64_t count,
                               const std::vector<size_t> &tensors, const TensorSource &source) {
  const int64_t last = first + count - 1;
  const MapExpr *some = &pattern;
  while (some->kind != Kind::Tensor)
    some = &some->operands[0];
  const bool goesOn = source.find(withNumber(some->name, "i", last + 1)) >= 0;
  MapExpr stack = operation(Kind::Stack, {std::move(pattern)});
  stack.isPattern = true;
  if (first > 0)
    stack.first = first;
  if (goesOn)
    stack.last = last;
  MapExpr expanded = stack;
  std::vector<size_t> meant;
  if (!expandPatterns(expanded, source))
    return std::nullopt;
  tensorsOf(expanded, source, meant);
  return meant == tensors ? std::optional(std::move(stack)) : std::nullopt;
}

std::vector<std::string> wordsOfParam(const std::string &path) {
  static const std::map<std::string, std::string> known = {
      {"fwd", ""},         {"forward", ""}, {"bwd", "reverse"}, {"backward", "reverse"},
      {"back", "reverse"}, {"first", "0"},  {"above", "1"}};
  std::vector<std::string> words;
  for (std::string &word : wordsOf(path)) {
    auto at = known.find(word);
    if (at == known.end())
      words.push_back(std::move(word));
    else if (!at->second.empty())
      words.push_back(at->second);
  }
  return words;
}

std::vector<Wanted> modulesForLayers(const ModelInfo &model, const std::vector<bool> &isOfLibrary,
                                     const TensorSource &source) {
  Fitter fitter(model, isOfLibrary, source);
  std::vector<Wanted> wanted;
  for (const LayerParams &layer : layersOf(model))
    wanted.push_back(fitter.choicesFor(layer));
  return wanted;
}

} // namespace dbc::driver
