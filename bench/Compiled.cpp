// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Loading and running a compiled model.
#include "bench/Compiled.h"

#include "bench/ModelBatch.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace dbc::bench {

const ModelCode *compiled_model(const std::string &workload, int32_t hidden, const std::string &variant,
                                std::string &why) {
  char self[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", self, sizeof self);
  std::string folder(self, length > 0 ? length : 0);
  folder.resize(folder.rfind('/') + 1);
  std::string path = folder + "bench-models/" + workload + "-" + std::to_string(hidden) + variant + ".so";
  if (access(path.c_str(), R_OK) != 0) {
    why = "no model compiled for hidden " + std::to_string(hidden) + "; scripts/bench compiles it";
    return nullptr;
  }
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *function = library ? dlsym(library, "dbc_bench_model") : nullptr;
  if (!function) {
    why = dlerror();
    return nullptr;
  }
  return reinterpret_cast<const ModelCode *(*)()>(function)();
}

namespace {

class Compiled final : public Implementation {
public:
  Compiled(const ModelCode &code, const std::string &entry, const Parameters &parameters,
           const std::vector<Inputs> &batches, int32_t threads)
      : batches_(batches), model_(make_model(code, make_weights(*code.info, parameters))),
        session_(model_, threads), entry_(find_entry(*code.info, entry)),
        batch_(*code.info, entry_, batches[0]) {}

  void pass(float *out) override;
  double schedule_seconds() const override { return schedule_seconds_; }

private:
  float *take_results(float *out) const;

  const std::vector<Inputs> &batches_;
  Model model_;
  Session session_;
  int32_t entry_;
  ModelBatch batch_;
  double schedule_seconds_ = 0;
};

/// Copies the results of the last run; those of an input stand next to each other.
float *Compiled::take_results(float *out) const {
  const Outputs &results = session_.outputs(entry_);
  for (int32_t input = 0; input < results.inputs(); ++input)
    for (int32_t component = 0; component < results.components(); ++component) {
      const ColumnInfo &info = results.component(component).info;
      int64_t begin = input, end = input + 1;
      for (int32_t depth = 0; depth < info.depth; ++depth) {
        begin = results.offsets(component, depth)[begin];
        end = results.offsets(component, depth)[end];
      }
      out = std::copy(results.f32(component) + begin * info.extent,
                      results.f32(component) + end * info.extent, out);
    }
  return out;
}

void Compiled::pass(float *out) {
  int64_t schedule_ns = 0;
  for (const Inputs &inputs : batches_) {
    expect(session_.run(entry_, batch_.borrow(inputs)));
    expect_all(session_, inputs.count());
    out = take_results(out);
    schedule_ns += session_.profile(entry_).schedule_ns;
  }
  schedule_seconds_ = 1e-9 * static_cast<double>(schedule_ns);
}

} // namespace

std::unique_ptr<Implementation> compiled(const ModelCode &code, const std::string &entry,
                                         const Parameters &parameters, const std::vector<Inputs> &batches,
                                         int32_t threads) {
  return std::make_unique<Compiled>(code, entry, parameters, batches, threads);
}

} // namespace dbc::bench
