// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Modules.h"
#include "driver/weights/Names.h"
#include <algorithm>

namespace dbc::driver {

using Shape = std::vector<int64_t>;

//---- What belongs together ----

std::vector<LayerParams> layersOf(const ModelInfo &model) {
  std::vector<LayerParams> found;
  std::map<std::string, size_t> byPath;
  for (size_t p = 0; p < model.params.size(); ++p) {
    const std::string &name = model.params[p].name;
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      continue;
    const auto [at, isNew] = byPath.emplace(name.substr(0, dot), found.size());
    if (isNew)
      found.push_back({at->first, {}});
    found[at->second].params.emplace(name.substr(dot + 1), static_cast<int32_t>(p));
  }
  return found;
}

/// Where a tensor's name within its module begins, and how long it is: of weight_ih_l0_reverse the first
/// nine.
static void splitName(const std::string &name, std::string &module, std::string &own) {
  const size_t dot = name.rfind('.');
  own = dot == std::string::npos ? name : name.substr(dot + 1);
  module = dot == std::string::npos ? "" : name.substr(0, dot);
  for (const char *base : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"}) {
    const std::string start = std::string(base) + "_";
    if (own.compare(0, start.size(), start) == 0) {
      module += (module.empty() ? "" : ".") + own.substr(start.size());
      own = base;
    }
  }
}

std::vector<Module> modulesOf(const TensorSource &source) {
  std::map<std::string, Module> byName;
  for (size_t t = 0; t < source.tensors().size(); ++t) {
    std::string module, own;
    splitName(source.tensors()[t].name, module, own);
    if (source.tensors()[t].unreadable.empty())
      byName[module].tensors.emplace(own, t);
  }
  std::vector<Module> modules;
  for (auto &[name, module] : byName) {
    modules.push_back(std::move(module));
    modules.back().name = name;
  }
  std::sort(modules.begin(), modules.end(),
            [](const Module &a, const Module &b) { return inNaturalOrder(a.name, b.name); });
  return modules;
}

std::map<std::string, Series> seriesOf(const std::vector<Module> &modules) {
  std::map<std::string, Series> series;
  for (const Module &module : modules)
    for (const NumberInName &number : numbersIn(module.name))
      series[number.pattern].emplace(number.number, &module);
  return series;
}

//---- In words ----

/// "LSTM[4, 6]"; "MultiheadAttention of f32[8]", whose shapes do not tell the heads.
static std::string shownType(const std::string &type, const Shape &sizes) {
  return type + (type == "MultiheadAttention" ? " of " : "") +
         shownTensor(type == "MultiheadAttention" ? "f32" : "", sizes);
}

/// What a layer of nn is, by the names and shapes of its params, a table's without the axis in front; empty
/// if it is none that is known here. `isAttention`: it has a layer `out`.
static std::string typeOf(const std::map<std::string, Shape> &shapes, bool isAttention, Shape &sizes) {
  auto shape = [&](const char *param) {
    auto at = shapes.find(param);
    return at == shapes.end() ? Shape() : at->second;
  };
  const Shape W = shape("W"), U = shape("U"), b = shape("b"), d = shape("d"), g = shape("g");
  if (g.size() == 1 && b == g && shapes.size() == 2) {
    sizes = g;
    return "LayerNorm";
  }
  if (W.size() != 2 || b.size() != 1)
    return "";
  const int64_t rows = W[0], columns = W[1];
  if (U.size() == 2 && rows == U[0] && b[0] == rows) {
    sizes = {columns, U[1]};
    if (shapes.size() == 3 && rows == 4 * U[1])
      return "LSTM";
    return shapes.size() == 4 && d == b && rows == 3 * U[1] ? "GRU" : "";
  }
  if (shapes.size() != 2)
    return "";
  if (isAttention) {
    sizes = {columns};
    return rows == 3 * columns && b[0] == rows ? "MultiheadAttention" : "";
  }
  sizes = {columns, b[0]};
  if (rows == b[0])
    return "Linear";
  if (b[0] < 1 || rows % b[0] != 0)
    return "";
  sizes.push_back(rows / b[0]);
  return "Conv1d";
}

std::vector<Described> layersWithout(const ModelInfo &model, const std::vector<bool> &isOfLibrary,
                                     const std::vector<bool> &hasValue) {
  const std::vector<LayerParams> layers = layersOf(model);
  std::vector<Described> found;
  for (const LayerParams &layer : layers) {
    Described about{layer.path, {}, "", ""};
    std::map<std::string, Shape> shapes;
    bool isMissing = layer.params.size() > 1;
    for (const auto &[name, param] : layer.params) {
      const size_t p = static_cast<size_t>(param);
      isMissing &= isOfLibrary[p] && !hasValue[p];
      about.members.push_back(p);
      shapes.emplace(name, model.params[p].extents);
    }
    if (!isMissing)
      continue;
    // Each layer known here has a vector `b`.
    const auto bias = shapes.find("b");
    const bool isTable = bias != shapes.end() && bias->second.size() == 2;
    std::string count;
    if (isTable) {
      count = std::to_string(bias->second[0]);
      for (auto &[name, shape] : shapes)
        if (!shape.empty())
          shape.erase(shape.begin());
    }
    const bool isAttention = std::any_of(layers.begin(), layers.end(), [&](const LayerParams &each) {
      return each.path == layer.path + ".out";
    });
    Shape sizes;
    about.type = typeOf(shapes, isAttention, sizes);
    if (about.type.empty())
      continue;
    about.text = "nn." + shownType(about.type, sizes);
    if (isTable)
      about.text = "[" + about.text + "; " + count + "]";
    found.push_back(std::move(about));
  }
  return found;
}

/// The tensors of one module, all layers and directions of a recurrent one, by their names within it.
using TensorsByName = std::map<std::string, const SourceTensor *>;

/// What a recurrent module of PyTorch is; false if its shapes are not one's.
static bool describeRecurrent(const TensorsByName &tensors, Described &about) {
  const std::string ih = "weight_ih_l", hh = "weight_hh_l";
  size_t layers = 0;
  bool isReverse = false;
  for (const auto &[name, tensor] : tensors)
    if (name.compare(0, ih.size(), ih) == 0) {
      const bool back = name.find("_reverse") != std::string::npos;
      isReverse |= back;
      layers += !back;
    }
  const auto first = tensors.find(ih + "0"), second = tensors.find(hh + "0");
  if (first == tensors.end() || second == tensors.end())
    return false;
  const Shape &in = first->second->extents, &own = second->second->extents;
  if (in.size() != 2 || own.size() != 2 || in[0] != own[0] || own[1] < 1 || own[0] % own[1] != 0)
    return false;
  const int64_t gates = own[0] / own[1];
  about.type = gates == 4 ? "LSTM" : gates == 3 ? "GRU" : gates == 1 ? "RNN" : "";
  about.text = "PyTorch's " + shownType(about.type, {in[1], own[1]});
  if (layers > 1)
    about.text += " of " + std::to_string(layers) + " layers";
  if (isReverse)
    about.text += " in both directions";
  return !about.type.empty();
}

/// What a module of PyTorch is; false if it is none that is known here.
static bool describe(const TensorsByName &tensors, Described &about) {
  if (tensors.count("weight_ih_l0"))
    return describeRecurrent(tensors, about);
  const auto attention = tensors.find("in_proj_weight");
  const auto weight = attention != tensors.end() ? attention : tensors.find("weight");
  if (weight == tensors.end() || tensors.size() != 2)
    return false;
  const Shape &shape = weight->second->extents;
  Shape sizes(shape.rbegin(), shape.rend()); // [out, in]
  if (attention != tensors.end()) {
    if (!tensors.count("in_proj_bias") || shape.size() != 2)
      return false;
    about.type = "MultiheadAttention";
    sizes.pop_back();
  } else {
    if (!tensors.count("bias") || shape.empty() || shape.size() > 3)
      return false;
    about.type = shape.size() == 1 ? "LayerNorm" : shape.size() == 2 ? "Linear" : "Conv1d";
    if (shape.size() == 3)
      sizes = {shape[1], shape[0], shape[2]};
  }
  about.text = "PyTorch's " + shownType(about.type, sizes);
  return true;
}

std::vector<Described> modulesUnused(const TensorSource &source, const std::vector<bool> &used) {
  struct Group {
    TensorsByName tensors;
    std::vector<size_t> members;
    bool isUsed = false;
  };
  std::map<std::string, Group> groups;
  for (size_t t = 0; t < source.tensors().size(); ++t) {
    const SourceTensor &tensor = source.tensors()[t];
    const size_t dot = tensor.name.rfind('.');
    const bool hasPath = dot != std::string::npos;
    Group &group = groups[hasPath ? tensor.name.substr(0, dot) : ""];
    group.tensors.emplace(hasPath ? tensor.name.substr(dot + 1) : tensor.name, &tensor);
    group.members.push_back(t);
    group.isUsed |= used[t] || !tensor.unreadable.empty();
  }
  std::vector<Described> found;
  for (auto &[path, group] : groups) {
    Described about{path.empty() ? "*" : path + ".*", std::move(group.members), "", ""};
    if (!group.isUsed && describe(group.tensors, about))
      found.push_back(std::move(about));
  }
  std::sort(found.begin(), found.end(),
            [](const Described &a, const Described &b) { return inNaturalOrder(a.name, b.name); });
  return found;
}

} // namespace dbc::driver
