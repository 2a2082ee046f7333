// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Loading plug-ins.
#include "bench/workloads/CompiledModels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>

namespace dbc::bench {

void *compiled_model(const std::string &workload, int32_t hidden, const char *symbol, std::string &why) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string folder(self, length > 0 ? length : 0);
  folder.resize(folder.rfind('/') + 1);
  std::string path = folder + "bench-models/" + workload + "-" + std::to_string(hidden) + ".so";
  if (access(path.c_str(), R_OK) != 0) {
    why = "no model compiled for hidden " + std::to_string(hidden) + "; scripts/bench compiles it";
    return nullptr;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, symbol) : nullptr;
  if (!function)
    why = dlerror();
  return function;
}

} // namespace dbc::bench
