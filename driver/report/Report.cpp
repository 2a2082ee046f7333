// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc report`: how a model is computed. What the passes decided comes from the `batch` level; with --input
// the model is run too, and what its stages did is counted; or, for a device, predicted from its constants.

#include "cost/EntryPredictor.h"
#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/Outputs.h"
#include "driver/profile/LoggedRunner.h"
#include "driver/report/BatchDrawing.h"
#include "driver/report/DeviceReport.h"
#include "driver/report/ReportPage.h"
#include "driver/report/StageReport.h"
#include "driver/report/Timeline.h"
#include "driver/surroundings/Surroundings.h"
#include "oracle/Describe.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <dbc/counted.h>
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

/// Inputs that are wrong, which a report leaves out.
struct LeftOut {
  int64_t inputs = 0;
  std::vector<std::string> messages; ///< of the first ones

  /// Gives how many inputs of a batch are right.
  int64_t add(const std::vector<LineResult> &results) {
    constexpr size_t kMostNamed = 10;
    int64_t wrong = 0;
    for (const LineResult &result : results) {
      if (result.status.ok())
        continue;
      ++wrong;
      if (messages.size() < kMostNamed)
        messages.push_back(result.status.message);
    }
    inputs += wrong;
    return static_cast<int64_t>(results.size()) - wrong;
  }
  /// Below the figures of the others.
  void print(llvm::raw_ostream &out) const {
    if (inputs > 0)
      out << "  " << counted(inputs, "input is", "inputs are") << " left out for "
          << (inputs == 1 ? "its error" : "their errors") << "\n";
  }
  /// What is wrong with them, to stderr.
  void printErrors() const {
    for (const std::string &message : messages)
      printError(message);
    if (const int64_t more = inputs - static_cast<int64_t>(messages.size()); more > 0)
      printError(counted(more, "more input is", "more inputs are") + " wrong");
  }
};

/// All that is found of a model.
struct Report {
  llvm::json::Object json;     ///< what --json prints
  llvm::json::Object pageData; ///< what the page, and the drawing, have beside it
  LeftOut leftOut;             ///< of the other inputs there is a report
};

/// Collects what a page shows of a run beside its counts, and a drawing; nothing where neither is asked for.
class PageDataOfRun {
public:
  /// `runner` is borrowed, and from now on timed where there is to be a page.
  PageDataOfRun(const Options &options, LoggedRunner &runner, const EntryCode &entry)
      : runner(runner), page(!options.pageOutput.empty()), drawn(page || !options.drawingOutput.empty()),
        emulated(options.model.target == "cuda-on-cpu"), drawing(runner.info, entry) {
    if (!page)
      return;
    runner.session.time_stages(true);
    runner.logLaunches();
  }
  /// Adds the batch that the runner has computed.
  void add(const std::vector<LineResult> &results) {
    std::vector<bool> failed;
    for (const LineResult &result : results)
      failed.push_back(!result.status.ok());
    if (drawn)
      drawing.add(runner.inputs(), failed);
    if (page)
      timeline.add(runner.log, runner.profile, runner.whole, int64_t(results.size()));
  }
  void predict(const cost::ProgramShape &program, const cost::Prediction &prediction) {
    if (page)
      timeline.predict(program, prediction);
  }
  /// Puts it into `pageData`, with predictions of a path.
  void finish(llvm::json::Object &pageData, std::optional<cost::DevicePath> path = std::nullopt) const {
    if (page)
      pageData["timeline"] = timeline.json(path, measured());
    if (drawn)
      pageData["drawing"] = llvm::json::Object{{"words", drawing.words()}, {"svg", drawing.svg()}};
  }

private:
  /// Where its times are measured.
  std::string measured() const {
    if (!runner.context)
      return "on this machine's CPU";
    return emulated
               ? "on the CPU, which ran the kernels thread by thread: these are no times of a GPU"
               : "on the GPU, each launch by itself, and a loop that is one launch at its first time step";
  }
  LoggedRunner &runner;
  const bool page, drawn, emulated;
  Timeline timeline;
  BatchDrawing drawing;
};

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

