// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/StageReport.h"
#include "ir/Batch/Batch.h"
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/batch/StageGraph.h"
#include "passes/dyn/MovedProducts.h"
#include "llvm/Support/Path.h"
#include <map>
#include <set>

using namespace mlir;

namespace dbc::driver {

std::string shapesOf(linalg::ContractOp product) {
  std::string text;
  for (mlir::Value operand : product->getOperands().take_front(2)) {
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
  ProgramReader(kernel::ProgramOp program, int64_t realBytes)
      : program(program), symbols(program), realBytes(realBytes) {
    findKept();
  }

  ProgramReport read() {
    ProgramReport report;
    report.entry = program.getSymName().str();
    report.loss = program.getLoss();
    tables(report);
    memory(report);
    storages(report);
    findInTables(report);
    program.walk<WalkOrder::PreOrder>(
        [&](batch::StageOp stage) { report.stages.push_back(this->stage(stage)); });
    return report;
  }

private:
  /// Finds the arrays that are written until the results are there, and read behind that: by adjoints.
  void findKept() {
    if (program.getBody().front().getOps<kernel::GradientOp>().empty() &&
        program.getBody().front().getOps<kernel::InputGradientOp>().empty())
      return;
    llvm::StringSet<> outputs;
    for (auto output : program.getBody().front().getOps<kernel::OutputOp>())
      outputs.insert(output.getBuffer());
    std::vector<passes::StageAccess> units;
    size_t forward = 0; // units until the results are there
    for (Operation &op : program.getBody().front()) {
      if (!batch::isScheduled(&op))
        continue;
      units.push_back(passes::accessesOf(&op));
      if (llvm::any_of(units.back().writes, [&](StringRef array) { return outputs.contains(array); }))
        forward = units.size();
    }
    llvm::StringSet<> written;
    for (const auto &[number, unit] : llvm::enumerate(units)) {
      if (number < forward)
        for (StringRef array : unit.writes)
          written.insert(array);
      else
        for (const passes::StageRead &read : unit.reads)
          if (written.contains(read.array))
            kept.insert(read.array);
    }
  }

  /// Operations of one place may be in a table where one that looks it up calls a function, and elsewhere
  /// where another does: then the place is in none.
  void findInTables(ProgramReport &report) {
    llvm::StringSet<> elsewhere;
    program.walk([&](batch::StageOp stage) {
      if (stage.getRole() != batch::StageRole::Forward)
        return;
      const kernel::IndexSetKind kind =
          program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet()).getKind();
      const bool table = kind == kernel::IndexSetKind::Model || kind == kernel::IndexSetKind::Distinct;
      stage.walk([&](Operation *op) {
        if (op != stage && !isa<batch::ReadOp, batch::GatherOp, batch::WriteOp>(op))
          (table ? report.inTables : elsewhere).insert(dyn::sourceLocation(op->getLoc()));
      });
    });
    for (StringRef place : elsewhere.keys())
      report.inTables.erase(place);
  }

  /// Of an array's row.
  int64_t bytesOf(kernel::BufferOp buffer) {
    return llvm::product_of(dyn::extents(buffer.getType())) *
           kernel::bytesOf(dyn::scalar(buffer.getType()), realBytes);
  }

  StageReport stage(batch::StageOp stage) {
    StageReport report;
    report.name = stage.getName().str();
    report.location = dyn::sourceLocation(stage.getLoc());
    report.indexSet = stage.getIndexSet().str();
    report.rows = rows(program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet()));
    when(stage, report);
    std::set<std::pair<std::string, unsigned>> places;
    stage.walk([&](Operation *op) {
      if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
        places.insert({llvm::sys::path::filename(place.getFilename().getValue()).str(), place.getLine()});
      if (auto product = dyn_cast<linalg::ContractOp>(op))
        report.products.push_back(shapesOf(product) + ", at " + dyn::sourceLocation(product.getLoc()));
      else
        access(op, report.accesses);
    });
    for (const auto &[file, line] : places)
      report.lines.push_back(file + ":" + std::to_string(line));
    for (StringRef array : passes::accessesOf(stage).writes)
      if (kept.contains(array))
        report.kept.push_back({array.str(), bytesOf(program.lookupSymbol<kernel::BufferOp>(array))});
    return report;
  }

  /// Of distinct numbers: the rows of a table whose gradient lies there, or else values of an index.
  std::string distinctRows(kernel::IndexSetOp indexSet) {
    Block &body = program.getBody().front();
    for (auto gradient : body.getOps<kernel::GradientOp>())
      if (auto buffer = program.lookupSymbol<kernel::BufferOp>(gradient.getBuffer());
          buffer.getIndexSet() == indexSet.getSymName())
        return "each row that is looked up of the table `" + gradient.getParam().str() + "`, declared at " +
               dyn::sourceLocation(program->getParentOfType<ModuleOp>()
                                       .lookupSymbol<kernel::ParamOp>(gradient.getParamAttr())
                                       .getLoc());
    for (auto made : body.getOps<batch::DistinctOp>())
      if (made.getIndexSet() == indexSet.getSymName())
        return "each value of `" + cast<StringAttr>(made.getIndexArrays()[0]).str() + "` that the batch has";
    llvm_unreachable("something makes an index set of distinct numbers");
  }

