// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/StageReport.h"
#include "ir/Batch/Batch.h"
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/dyn/MovedProducts.h"
#include <dbc/schedule.h>

using namespace mlir;

namespace dbc::driver {

std::string shapesOf(linalg::ContractOp product) {
  std::string text;
  for (Value operand : product->getOperands().take_front(2)) {
    text += text.empty() ? "" : " @ ";
    llvm::interleave(
        dyn::extents(operand.getType()), [&](int64_t extent) { text += std::to_string(extent); },
        [&] { text += " x "; });
  }
  return text;
}

namespace {

class ProgramReader {
public:
  ProgramReader(batch::ProgramOp program, int64_t realBytes)
      : program(program), symbols(program), realBytes(realBytes) {}

  ProgramReport read() {
    ProgramReport report;
    report.entry = program.getSymName().str();
    report.loss = program.getLoss();
    tables(report);
    memory(report);
    program.walk<WalkOrder::PreOrder>(
        [&](batch::StageOp stage) { report.stages.push_back(this->stage(stage)); });
    return report;
  }

private:
  StageReport stage(batch::StageOp stage) {
    StageReport report;
    report.name = stage.getSymName().str();
    report.place = dyn::sourcePlace(stage.getLoc());
    report.rows = rows(program.lookupSymbol<kernel::SpaceOp>(stage.getSpace()));
    when(stage, report);
    stage.walk([&](Operation *op) {
      if (auto product = dyn_cast<linalg::ContractOp>(op))
        report.products.push_back(shapesOf(product) + ", at " + dyn::sourcePlace(product.getLoc()));
      else
        access(op, report.accesses);
    });
    return report;
  }

  /// What a space has a row for.
  std::string rows(kernel::SpaceOp space) {
    std::string parent = space.getParent() ? space.getParent()->str() : "";
    switch (space.getKind()) {
    case kernel::SpaceKind::Inputs:
      return "each input";
    case kernel::SpaceKind::Model:
      if (auto extent = space.getExtent())
        return "each of the " + std::to_string(*extent) + " values of `" +
               cast<StringAttr>(space.getColumns()[0]).getValue().str() + "`, when the model is made";
      return "the model, when it is made";
    case kernel::SpaceKind::Instances: {
      auto group = program.lookupSymbol<kernel::GroupOp>(*space.getGroup());
      bool one = group.getFurtherKeys(*space.getCell()).empty();
      if (one && group.getDataOf(*space.getCell()).empty())
        return "each input that asks for `" + space.getSymName().str() + "`";
      return one ? "each node that `" + space.getSymName().str() + "` is called for"
                 : "each combination of keys that `" + space.getSymName().str() + "` is called with";
    }
    case kernel::SpaceKind::Arm:
      return "each row of `" + parent + "` that takes this arm";
    case kernel::SpaceKind::Elements:
      return "each element of the list at " + dyn::sourcePlace(space.getLoc());
    case kernel::SpaceKind::Steps:
      return "each element of the scan at " + dyn::sourcePlace(space.getLoc());
    case kernel::SpaceKind::States:
      return "each state of the scan at " + dyn::sourcePlace(space.getLoc());
    }
    return "";
  }

  void when(batch::StageOp stage, StageReport &report) {
    report.when = "once";
    for (Operation *op = stage->getParentOp(); op != program; op = op->getParentOp()) {
      if (isa<batch::TogetherOp>(op))
        continue;
      std::string loop;
      if (auto levels = dyn_cast<batch::LevelsOp>(op)) {
        auto group = program.lookupSymbol<kernel::GroupOp>(levels.getGroup());
        std::string cells;
        for (Attribute cell : group.getCells())
          cells += (cells.empty() ? "`" : ", `") + cast<StringAttr>(cell).getValue().str() + "`";
        loop = "by level of " + cells;
      } else if (auto steps = dyn_cast<batch::StepsOp>(op)) {
        loop = "by step of the scan at " +
               dyn::sourcePlace(program.lookupSymbol<kernel::SpaceOp>(steps.getSpace()).getLoc());
      }
      report.when = report.when == "once" ? loop : loop + ", " + report.when;
    }
    if (report.when == "once")
      return;
    // The reads that the loop carries are what keeps it from running once.
    stage.walk([&](Operation *op) {
      auto gather = dyn_cast<batch::GatherOp>(op);
      auto segment = dyn_cast<batch::SegmentOp>(op);
      bool carried = (gather && gather.getCarried()) || (segment && segment.getCarried());
      if (carried && report.whyNotOnce.empty())
        report.whyNotOnce = "it needs results of earlier ones, at " + dyn::sourcePlace(op->getLoc());
    });
    if (report.whyNotOnce.empty())
      report.whyNotOnce = "it stands between stages that need results of earlier ones";
  }

