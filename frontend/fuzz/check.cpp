// libFuzzer: whatever the text, the checker finds errors or a model whose dims can be bound, and says so in
// words.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Check.h"
#include "frontend/syntax/Modules.h"

#include <cstdlib>
#include <sstream>

using namespace dbc::frontend;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  LoadOptions options;
  options.libraryDir = DBC_LIBRARY;
  std::string text(reinterpret_cast<const char *>(data), size);
  std::unique_ptr<Program> program = loadProgramText("fuzz.dyn", std::move(text), options, sources, diags);
  if ((program == nullptr) != diags.hasErrors())
    std::abort();
  if (!program)
    return 0;
  std::unique_ptr<CheckedProgram> checked = check(*program, diags);
  if (!diags.hasErrors()) {
    // Dims without a number get one.
    std::map<std::string, int64_t> given;
    for (const Binding *dim : checked->dims)
      given[dim->name] = 3;
    DiagnosticEngine bound(sources);
    if (bindDims(*checked, {}, bound).has_value() == bound.hasErrors())
      std::abort();
    bindDims(*checked, given, diags);
  }
  std::ostringstream out;
  diags.print(out);
  return 0;
}
