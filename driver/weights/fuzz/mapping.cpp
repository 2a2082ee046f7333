// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as a mapping file, of the params of io_models.h's tree model and some tensors. What
// is accepted is computed, printed, and read again as the same.
#include "driver/weights/Mapping.h"
#include "runtime/tests/io_models.h"

#include <cstdint>
#include <cstdlib>

using namespace dbc;
using namespace dbc::driver;

namespace {

/// Tensors of ones.
class Ones : public TensorSource {
public:
  Ones() {
    for (const auto &[name, extents] : {std::pair<const char *, std::vector<int64_t>>{"emb", {10, 3}},
                                        {"w", {2, 3}},
                                        {"v", {3, 2}},
                                        {"row.0", {3}},
                                        {"row.1", {3}},
                                        {"b", {2}},
                                        {"s", {}}})
      add({name, "F32", extents, ""});
    add({"steps", "I64", {1}, "only F32, F64, F16 and BF16 are read"});
  }
  Status read(size_t tensor, std::unique_ptr<Elements> &elements) override {
    size_t count = 1;
    for (int64_t extent : tensors()[tensor].extents)
      count *= static_cast<size_t>(extent);
    elements = std::make_unique<Elements>(std::vector<float>(count, 1));
    return Status();
  }
};

std::optional<Mapping> read(const std::string &text, const ModelInfo &model, const TensorSource &source) {
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diagnostics(sources);
  std::optional<Mapping> mapping = readMapping(sources.add("mapping.json", text), model, diagnostics);
  if (mapping)
    resolve(*mapping, model, source, "weights", diagnostics);
  else if (!diagnostics.hasErrors())
    std::abort();
  diagnostics.str();
  return mapping;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ModelInfo model = test::tree_model();
  static Ones source;
  std::optional<Mapping> mapping =
      read(std::string(reinterpret_cast<const char *>(data), size), model, source);
  if (!mapping)
    return 0;
  std::string text = "{";
  for (const MapEntry &entry : mapping->entries) {
    const ParamInfo &param = model.params[static_cast<size_t>(entry.param)];
    std::unique_ptr<Elements> elements;
    size_t count = 1;
    for (int64_t extent : param.extents)
      count *= static_cast<size_t>(extent);
    if (!evaluate(entry.value, param.extents, source, elements).ok() || elements->size() != count)
      std::abort();
    text += (text.size() > 1 ? ", \"" : "\"") + param.name + "\": " + shownExpr(entry.value);
  }
  std::optional<Mapping> again = read(text + "}", model, source);
  if (!again || again->entries.size() != mapping->entries.size())
    std::abort();
  for (size_t e = 0; e < again->entries.size(); ++e)
    if (!(again->entries[e].value == mapping->entries[e].value))
      std::abort();
  return 0;
}