  /// The tables of cells, by what their `place` functions say of each key.
  void tables(ProgramReport &report) {
    for (auto func : program.getBody().front().getOps<kernel::FuncOp>()) {
      if (func.getKind() != kernel::FuncKind::Place)
        continue;
      TableReport table;
      for (auto key : func.getBody().getOps<kernel::KeyOp>()) {
        auto group = program.lookupSymbol<kernel::GroupOp>(key.getGroup());
        table.cell = cast<StringAttr>(group.getCells()[key.getCell()]).getValue();
        std::string name = group.getFurtherKeys(key.getCell())[key.getKey()].str();
        bool told = !name.empty();
        name = told ? "`" + name + "`" : "a number of the caller";
        table.place = key.getWhere();
        if (key.getData()) {
          table.keys.push_back(told ? "node " + name : "the node of the caller");
          continue;
        }
        auto bounds = key.getRange().front().getTerminator()->getOperands();
        auto low = bounds[0].getDefiningOp<arith::ConstantIntOp>(),
             high = bounds[1].getDefiningOp<arith::ConstantIntOp>();
        table.keys.push_back(
            name + (low && high ? " in " + std::to_string(low.value()) + ".." + std::to_string(high.value())
                                : " in a range that the input says"));
      }
      report.tables.push_back(table);
    }
  }

  /// Buffers that share memory are counted each.
  void memory(ProgramReport &report) {
    for (auto buffer : program.getBody().front().getOps<batch::BufferOp>()) {
      auto space = program.lookupSymbol<kernel::SpaceOp>(buffer.getSpace());
      if (space.getKind() == kernel::SpaceKind::Model)
        continue;
      MemoryReport mine{rows(space),
                        dyn::scalar(buffer.getType()).isF32()        ? realBytes
                        : dyn::scalar(buffer.getType()).isInteger(1) ? 1
                                                                     : 4,
                        buffer.getLive().value_or(0)};
      for (int64_t extent : dyn::extents(buffer.getType()))
        mine.bytes *= extent;
      auto known = llvm::find_if(report.memory, [&](const MemoryReport &other) {
        return other.rows == mine.rows && other.live == mine.live;
      });
      if (known == report.memory.end())
        report.memory.push_back(mine);
      else
        known->bytes += mine.bytes;
    }
  }

  static std::string why(batch::Access access, bool list) {
    switch (access) {
    case batch::Access::Contiguous:
      return "the rows lie one after the other: no index array";
    case batch::Access::Strided:
      return "the rows lie at equal distances: no index array";
    case batch::Access::Unique:
      return "no two rows name the same one, but in no fixed order: the index array stays";
    case batch::Access::Shared:
      return list ? "the list's elements are results of calls, which may be shared: the index array stays"
                  : "several rows may name the same one: the index array stays";
    case batch::Access::Unknown:
      break;
    }
    return "nothing is known of the rows: the index array stays";
  }

  void access(Operation *op, std::vector<AccessReport> &to) {
    auto add = [&](const char *what, StringRef array, batch::Access access, bool list) {
      to.push_back({what, array.str(), batch::stringifyAccess(access).str(), why(access, list),
                    dyn::sourcePlace(op->getLoc())});
    };
    if (auto gather = dyn_cast<batch::GatherOp>(op))
      add("reads", gather.getArray(), batch::accessOf(batch::relationOf(symbols, gather)), false);
    else if (auto segment = dyn_cast<batch::SegmentOp>(op))
      add("reads", segment.getArray(),
          batch::accessOf(symbols.lookup<batch::ListRelationOp>(segment.getList()),
                          segment.getVia().has_value()),
          true);
    else if (auto scatter = dyn_cast<batch::ScatterOp>(op))
      add("writes", scatter.getBuffer(), batch::accessOf(batch::relationOf(symbols, scatter)), false);
  }