/// Runs the input and counts. What it returns is about all of it: the report has which inputs are wrong.
static Exit count(const Options &options, ModelUnit &unit, Report &report) {
  LoadedModel loaded;
  int32_t entry = -1;
  if (Exit exit = load(options, unit, loaded, entry))
    return exit;
  LoggedRunner runner(loaded.model, entry, options.threads, loaded.device());
  PageDataOfRun pageData(options, runner, loaded.model.code().entries[entry]);
  int64_t inputs = 0, batches = 0;
  Exit exit = eachBatch(options, [&](const std::vector<std::string> &lines) {
    std::vector<LineResult> results;
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    inputs += static_cast<int64_t>(lines.size());
    ++batches;
    pageData.add(results);
    report.leftOut.add(results);
    return kFine;
  });
  if (exit)
    return exit;
  if (batches > 0)
    pageData.finish(report.pageData);
  const RunProfile &profile = runner.profile;
  const EntryInfo &info = loaded.info().entries[entry];
  report.json["run"] = profileJson(profile, info, inputs, batches);
  report.json["left_out"] = report.leftOut.inputs;
  if (options.json)
    return kFine;
  const int64_t computed = inputs - report.leftOut.inputs;
  llvm::outs() << "\n`" << info.name << "` on "
               << (computed == inputs ? counted(inputs, "input")
                                      : std::to_string(computed) + " of " + counted(inputs, "input"))
               << ", " << counted(profile.nodes, "node") << ", in " << counted(batches, "batch", "batches")
               << ":\n"
               << profile_table(profile);
  report.leftOut.print(llvm::outs());
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
/// a device: of the inputs that are right. Computes it only where computed values say
/// which rows there are, or a page shows its times. What it returns is as of `count`.
static Exit predictInput(const Options &options, ModelUnit &device, Report &report) {
  llvm::Expected<cost::DeviceConstants> constants = cost::readDevice(surroundings().devices, options.device);
  if (!constants)
    return fail(constants.takeError());
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  if (Exit exit = device.transform("kernel", kernels, {}, /*device=*/true))
    return exit;
  Options onCpu = options;
  onCpu.model.device = false;
  onCpu.model.stagesOfDevice = true;
  onCpu.model.target = "cpu";
  ModelUnit unit(onCpu.model);
  LoadedModel loaded;
  int32_t entry = -1;
  if (Exit exit = unit.lower())
    return exit;
  if (Exit exit = load(onCpu, unit, loaded, entry))
    return exit;
  const cost::EntryPredictor predictor(std::move(*constants), *kernels, loaded.info().entries[entry].name);
  LoggedRunner runner(loaded.model, entry, /*threads=*/1);
  PageDataOfRun pageData(options, runner, loaded.model.code().entries[entry]);
  runner.log.compute = predictor.program().masked || !options.pageOutput.empty();
  runner.logLaunches();
  runner.session.limit_sub_batch(options.batch); // a device computes a batch as one sub-batch
  std::vector<cost::Prediction> batches;
  Exit exit = eachBatch(options, [&](const std::vector<std::string> &lines) {
    std::vector<LineResult> results;
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    const int64_t right = report.leftOut.add(results);
    pageData.add(results);
    if (right == 0)
      return kFine;
    batches.push_back(predictor.predict(runner.log, runner.profile.stages, right));
    pageData.predict(predictor.program(), batches.back());
    batches.back().forgetTimeSteps();
    return kFine;
  });
  if (exit)
    return exit;
  if (batches.empty() && report.leftOut.inputs == 0) {
    printError(options.countInput + ": has no inputs");
    return kUserError;
  }
  report.json["left_out"] = report.leftOut.inputs;
  if (batches.empty()) {
    pageData.finish(report.pageData);
    return kFine;
  }
  const cost::Prediction prediction = mean(batches);
  if (!options.json) {
    print(llvm::outs() << "\n", predictor.device(), predictor.program(), prediction);
    report.leftOut.print(llvm::outs());
  }
  report.json["prediction"] = toJson(predictor.device(), predictor.program(), prediction);
  pageData.finish(report.pageData, prediction.choice());
  return kFine;
}

/// Writes the page and the drawing, those that are asked for.
static llvm::Error writePageAndDrawing(const Options &options, const ModelUnit &unit, const Report &report) {
  if (!options.drawingOutput.empty()) {
    const llvm::json::Object *drawing = report.pageData.getObject("drawing");
    if (!drawing)
      return llvm::createStringError(options.countInput + ": has no inputs to draw");
    if (llvm::Error error = writeFile(options.drawingOutput, *drawing->getString("svg")))
      return error;
  }
  if (options.pageOutput.empty())
    return llvm::Error::success();
  llvm::json::Object all = report.pageData;
  for (const auto &[name, value] : report.json)
    all[name] = value;
  if (llvm::Error error = addSources(all, commandLine(options.model, /*how=*/true), unit.files()))
    return error;
  return writePage(options.pageOutput, std::move(all));
}

Exit reportCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  if (Exit exit = refuseOverwriting(options, unit.files()))
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
  Report report;
  llvm::json::Object &json = report.json;
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
    program.repeats = reportRepeats(*dyn, program);
    findLost(program, options.model.recompute);
    programs.push_back(toJson(program));
    if (!options.json)
      print(llvm::outs(), program, options.all);
  }
  json["programs"] = std::move(programs);
  if (options.model.device)
    if (Exit exit = reportDevice(options, unit, json))
      return exit;
  if (!options.device.empty()) {
    if (Exit exit = predictInput(options, unit, report))
      return exit;
  } else if (!options.countInput.empty()) {
    if (Exit exit = count(options, unit, report))
      return exit;
  }
  llvm::Error error = writePageAndDrawing(options, unit, report);
  if (!error && options.json)
    llvm::outs() << llvm::json::Value(std::move(report.json)) << "\n";
  report.leftOut.printErrors();
  if (error)
    return fail(std::move(error));
  return report.leftOut.inputs > 0 ? kUserError : kFine;
}

} // namespace dbc::driver
