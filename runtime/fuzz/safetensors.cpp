// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as a safetensors file, the header alone and as weights of a model.
#include "../tests/io_models.h"

#include <cstdint>
#include <cstdlib>
#include <dbc/io/safetensors.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace dbc;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  SafetensorsHeader header;
  std::string_view bytes(reinterpret_cast<const char *>(data), size);
  Status parsed = parse_safetensors_header(bytes, size, header);
  if (parsed.ok()) {
    uint64_t at = 0;
    for (const SafetensorsEntry &t : header.tensors) {
      if (t.begin != at || t.end < t.begin)
        std::abort();
      at = t.end;
    }
    if (header.data_begin + at != size)
      std::abort();
  }

  static ModelInfo model = test::tree_model();
  static Weights weights(model);
  static int file = memfd_create("weights", 0);
  static std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    return 0;
  Status loaded = load_weights(path, weights);
  if (loaded.ok() && !parsed.ok())
    std::abort();
  return 0;
}