  batch::ProgramOp program;
  mlir::SymbolTable symbols;
  int64_t realBytes;
};

} // namespace

static std::string describe(const passes::MovedProduct &product) {
  using To = dyn::MovedTo;
  switch (product.to) {
  case To::BehindSum:
    return "once behind the sum at " + product.of + ", not for each element";
  case To::ByInstance:
    return "once for each `" + product.of + "`, not for each row that reads one";
  case To::Outside:
    return "in parts: what is known outside of the list at " + product.of + " is multiplied there, once";
  case To::Nowhere:
    return "for each row that reads a `" + product.of +
           "`: the recursion goes down the structure, so each is taken to be read by one";
  }
  return "";
}

void printMoves(llvm::raw_ostream &out, ModuleOp batch) {
  for (const passes::MovedProduct &product : passes::movedProducts(batch))
    out << product.place << ": the product with `" << product.params << "` is computed " << describe(product)
        << "\n";
}

llvm::json::Value movesToJson(ModuleOp batch) {
  llvm::json::Array all;
  for (const passes::MovedProduct &product : passes::movedProducts(batch))
    all.push_back(llvm::json::Object{
        {"place", product.place}, {"matrix", product.params}, {"computed", describe(product)}});
  return all;
}

std::vector<ProgramReport> reportStages(ModuleOp batch, int64_t realBytes) {
  std::vector<ProgramReport> reports;
  for (auto program : batch.getOps<batch::ProgramOp>())
    reports.push_back(ProgramReader(program, realBytes).read());
  return reports;
}

/// Which rows there is memory for at once.
static std::string keptRows(const MemoryReport &memory) {
  if (memory.live == 0)
    return "kept to the end";
  return memory.live == 1 ? "kept for its level" : "kept for " + std::to_string(memory.live) + " levels";
}

void print(llvm::raw_ostream &out, const ProgramReport &program) {
  out << (program.loss ? "loss `" : "entry `") << program.entry << "`: " << program.stages.size()
      << " stages\n";
  for (const TableReport &table : program.tables) {
    out << "  table of `" << table.cell << "` (" << table.place << "): a place for each node or input";
    for (const std::string &key : table.keys)
      out << ", " << key;
    out << "; " << KeyTable::kBytes << " bytes a place\n";
  }
  for (const MemoryReport &memory : program.memory)
    out << "  memory: " << memory.bytes << " bytes for " << memory.rows << ", " << keptRows(memory) << "\n";
  for (const StageReport &stage : program.stages) {
    out << "  " << stage.name << " (" << stage.place << ")\n    a row for " << stage.rows << "; runs "
        << stage.when << "\n";
    if (!stage.whyNotOnce.empty())
      out << "    not once: " << stage.whyNotOnce << "\n";
    for (const std::string &product : stage.products)
      out << "    product " << product << "\n";
    for (const AccessReport &access : stage.accesses)
      out << "    " << access.what << " `" << access.array << "` (" << access.access << ", " << access.place
          << "): " << access.why << "\n";
  }
  for (const RepeatReport &repeat : program.repeats)
    out << "  repeated: " << repeat.what << ", at " << repeat.place << ", for each " << repeat.variables
        << " of " << repeat.binder << ", which it does not use: " << repeat.why << "\n";
}

llvm::json::Value toJson(const ProgramReport &program) {
  llvm::json::Array stages;
  for (const StageReport &stage : program.stages) {
    llvm::json::Array accesses;
    for (const AccessReport &access : stage.accesses)
      accesses.push_back(llvm::json::Object{{"what", access.what},
                                            {"array", access.array},
                                            {"access", access.access},
                                            {"why", access.why},
                                            {"place", access.place}});
    stages.push_back(llvm::json::Object{{"name", stage.name},
                                        {"place", stage.place},
                                        {"rows", stage.rows},
                                        {"when", stage.when},
                                        {"why_not_once", stage.whyNotOnce},
                                        {"products", llvm::json::Array(stage.products)},
                                        {"accesses", std::move(accesses)}});
  }
  llvm::json::Array tables;
  for (const TableReport &table : program.tables)
    tables.push_back(llvm::json::Object{{"cell", table.cell},
                                        {"keys", llvm::json::Array(table.keys)},
                                        {"place_bytes", KeyTable::kBytes},
                                        {"place", table.place}});
  llvm::json::Array repeats;
  for (const RepeatReport &repeat : program.repeats)
    repeats.push_back(llvm::json::Object{{"what", repeat.what},
                                         {"place", repeat.place},
                                         {"variables", repeat.variables},
                                         {"binder", repeat.binder},
                                         {"why", repeat.why}});
  llvm::json::Array memory;
  for (const MemoryReport &rows : program.memory)
    memory.push_back(llvm::json::Object{{"rows", rows.rows}, {"bytes", rows.bytes}, {"live", rows.live}});
  return llvm::json::Object{{"entry", program.entry},      {"loss", program.loss},
                            {"tables", std::move(tables)}, {"memory", std::move(memory)},
                            {"stages", std::move(stages)}, {"repeated", std::move(repeats)}};
}

} // namespace dbc::driver
