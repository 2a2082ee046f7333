// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as another program's tensors, .npz or safetensors. Each tensor that can be read is
// read, and what is proposed for io_models.h's tree model is a mapping without errors.
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

void propose(const TensorSource &source) {
  static const ModelInfo model = test::tree_model();
  const Proposal proposal = suggest(model, std::vector<bool>(model.params.size()), source);
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
