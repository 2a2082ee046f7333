// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Fuzz target: any bytes as instances. The first byte ('0' to '3' in the seeds) chooses the model, the rest
// are lines. A line that is accepted must come out of the batch as a line that is accepted again and says the
// same.
#include "../tests/io_models.h"
#include "require.h"

#include <cstdio>
#include <cstdlib>
#include <dbc/io/instance.h>
#include <dbc/io/instances.h>

using namespace dbc;
using dbc::fuzz::require;

namespace {

struct Target {
  ModelInfo model;
  const EntryInfo &entry;
  Batch batch, again;
  InstanceReader reader, rereader;
  explicit Target(ModelInfo info)
      : model(std::move(info)), entry(model.entries[0]), batch(model), again(model), reader(model, entry),
        rereader(model, entry) {}

  void line(std::string_view text) {
    Status status = reader.append(text, batch);
    int32_t input = batch.inputs() - 1;
    require(batch.status(input).ok() == status.ok(), "status of the batch");
    if (!status.ok()) {
      require(status.code == Code::bad_input && !status.message.empty(), "no message");
      return;
    }
    Instance instance;
    status = get_instance(entry, batch, input, instance);
    require(status.ok(), status.message);
    std::string written = instance_json(model, entry, instance);
    rereader.clear(again);
    status = rereader.append(written, again);
    require(status.ok(), status.message + "\n" + written);
    require(get_instance(entry, again, 0, instance).ok() && instance_json(model, entry, instance) == written,
            written);
  }
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static Target targets[] = {Target(test::tree_model()), Target(test::lattice_model()),
                             Target(test::kinds_model()), Target(test::wide_model())};
  if (size == 0)
    return 0;
  Target &target = targets[data[0] % 4];
  std::string_view text(reinterpret_cast<const char *>(data) + 1, size - 1);
  target.reader.clear(target.batch);
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    target.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
