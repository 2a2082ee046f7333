// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc report`: how a model is computed. What the passes decided comes from the `batch` level; with --input
// the model is run too, and what its stages did is counted.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/Lines.h"
#include "driver/StageReport.h"
#include "oracle/Describe.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

namespace {

/// What the stages of an entry did over all batches of the input.
struct Counts {
  int64_t inputs = 0, nodes = 0, batches = 0;
  std::vector<StageProfile> stages;

  void add(const RunProfile &profile) {
    ++batches;
    nodes += profile.nodes;
    stages.resize(profile.stages.size());
    for (size_t i = 0; i < stages.size(); ++i) {
      const StageProfile &from = profile.stages[i];
      stages[i].name = from.name;
      stages[i].launches += from.launches;
      stages[i].rows += from.rows;
      stages[i].bytes_read += from.bytes_read;
      stages[i].bytes_written += from.bytes_written;
      stages[i].gathers += from.gathers;
    }
  }

  llvm::json::Object json(const EntryInfo &entry) const {
    llvm::json::Array rows;
    for (const StageProfile &stage : stages)
      rows.push_back(llvm::json::Object{{"name", stage.name},
                                        {"launches", stage.launches},
                                        {"rows", stage.rows},
                                        {"bytes_read", stage.bytes_read},
                                        {"bytes_written", stage.bytes_written},
                                        {"gathers", stage.gathers}});
    return llvm::json::Object{{"entry", entry.name},
                              {"inputs", inputs},
                              {"batches", batches},
                              {"nodes", nodes},
                              {"stages", std::move(rows)}};
  }

  void print(llvm::raw_ostream &out, const EntryInfo &entry) const {
    out << "\n`" << entry.name << "` on " << inputs << " inputs, " << nodes << " nodes, in " << batches
        << (batches == 1 ? " batch" : " batches") << ":\n";
    auto row = [&](llvm::StringRef name, auto... numbers) {
      out << "  " << llvm::left_justify(name, 40);
      ((out << llvm::right_justify(numbers, 14)), ...);
      out << "\n";
    };
    auto text = [](int64_t number) { return std::to_string(number); };
    row("stage", "launches", "rows", "bytes read", "bytes written", "gathers");
    for (const StageProfile &stage : stages)
      row(stage.name, text(stage.launches), text(stage.rows), text(stage.bytes_read),
          text(stage.bytes_written), text(stage.gathers));
  }
};

} // namespace

/// Runs the input and counts.
static Exit count(const Options &options, ModelUnit &unit, llvm::json::Object &json) {
  LoadedModel loaded;
  if (Exit exit = load(options, unit, loaded))
    return exit;
  int32_t entry = findEntry(loaded.info(), options.entry);
  if (entry < 0)
    return kUserError;
  LineReader input;
  if (llvm::Error error = input.open(options.countInput))
    return fail(std::move(error));
  CompiledRunner runner(loaded.model, entry, options.threads);
  std::vector<std::string> lines;
  std::vector<LineResult> results;
  Counts counts;
  Status wrong; // with the first line that is
  while (true) {
    if (llvm::Error error = input.read(options.batch, lines))
      return fail(std::move(error));
    if (lines.empty())
      break;
    results.clear();
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    counts.inputs += static_cast<int64_t>(lines.size());
    counts.add(runner.session.profile(entry));
    for (const LineResult &result : results)
      if (wrong.ok())
        wrong = result.status;
  }
  if (options.json)
    json["run"] = counts.json(loaded.info().entries[entry]);
  else
    counts.print(llvm::outs(), loaded.info().entries[entry]);
  if (!wrong.ok()) {
    printError(wrong.message);
    return kUserError;
  }
  return kFine;
}

Exit reportCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  if (!hasEntry(oracle::describe(unit.meaning()), options.entry))
    return kUserError;
  mlir::OwningOpRef<mlir::ModuleOp> batch;
  if (Exit exit = unit.transform("batch", batch))
    return exit;
  llvm::json::Object json;
  json["model"] = unit.meaning().getSymName()->str();
  llvm::json::Array programs;
  for (const ProgramReport &program : reportStages(*batch)) {
    if (!options.entry.empty() && program.entry != options.entry)
      continue;
    programs.push_back(toJson(program));
    if (!options.json)
      print(llvm::outs(), program);
  }
  json["programs"] = std::move(programs);
  Exit exit = options.countInput.empty() ? kFine : count(options, unit, json);
  if (options.json)
    llvm::outs() << llvm::json::Value(std::move(json)) << "\n";
  return exit;
}

} // namespace dbc::driver