  /// What an index set has a row for.
  std::string rows(kernel::IndexSetOp indexSet) {
    std::string parent = indexSet.getParent() ? indexSet.getParent()->str() : "";
    switch (indexSet.getKind()) {
    case kernel::IndexSetKind::Inputs:
      return "each input";
    case kernel::IndexSetKind::Model:
      if (auto extent = indexSet.getExtent())
        return (*extent == 1 ? "the one value of `"
                             : "each of the " + std::to_string(*extent) + " values of `") +
               cast<StringAttr>(indexSet.getIndexArrays()[0]).getValue().str() + "`, when the model is made";
      return "the model, when it is made";
    case kernel::IndexSetKind::Instances: {
      auto group = program.lookupSymbol<kernel::GroupOp>(*indexSet.getGroup());
      bool one = group.getSecondaryKeys(*indexSet.getCell()).empty();
      if (one && group.getDataOf(*indexSet.getCell()).empty())
        return "each input that asks for `" + indexSet.getSymName().str() + "`";
      return one ? "each node that `" + indexSet.getSymName().str() + "` is called for"
                 : "each combination of keys that `" + indexSet.getSymName().str() + "` is called with";
    }
    case kernel::IndexSetKind::Arm:
      return "each row of `" + parent + "` that takes the arm `" + indexSet.getSymName().str() + "`";
    case kernel::IndexSetKind::Elements:
      return "each element of the list at " + dyn::sourceLocation(indexSet.getLoc());
    case kernel::IndexSetKind::Steps:
      return "each element of the scan at " + dyn::sourceLocation(indexSet.getLoc());
    case kernel::IndexSetKind::States:
      return "each state of the scan at " + dyn::sourceLocation(indexSet.getLoc());
    case kernel::IndexSetKind::Batch:
      return "the batch";
    case kernel::IndexSetKind::Distinct:
      return distinctRows(indexSet);
    case kernel::IndexSetKind::Column:
      return rowsOfColumn(indexSet.getParentAttr());
    case kernel::IndexSetKind::Transpose:
    case kernel::IndexSetKind::ByInput:
      break; // no stage is over them
    }
    return "";
  }

  /// Of a field or argument, by its array.
  std::string rowsOfColumn(FlatSymbolRefAttr array) {
    auto words = [](auto op, const std::string &owner) {
      return op.getArray() == kernel::FieldArray::Items
                 ? "each element of `" + op.getName().str() + "` of " + owner
                 : "each " + owner;
    };
    if (auto field = symbols.lookup<kernel::FieldOp>(array.getAttr()))
      return words(field, "node of `" + field.getData().str() + "`");
    return words(symbols.lookup<kernel::ArgumentOp>(array.getAttr()), "input");
  }

  void when(batch::StageOp stage, StageReport &report) {
    report.when = "once";
    for (Operation *op = stage->getParentOp(); op != program; op = op->getParentOp()) {
      if (isa<kernel::ConcurrentOp>(op))
        continue;
      std::string loop;
      if (auto levels = dyn_cast<kernel::LevelsOp>(op)) {
        auto group = program.lookupSymbol<kernel::GroupOp>(levels.getCarrier());
        std::string cells;
        for (Attribute cell : group.getCells())
          cells += (cells.empty() ? "`" : ", `") + cast<StringAttr>(cell).getValue().str() + "`";
        loop = "by level of " + cells;
      } else if (auto steps = dyn_cast<kernel::StepsOp>(op)) {
        loop = "by step of the scan at " +
               dyn::sourceLocation(program.lookupSymbol<kernel::IndexSetOp>(steps.getCarrier()).getLoc());
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
      report.readsEarlier |= carried;
      if (carried && report.whyNotOnce.empty())
        report.whyNotOnce = "it needs results of earlier ones, at " + dyn::sourceLocation(op->getLoc());
    });
    if (report.whyNotOnce.empty())
      report.whyNotOnce = "it stands between stages that need results of earlier ones";
  }

