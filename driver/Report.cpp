// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc report`: how a model is computed. What the passes decided comes from the `batch` level; with --input
// the model is run too, and what its stages did is counted; or, for a device, predicted from its constants.

#include "cost/EntryPredictor.h"
#include "driver/Commands.h"
#include "driver/DeviceReport.h"
#include "driver/Files.h"
#include "driver/Lines.h"
#include "driver/StageReport.h"
#include "oracle/Describe.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <dbc/io/profile.h>

namespace dbc::driver {

namespace {

llvm::json::Object profileJson(const RunProfile &profile, const EntryInfo &entry, int64_t inputs,
                               int64_t batches) {
  llvm::json::Array rows;
  for (const StageProfile &stage : profile.stages)
    rows.push_back(llvm::json::Object{{"name", stage.name},
                                      {"launches", stage.launches},
                                      {"rows", stage.rows},
                                      {"bytes_read", stage.bytes_read},
                                      {"bytes_written", stage.bytes_written},
                                      {"gathers", stage.gathers},
                                      {"operations", stage.operations}});
  return llvm::json::Object{{"entry", entry.name},
                            {"inputs", inputs},
                            {"batches", batches},
                            {"nodes", profile.nodes},
                            {"buffer_bytes", profile.buffer_bytes},
                            {"stages", std::move(rows)}};
}

} // namespace

/// Calls `batch` with the lines of --input, --batch at a time.
static Exit eachBatch(const Options &options,
                      llvm::function_ref<Exit(const std::vector<std::string> &)> batch) {
  LineReader input;
  if (llvm::Error error = input.open(options.countInput))
    return fail(std::move(error));
  for (std::vector<std::string> lines;;) {
    if (llvm::Error error = input.read(options.batch, lines))
      return fail(std::move(error));
    if (lines.empty())
      return kFine;
    if (Exit exit = batch(lines))
      return exit;
  }
}

/// Runs the input and counts.
static Exit count(const Options &options, ModelUnit &unit, llvm::json::Object &json) {
  LoadedModel loaded;
  int32_t entry = -1;
  if (Exit exit = load(options, unit, loaded, entry))
    return exit;
  CompiledRunner runner(loaded.model, entry, options.threads, loaded.device());
  int64_t inputs = 0, batches = 0;
  Status wrong; // with the first line that is
  Exit exit = eachBatch(options, [&](const std::vector<std::string> &lines) {
    std::vector<LineResult> results;
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    inputs += static_cast<int64_t>(lines.size());
    ++batches;
    for (const LineResult &result : results)
      if (wrong.ok())
        wrong = result.status;
    return kFine;
  });
  if (exit)
    return exit;
  const RunProfile &profile = runner.profile;
  const EntryInfo &info = loaded.info().entries[entry];
  if (options.json)
    json["run"] = profileJson(profile, info, inputs, batches);
  else
    llvm::outs() << "\n`" << info.name << "` on " << inputs << " inputs, " << profile.nodes << " nodes, in "
                 << batches << (batches == 1 ? " batch" : " batches") << ":\n"
                 << profile_table(profile);
  if (!wrong.ok()) {
    printError(wrong.message);
    return kUserError;
  }
  return kFine;
}

/// What a device does.
static Exit reportDevice(const Options &options, ModelUnit &unit, llvm::json::Object &json) {
  mlir::OwningOpRef<mlir::ModuleOp> host, kernels;
  if (Exit exit = unit.transform("kernel", host))
    return exit;
  if (Exit exit = unit.transform("kernel", kernels, {}, /*device=*/true))
    return exit;
  const codegen::MemoryPlan memory = unit.planMemory(*host, *kernels);
  llvm::json::Array programs;
  for (const auto &[number, program] : llvm::enumerate(reportKernels(*kernels, options.model.f64 ? 8 : 4))) {
    if (!options.entry.empty() && program.entry != options.entry)
      continue;
    llvm::json::Value report = toJson(program);
    report.getAsObject()->insert({"memory", toJson(memory, memory.entries[number])});
    programs.push_back(std::move(report));
    if (!options.json) {
      print(llvm::outs(), program);
      print(llvm::outs(), memory, memory.entries[number]);
    }
  }
  json["device"] = std::move(programs);
  return kFine;
}

/// Schedules the input on the CPU, which tells the rows of each level, and predicts what its batches take on
/// a device. Computes it only where computed values say which rows there are.
static Exit predictInput(const Options &options, ModelUnit &device, llvm::json::Object &json) {
  llvm::Expected<cost::DeviceConstants> constants = cost::readDevice(surroundings().devices, options.device);
  if (!constants)
    return fail(constants.takeError());
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  if (Exit exit = device.transform("kernel", kernels, {}, /*device=*/true))
    return exit;
  Options onCpu = options;
  onCpu.model.device = false;
  onCpu.model.target = "cpu";
  ModelUnit unit(onCpu.model);
  LoadedModel loaded;
  int32_t entry = -1;
  if (Exit exit = unit.lower())
    return exit;
  if (Exit exit = load(onCpu, unit, loaded, entry))
    return exit;
  const cost::EntryPredictor predictor(std::move(*constants), *kernels, loaded.info().entries[entry].name);
  CompiledRunner runner(loaded.model, entry, /*threads=*/1);
  LaunchLog log;
  log.compute = predictor.program().masked;
  runner.session.log_launches(&log);
  runner.session.limit_sub_batch(options.batch); // a device computes a batch as one sub-batch
  std::vector<cost::Prediction> batches;
  Exit exit = eachBatch(options, [&](const std::vector<std::string> &lines) {
    std::vector<LineResult> results;
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    for (const LineResult &result : results)
      if (!result.status.ok())
        return fail(result.status);
    batches.push_back(predictor.predict(log, runner.profile.stages, int64_t(lines.size())));
    return kFine;
  });
  if (exit)
    return exit;
  if (batches.empty()) {
    printError(options.countInput + ": has no inputs");
    return kUserError;
  }
  const cost::Prediction prediction = mean(batches);
  if (!options.json)
    print(llvm::outs() << "\n", predictor.device(), predictor.program(), prediction);
  json["prediction"] = toJson(predictor.device(), predictor.program(), prediction);
  return kFine;
}

Exit reportCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  const ModelInfo info = oracle::describe(unit.meaning());
  if (!hasEntry(info, options.entry))
    return kUserError;
  // What would be wrong with the last section of the report is said before the first.
  if ((!options.device.empty() || !options.countInput.empty()) && findEntry(info, options.entry) < 0)
    return kUserError;
  if (!options.device.empty())
    if (llvm::Expected<cost::DeviceConstants> constants =
            cost::readDevice(surroundings().devices, options.device);
        !constants)
      return fail(constants.takeError());
  mlir::OwningOpRef<mlir::ModuleOp> batch;
  if (Exit exit = unit.transform("batch", batch))
    return exit;
  mlir::OwningOpRef<mlir::ModuleOp> dyn;
  if (Exit exit = unit.transform("dyn", dyn))
    return exit;
  llvm::json::Object json;
  json["model"] = unit.meaning().getSymName()->str();
  json["moved_products"] = movesToJson(*batch);
  if (!options.json)
    printMoves(llvm::outs(), *batch);
  llvm::json::Array programs;
  const int64_t realBytes = options.model.f64 ? 8 : 4;
  std::vector<ProgramReport> reports = reportStages(*batch, realBytes);
  if (options.model.recompute != "none") {
    ModelOptions keeping = options.model;
    keeping.recompute = "none";
    ModelUnit other(keeping);
    mlir::OwningOpRef<mlir::ModuleOp> keepingAll;
    if (Exit exit = other.transform("batch", keepingAll))
      return exit;
    addRecomputed(reports, reportStages(*keepingAll, realBytes));
  }
  for (ProgramReport &program : reports) {
    if (!options.entry.empty() && program.entry != options.entry)
      continue;
    program.repeats = reportRepeats(*dyn, program.entry);
    programs.push_back(toJson(program));
    if (!options.json)
      print(llvm::outs(), program, options.all);
  }
  json["programs"] = std::move(programs);
  if (options.model.device)
    if (Exit exit = reportDevice(options, unit, json))
      return exit;
  Exit exit = kFine;
  if (!options.device.empty())
    exit = predictInput(options, unit, json);
  else if (!options.countInput.empty())
    exit = count(options, unit, json);
  if (options.json)
    llvm::outs() << llvm::json::Value(std::move(json)) << "\n";
  return exit;
}

} // namespace dbc::driver
