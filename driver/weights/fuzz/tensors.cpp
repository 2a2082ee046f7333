// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as another program's tensors, .npz or safetensors. Each tensor that can be read is
// read, and what is proposed for io_models.h's tree model and layers of nn is a mapping without errors that
// takes no tensor twice.
#include "driver/weights/Modules.h"
#include "driver/weights/Suggest.h"
#include "runtime/fuzz/require.h"
#include "runtime/tests/io_models.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace dbc;
using dbc::fuzz::require;
using namespace dbc::driver;

namespace {

void readAll(TensorSource &source) {
  for (size_t t = 0; t < source.tensors().size(); ++t) {
    const SourceTensor &tensor = source.tensors()[t];
    require(source.find(tensor.name) == static_cast<int64_t>(t), "a tensor is not found by its name");
    std::unique_ptr<Elements> elements;
    if (!tensor.unreadable.empty() || !source.read(t, elements).ok())
      continue;
    size_t count = 1;
    for (int64_t extent : tensor.extents)
      count *= static_cast<size_t>(extent);
    require(elements->size() == count, "elements do not fit the shape");
  }
}

/// The tree model with two of nn.StackedLSTM[1, 1, 2], a table of three nn.Conv1d[1, 1, 2] and one of a
/// single nn.Linear[2, 2].
ModelInfo modelWithLayers() {
  ModelInfo model = test::tree_model();
  auto add = [&](const std::string &name, const std::vector<int64_t> &extents) {
    ParamInfo param;
    param.name = name;
    param.extents = extents;
    model.params.push_back(param);
  };
  for (const std::string path : {"lstm1", "lstm2"})
    for (const bool isTable : {false, true})
      for (const auto &[own, columns] : {std::pair("W", true), {"U", true}, {"b", false}}) {
        std::vector<int64_t> extents = {4};
        if (columns)
          extents.push_back(1);
        if (isTable)
          extents.insert(extents.begin(), 1);
        add(path + (isTable ? ".above." : ".first.") + own, extents);
      }
  add("conv.W", {3, 2, 1});
  add("conv.b", {3, 1});
  add("layers.W", {1, 2, 2});
  add("layers.b", {1, 2});
  return model;
}

void propose(const TensorSource &source) {
  static const ModelInfo model = modelWithLayers();
  std::vector<bool> isOfLibrary(model.params.size());
  for (size_t p = test::tree_model().params.size(); p < isOfLibrary.size(); ++p)
    isOfLibrary[p] = true;
  const Proposal proposal = suggest(model, isOfLibrary, source);
  std::vector<bool> hasValue;
  for (const std::optional<MapExpr> &value : proposal.values)
    hasValue.push_back(value.has_value());
  for (const Described &layer : layersWithout(model, isOfLibrary, hasValue))
    require(!layer.text.empty(), "a layer without words");
  for (const Described &module : modulesUnused(source, proposal.used))
    require(!module.text.empty(), "a module without words");
  std::string text = "{";
  for (size_t p = 0; p < model.params.size(); ++p)
    if (proposal.values[p])
      text +=
          (text.size() > 1 ? ", \"" : "\"") + model.params[p].name + "\": " + shownExpr(*proposal.values[p]);
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diagnostics(sources);
  std::optional<Mapping> mapping = readMapping(sources.add("proposal", text + "}"), model, diagnostics);
  if (mapping)
    resolve(*mapping, model, source, "tensors", diagnostics);
  require(!diagnostics.hasErrors(), diagnostics.str());
  std::vector<bool> used(source.tensors().size());
  for (const MapEntry &entry : mapping->entries) {
    std::vector<size_t> tensors;
    tensorsOf(entry.value, source, tensors);
    for (size_t tensor : tensors) {
      require(!used[tensor], "a tensor is given to two params");
      used[tensor] = true;
    }
  }
  require(used == proposal.used, "other tensors are taken than were chosen");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::unique_ptr<TensorSource> source;
  Status parsed = parseSource(std::string_view(reinterpret_cast<const char *>(data), size), source);
  require(parsed.ok() == (source != nullptr) && parsed.ok() == parsed.message.empty(), "no message");
  if (source) {
    readAll(*source);
    propose(*source);
  }
  return 0;
}
