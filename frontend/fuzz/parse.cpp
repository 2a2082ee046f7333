// libFuzzer: whatever the text, the parser gives a tree or an error, and both can be printed.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Parse.h"

#include <cstdlib>
#include <sstream>

using namespace dbc::frontend;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SourceManager sources;
  DiagnosticEngine diags(sources);
  uint32_t id = sources.add("fuzz.dyn", std::string(reinterpret_cast<const char *>(data), size));
  std::unique_ptr<File> file = parseFile(id, diags);
  if ((file == nullptr) != diags.hasErrors())
    std::abort();
  std::ostringstream out;
  diags.print(out);
  if (file)
    dump(*file, out);
  for (const Diagnostic &d : diags.all())
    if (d.message.find("the parser failed") == 0)
      std::abort();
  return 0;
}