  /// The tables of cells, by what their `slot` functions say of each key.
  void tables(ProgramReport &report) {
    for (auto func : program.getBody().front().getOps<kernel::FuncOp>()) {
      if (func.getKind() != kernel::FuncKind::Slot)
        continue;
      TableReport table;
      for (auto key : func.getBody().getOps<kernel::KeyOp>()) {
        auto group = program.lookupSymbol<kernel::GroupOp>(key.getGroup());
        table.cell = cast<StringAttr>(group.getCells()[key.getCell()]).getValue();
        std::string name = group.getSecondaryKeys(key.getCell())[key.getKey()].str();
        bool named = !name.empty();
        name = named ? "`" + name + "`" : "a number of the caller";
        table.location = key.getWhere();
        if (key.getData()) {
          table.keys.push_back(named ? "node " + name : "the node of the caller");
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
    for (auto buffer : program.getBody().front().getOps<kernel::BufferOp>()) {
      auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(buffer.getIndexSet());
      if (indexSet.getKind() == kernel::IndexSetKind::Model)
        continue;
      MemoryReport mine{rows(indexSet), bytesOf(buffer), buffer.getLive().value_or(0)};
      auto known = llvm::find_if(report.memory, [&](const MemoryReport &other) {
        return other.rows == mine.rows && other.live == mine.live;
      });
      if (known == report.memory.end())
        report.memory.push_back(mine);
      else
        known->bytes += mine.bytes;
    }
  }

  void storages(ProgramReport &report) {
    llvm::StringSet<> ofResults; // gradients: what gives results is copied
    for (Operation &op : program.getBody().front()) {
      if (FlatSymbolRefAttr result = kernel::resultOf(&op); result && !isa<kernel::OutputOp>(op))
        ofResults.insert(result.getValue());
    }
    std::map<int64_t, size_t> numbered;
    for (auto buffer : program.getBody().front().getOps<kernel::BufferOp>()) {
      auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(buffer.getIndexSet());
      if (indexSet.getKind() == kernel::IndexSetKind::Model || ofResults.contains(buffer.getSymName()))
        continue;
      size_t at = report.storages.size();
      if (buffer.getStorage())
        at = numbered.try_emplace(*buffer.getStorage(), at).first->second;
      if (at == report.storages.size())
        report.storages.emplace_back();
      report.storages[at].parts.push_back(
          {buffer.getIndexSet().str(), bytesOf(buffer), buffer.getLive().value_or(0)});
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
                    dyn::sourceLocation(op->getLoc())});
    };
    if (auto gather = dyn_cast<batch::GatherOp>(op))
      add("reads", gather.getArray(), batch::accessOf(batch::relationOf(symbols, gather)), false);
    else if (auto segment = dyn_cast<batch::SegmentOp>(op))
      segmentAccess(segment, to);
    else if (auto scatter = dyn_cast<batch::ScatterOp>(op))
      add("writes", scatter.getBuffer(), batch::accessOf(batch::relationOf(symbols, scatter)), false);
  }

  void segmentAccess(batch::SegmentOp segment, std::vector<AccessReport> &to) {
    AccessReport report{"reads", segment.getArray().str(), "", "", dyn::sourceLocation(segment.getLoc())};
    batch::Access access = batch::Access::Shared;
    if (auto list = symbols.lookup<batch::ListRelationOp>(segment.getList())) {
      access = batch::accessOf(list, segment.getVia().has_value());
      report.why = why(access, /*list=*/true);
    } else {
      report.why = "a gradient comes from each row that has read this one: the index array stays";
    }
    report.access = batch::stringifyAccess(access).str();
    to.push_back(std::move(report));
  }

  kernel::ProgramOp program;
  mlir::SymbolTable symbols;
  int64_t realBytes;
  llvm::StringSet<> kept; ///< arrays that derivatives are computed from
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
    return "as a sum of products: what is known outside of the list at " + product.of +
           " is multiplied there, once";
  case To::Nowhere:
    return "for each row that reads a `" + product.of +
           "`: the recursion goes down the structure, so each is taken to be read by one";
  }
  return "";
}

void printMoves(llvm::raw_ostream &out, ModuleOp batch) {
  for (const passes::MovedProduct &product : passes::movedProducts(batch))
    out << product.location << ": "
        << (product.params.empty() ? "a product" : "the product with `" + product.params + "`")
        << " is computed " << describe(product) << "\n";
}

/// What would mend that a product stays where it is; empty where it has moved.
static std::string mendOf(const passes::MovedProduct &product) {
  return product.to != dyn::MovedTo::Nowhere ? ""
                                             : "where several rows read a `" + product.of +
                                                   "`, return the product from the cell, beside its result: "
                                                   "then it is computed once for each";
}

llvm::json::Value movesToJson(ModuleOp batch) {
  llvm::json::Array all;
  for (const passes::MovedProduct &product : passes::movedProducts(batch))
    all.push_back(llvm::json::Object{{"location", inJson(product.location)},
                                     {"matrix", product.params},
                                     {"computed", inJson(describe(product))},
                                     {"mend", mendOf(product)}});
  return all;
}

std::vector<ProgramReport> reportStages(ModuleOp batch, int64_t realBytes) {
  std::vector<ProgramReport> reports;
  for (auto program : batch.getOps<kernel::ProgramOp>())
    reports.push_back(ProgramReader(program, realBytes).read());
  return reports;
}

void addRecomputed(std::vector<ProgramReport> &programs, const std::vector<ProgramReport> &keepingAll) {
  for (auto [program, all] : llvm::zip_equal(programs, keepingAll)) {
    llvm::StringSet<> kept;
    for (const StageReport &stage : program.stages)
      for (const KeptReport &array : stage.kept)
        kept.insert(array.array);
    for (const StageReport &stage : all.stages)
      for (const KeptReport &array : stage.kept)
        if (!kept.contains(array.array))
          program.recomputed.push_back(array);
  }
}

} // namespace dbc::driver
