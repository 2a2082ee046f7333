// libFuzzer: whatever the text, formatting it gives an error or a text that formatting leaves as it is.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/format/Format.h"

#include <cstdlib>

using namespace dbc::frontend;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  uint32_t id = sources.add("fuzz.dyn", std::string(reinterpret_cast<const char *>(data), size));
  std::optional<std::string> once = format(id, sources, diags);
  if (once.has_value() == diags.hasErrors())
    std::abort();
  if (once && format(sources.add("fuzz.dyn", *once), sources, diags) != once)
    std::abort();
  return 0;
}
