// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as a .npy file.
#include <cstdint>
#include <cstdlib>
#include <dbc/io/npy.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  dbc::NpyArray array;
  dbc::Status status = dbc::parse_npy(std::string_view(reinterpret_cast<const char *>(data), size), array);
  if (status.ok() != status.message.empty())
    std::abort();
  // What was accepted is consistent.
  if (status.ok() && array.to_doubles().size() != static_cast<size_t>(array.size()))
    std::abort();
  return 0;
}
