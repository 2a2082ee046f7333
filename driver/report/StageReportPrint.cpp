// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What `dbc report` prints of stages: text for people, JSON for programs.
#include "driver/report/StageReport.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include <dbc/counted.h>
#include <dbc/schedule.h>

using namespace mlir;

namespace dbc::driver {

/// How long rows are kept.
static std::string keptWords(const MemoryReport &memory) {
  if (memory.live == 0)
    return "to the end";
  return memory.live == 1 ? "for its level" : "for " + std::to_string(memory.live) + " levels";
}

/// What a table has a slot for.
static std::string slotWords(const TableReport &table) {
  std::string words = "each node or input";
  for (const std::string &key : table.keys)
    words += ", " + key;
  return words;
}

/// A line a stage, in columns.
static void printTable(llvm::raw_ostream &out, const std::vector<StageReport> &stages) {
  size_t nameWidth = 5, lineWidth = 4, whenWidth = 4;
  for (const StageReport &stage : stages) {
    nameWidth = std::max(nameWidth, stage.name.size());
    lineWidth = std::max(lineWidth, stage.location.size());
    whenWidth = std::max(whenWidth, stage.when.size());
  }
  auto line = [&](StringRef name, StringRef location, StringRef when, StringRef rows, StringRef products) {
    out << "  " << llvm::left_justify(name, nameWidth) << "  " << llvm::left_justify(location, lineWidth)
        << "  " << llvm::left_justify(when, whenWidth) << "  " << rows << products << "\n";
  };
  line("stage", "line", "runs", "for", "");
  for (const StageReport &stage : stages) {
    std::string products;
    for (const std::string &product : stage.products)
      products += "; product " + product;
    line(stage.name, stage.location, stage.when, stage.rows, products);
  }
  for (const StageReport &stage : stages)
    if (!stage.whyNotOnce.empty())
      out << "  `" << stage.name << "` does not run once: " << stage.whyNotOnce << "\n";
}

/// Each by itself, with all of its accesses.
static void printStage(llvm::raw_ostream &out, const StageReport &stage) {
  out << "  " << stage.name << " (" << stage.location << ")\n    a row for " << stage.rows << "; runs "
      << stage.when << "\n";
  if (!stage.whyNotOnce.empty())
    out << "    not once: " << stage.whyNotOnce << "\n";
  for (const std::string &product : stage.products)
    out << "    product " << product << "\n";
  for (const AccessReport &access : stage.accesses)
    out << "    " << access.what << " `" << access.array << "` (" << access.access << ", " << access.location
        << "): " << access.why << "\n";
  for (const KeptReport &kept : stage.kept)
    out << "    keeps `" << kept.array << "` for the gradient, " << counted(kept.bytes, "byte") << " a row\n";
}

/// Bytes that the gradient needs of each row, by what there is a row for.
static void printKept(llvm::raw_ostream &out, const std::vector<StageReport> &stages) {
  llvm::MapVector<StringRef, int64_t> bytes;
  for (const StageReport &stage : stages)
    for (const KeptReport &kept : stage.kept)
      bytes[stage.rows] += kept.bytes;
  for (auto [rows, each] : bytes)
    out << "  kept for the gradient: " << counted(each, "byte") << " for " << rows << "\n";
}

void print(llvm::raw_ostream &out, const ProgramReport &program, bool all) {
  out << (program.loss ? "loss `" : "entry `") << program.entry
      << "`: " << counted(program.stages.size(), "stage") << "\n";
  for (const TableReport &table : program.tables)
    out << "  table of `" << table.cell << "` (" << table.location << "): a slot for " << slotWords(table)
        << "; " << KeyTable::kBytes << " bytes a slot\n";
  for (const MemoryReport &memory : program.memory)
    out << "  memory: " << counted(memory.bytes, "byte") << " for " << memory.rows << ", kept "
        << keptWords(memory) << "\n";
  if (all) {
    for (const StageReport &stage : program.stages)
      printStage(out, stage);
  } else {
    printTable(out, program.stages);
    printKept(out, program.stages);
  }
  for (const KeptReport &array : program.recomputed)
    out << "  the gradient finds `" << array.array << "` again, in place of keeping "
        << counted(array.bytes, "byte") << " a row\n";
  for (const RepeatReport &repeat : program.repeats)
    out << "  repeated: " << repeat.what << ", at " << repeat.location << ", for each " << repeat.variables
        << " of " << repeat.binder << ", which it does not use: " << repeat.why << "\n";
}

std::string inJson(const std::string &text) { return llvm::json::fixUTF8(text); }

static llvm::json::Array inJson(const std::vector<std::string> &texts) {
  llvm::json::Array array;
  for (const std::string &text : texts)
    array.push_back(inJson(text));
  return array;
}

llvm::json::Value toJson(const ProgramReport &program) {
  llvm::json::Array stages;
  for (const StageReport &stage : program.stages) {
    llvm::json::Array accesses;
    for (const AccessReport &access : stage.accesses)
      accesses.push_back(llvm::json::Object{{"what", access.what},
                                            {"array", access.array},
                                            {"access", access.access},
                                            {"why", inJson(access.why)},
                                            {"location", inJson(access.location)}});
    llvm::json::Array kept;
    for (const KeptReport &array : stage.kept)
      kept.push_back(llvm::json::Object{{"array", array.array}, {"bytes", array.bytes}});
    stages.push_back(llvm::json::Object{{"name", stage.name},
                                        {"location", inJson(stage.location)},
                                        {"lines", inJson(stage.lines)},
                                        {"index_set", stage.indexSet},
                                        {"rows", inJson(stage.rows)},
                                        {"when", inJson(stage.when)},
                                        {"why_not_once", inJson(stage.whyNotOnce)},
                                        {"products", inJson(stage.products)},
                                        {"accesses", std::move(accesses)},
                                        {"kept", std::move(kept)}});
  }
  llvm::json::Array tables;
  for (const TableReport &table : program.tables)
    tables.push_back(llvm::json::Object{{"cell", table.cell},
                                        {"keys", llvm::json::Array(table.keys)},
                                        {"slot", slotWords(table)},
                                        {"slot_bytes", KeyTable::kBytes},
                                        {"location", inJson(table.location)}});
  llvm::json::Array repeats;
  for (const RepeatReport &repeat : program.repeats)
    repeats.push_back(llvm::json::Object{{"what", inJson(repeat.what)},
                                         {"location", inJson(repeat.location)},
                                         {"variables", repeat.variables},
                                         {"binder", inJson(repeat.binder)},
                                         {"why", inJson(repeat.why)},
                                         {"mend", inJson(repeat.mend)}});
  llvm::json::Array lost;
  for (const LostReport &each : program.lost)
    lost.push_back(llvm::json::Object{{"kind", each.kind},
                                      {"stage", each.stage},
                                      {"what", inJson(each.what)},
                                      {"location", inJson(each.location)},
                                      {"why", inJson(each.why)},
                                      {"mend", inJson(each.mend)}});
  llvm::json::Array memory;
  for (const MemoryReport &rows : program.memory)
    memory.push_back(llvm::json::Object{
        {"rows", inJson(rows.rows)}, {"bytes", rows.bytes}, {"live", rows.live}, {"kept", keptWords(rows)}});
  llvm::json::Array storages;
  for (const StorageReport &storage : program.storages) {
    llvm::json::Array parts;
    for (const StorageReport::Part &part : storage.parts)
      parts.push_back(
          llvm::json::Object{{"index_set", part.indexSet}, {"bytes", part.bytes}, {"live", part.live}});
    storages.push_back(std::move(parts));
  }
  llvm::json::Array recomputed;
  for (const KeptReport &array : program.recomputed)
    recomputed.push_back(llvm::json::Object{{"array", array.array}, {"bytes", array.bytes}});
  return llvm::json::Object{{"recomputed", std::move(recomputed)},
                            {"storages", std::move(storages)},
                            {"entry", program.entry},
                            {"loss", program.loss},
                            {"tables", std::move(tables)},
                            {"memory", std::move(memory)},
                            {"stages", std::move(stages)},
                            {"repeated", std::move(repeats)},
                            {"lost", std::move(lost)}};
}

} // namespace dbc::driver
