// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Runs every entry and loss of a compiled model on random inputs, all in one batch with two threads, then one
// by one: the results must be the same, and with any argument they are printed. Under sanitizers this tests
// every read and write of generated code.
#include <cstdio>
#include <dbc/io/instance.h>
#include <dbc/io/instances.h>
#include <dbc/session.h>

extern "C" const dbc::ModelCode *DBC_MODEL_CODE();

static bool fine(const dbc::Status &status) {
  if (!status.ok())
    std::fprintf(stderr, "%s\n", status.message.c_str());
  return status.ok();
}

/// The results of the lines, `size` at a time; `failed` counts inputs without one.
static bool run(const dbc::Model &model, int32_t number, const std::vector<std::string> &lines, size_t size,
                int threads, std::vector<std::string> &results, int &failed) {
  const dbc::EntryInfo &entry = model.info().entries[number];
  dbc::Session session(model, threads);
  dbc::Batch batch(model.info());
  dbc::InstanceReader reader(model.info(), entry);
  for (size_t begin = 0; begin < lines.size(); begin += size) {
    reader.clear(batch);
    for (size_t i = begin; i < std::min(begin + size, lines.size()); ++i)
      if (!fine(reader.append(lines[i], batch)))
        return false;
    if (!fine(session.run(number, batch)))
      return false;
    for (int32_t input = 0; input < batch.inputs(); ++input) {
      bool ok = session.status(input).ok();
      failed += !ok;
      results.push_back(
          ok ? dbc::to_json(dbc::output_value(session.outputs(number), entry, input, &reader.nodes()),
                            entry.result)
             : std::string("failed"));
    }
  }
  return true;
}

int main(int argc, char **) {
  const dbc::ModelCode &code = *DBC_MODEL_CODE();
  const dbc::ModelInfo &info = *code.info;
  dbc::Weights weights(info);
  weights.draw(1);
  dbc::Model model;
  if (!fine(dbc::Model::make(code, weights, &model)))
    return 1;
  for (size_t number = 0; number < info.entries.size(); ++number) {
    const dbc::EntryInfo &entry = info.entries[number];
    std::vector<std::string> lines;
    for (uint64_t i = 0; i < 100; ++i) {
      dbc::Instance instance;
      if (!fine(dbc::draw_instance(info, entry, 1, i, instance)))
        return 1;
      lines.push_back(dbc::instance_json(info, entry, instance));
    }
    std::vector<std::string> together, alone;
    int failed = 0;
    if (!run(model, static_cast<int32_t>(number), lines, lines.size(), 2, together, failed) ||
        !run(model, static_cast<int32_t>(number), lines, 1, 1, alone, failed))
      return 1;
    bool same = together == alone;
    std::printf("%s: %zu inputs, %d failed, %s\n", entry.name.c_str(), lines.size(), failed / 2,
                same ? "the same in every batching" : "DIFFERENT from batching to batching");
    for (size_t i = 0; argc > 1 && i < together.size(); ++i)
      std::puts(together[i].c_str());
    if (!same || failed == 2 * static_cast<int>(lines.size()))
      return 1;
  }
  return info.entries.empty();
}
