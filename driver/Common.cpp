// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What several subcommands need.

#include "driver/Commands.h"
#include "driver/CompiledCode.h"
#include "driver/Files.h"
#include "driver/weights/Refused.h"
#include "frontend/syntax/Diagnostics.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <dbc/io/safetensors.h>

namespace dbc::driver {

int32_t findEntry(const ModelInfo &info, const std::string &name) {
  std::vector<std::string> names;
  int32_t only = -1, entries = 0;
  for (size_t i = 0; i < info.entries.size(); ++i) {
    const EntryInfo &entry = info.entries[i];
    if (entry.name == name)
      return static_cast<int32_t>(i);
    names.push_back(entry.name);
    if (!entry.is_loss) {
      ++entries;
      only = static_cast<int32_t>(i);
    }
  }
  if (names.empty()) {
    printError("model `" + info.name + "` has no entry and no loss");
    return -1;
  }
  std::string list;
  for (const std::string &each : names)
    list += (list.empty() ? "`" : ", `") + each + "`";
  if (!name.empty()) {
    std::string hint = frontend::didYouMean(name, names);
    printError("model `" + info.name + "` has no entry or loss `" + name + "`" +
               (hint.empty() ? "; it has " + list : "; " + hint));
    return -1;
  }
  if (names.size() == 1)
    return 0;
  if (entries == 1)
    return only;
  printError("which one? `--entry` takes one of " + list);
  return -1;
}

bool hasEntry(const ModelInfo &info, const std::string &name) {
  return (name.empty() && !info.entries.empty()) || findEntry(info, name) >= 0;
}

void sayDrawn(const Options &options, const ModelInfo &info) {
  if (options.weights.empty() && !info.params.empty() && llvm::sys::Process::StandardErrIsDisplayed())
    llvm::errs() << "weights are drawn from seed " << options.seed << ": --weights FILE takes trained ones\n";
}

Status makeWeights(const Options &options, Weights &weights) {
  if (!options.weights.empty()) {
    const Status status = load_weights(options.weights, weights);
    return status.ok() ? status : explainRefused(status, options.weights, weights.info());
  }
  weights.draw(options.seed);
  return Status();
}

Exit load(const Options &options, ModelUnit &unit, LoadedModel &loaded, void (*change)(Weights &)) {
  GeneratedCode generated;
  if (Exit exit = unit.generate(generated))
    return exit;
  const ModelCode *code = nullptr;
  if (Exit exit = loadShared(generated, options.model.target == "cuda-on-cpu", options.model.verbose, code))
    return exit;
  loaded.weights.emplace(*code->info);
  if (Status status = makeWeights(options, *loaded.weights); !status.ok())
    return fail(status);
  if (change && options.weights.empty())
    change(*loaded.weights);
  // So that whoever else computes with these weights has those that compiled code has.
  for (int32_t param : code->bf16_params)
    loaded.weights->round_to_bf16(param);
  if (Status status = Model::make(*code, *loaded.weights, &loaded.model); !status.ok())
    return fail(status);
  if (options.model.device && options.model.target != "cpu,cuda")
    if (Status status = cuda::Model::make(loaded.model, /*device=*/0, &loaded.onDevice.emplace());
        !status.ok())
      return fail(status);
  return kFine;
}

Exit load(const Options &options, ModelUnit &unit, LoadedModel &loaded, int32_t &entry) {
  if (Exit exit = load(options, unit, loaded))
    return exit;
  entry = findEntry(loaded.info(), options.entry);
  return entry < 0 ? kUserError : kFine;
}

} // namespace dbc::driver
