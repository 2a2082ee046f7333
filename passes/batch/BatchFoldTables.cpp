// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-fold-tables: what depends on one index and parameters alone is computed once for each value of the
// index, and looked up: when the model is made for every value that the index may have, or in each run for
// those that the batch has. Which stages these are is found for whole buffers, before stages are fused.
#include "ir/Batch/Batch.h"
#include "ir/Dyn/RowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>
#include <limits>
#include <map>

#define DEBUG_TYPE "batch-fold-tables"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHFOLDTABLES
#include "passes/Passes.h.inc"

namespace {

/// What the values of a stage depend on.
struct Dependence {
  bool folds = true;      ///< on parameters, and on `indexArray` if it is not empty
  std::string indexArray; ///< of the stage's index set
  int64_t extent = 0;     ///< its elements are below it; 0: not known
  bool expensive = false; ///< there is more to it than moving elements and adding them
  int64_t product = 0;    ///< multiplications of the largest product of matrices, for a row

  void merge(const Dependence &other) {
    folds &=
        other.folds && (indexArray.empty() || other.indexArray.empty() || indexArray == other.indexArray);
    if (indexArray.empty())
      indexArray = other.indexArray;
    bound(other.extent);
    expensive |= other.expensive;
    product = std::max(product, other.product);
  }
  void bound(int64_t n) {
    if (n > 0)
      extent = extent ? std::min(extent, n) : n;
  }
  /// Whether there can be a row for each value of the index.
  bool isOfIndex() const { return folds && !indexArray.empty() && extent > 0; }
};

/// For which values of its index a table has rows.
enum class Values {
  All,     ///< computed when the model is made
  OfBatch, ///< computed in each run
};

/// A table of a run pays where this many multiplications stand for an element that is looked up instead, and
/// to which a gradient is added.
constexpr int64_t kLeastMultiplications = 32;

/// A buffer that one stage writes, at its own row.
struct Made {
  Made(kernel::BufferOp buffer, batch::StageOp stage, Dependence on)
      : buffer(buffer), stage(stage), on(std::move(on)) {}
  kernel::BufferOp buffer;
  batch::StageOp stage;
  Dependence on;
  enum { Undecided, Table, InPlace } state = Undecided;
  // What uses it:
  SmallVector<batch::ReadOp> reads; ///< at their own row
  bool elsewhere = false;           ///< anything else

  int64_t elementsOfRow() { return ShapedType::getNumElements(dyn::extents(buffer.getType())); }
  int64_t elementsOfTable() { return on.extent * elementsOfRow(); }
};

class Folding {
public:
  Folding(kernel::ProgramOp program, Values values, int64_t &elementsLeft)
      : program(program), symbols(program), values(values), left(elementsLeft) {}

  /// Gives how many tables a run looks up.
  size_t run() {
    findMade();
    while (Made *next = smallestWanted()) {
      int64_t elements = next->elementsOfTable();
      LDBG() << "@" << next->buffer.getSymName() << " by \"" << next->on.indexArray << "\" would have "
             << elements << " elements, of " << left << " left";
      next->state = elements <= left ? Made::Table : Made::InPlace;
      if (next->state == Made::Table)
        left -= elements;
    }
    SmallVector<std::pair<Made *, kernel::BufferOp>> folded;
    for (auto &[name, m] : made)
      if (m.state == Made::Table)
        folded.push_back({&m, tableOf(m, rowsOf(m))});
    for (auto [m, table] : folded)
      lookUp(*m, table);
    return folded.size();
  }

private:
  void findMade() {
    // What is written by several stages, or at other rows, depends on more.
    llvm::StringMap<batch::WriteOp> writes = soleWrites(program);
    for (auto stage : program.getBody().front().getOps<batch::StageOp>()) {
      Dependence on = dependenceOf(stage);
      for (auto write : stage.getBody().front().getOps<batch::WriteOp>())
        if (writes.lookup(write.getBuffer()))
          made.insert({write.getBufferAttr().getAttr(),
                       Made(symbols.lookup<kernel::BufferOp>(write.getBuffer()), stage, on)});
    }
    auto all = SymbolTable::getSymbolUses(&program.getBody());
    assert(all && "the uses of a program's symbols are known");
    for (SymbolTable::SymbolUse use : *all) {
      auto used = made.find(use.getSymbolRef().getRootReference());
      if (used == made.end())
        continue;
      if (auto read = dyn_cast<batch::ReadOp>(use.getUser()))
        used->second.reads.push_back(read);
      else if (!isa<batch::WriteOp>(use.getUser()))
        used->second.elsewhere = true;
    }
  }

  bool isOfModel(StringRef indexSet) {
    return symbols.lookup<kernel::IndexSetOp>(indexSet).getKind() == kernel::IndexSetKind::Model;
  }

  Dependence dependenceOf(batch::StageOp stage) {
    Dependence all;
    if (isOfModel(stage.getIndexSet()))
      return all; // is computed once as it is
    for (Operation &op : stage.getBody().front())
      all.merge(dependenceOf(op));
    return all;
  }

  /// What one op adds to what its operands depend on.
  Dependence dependenceOf(Operation &op) {
    Dependence on;
    if (auto read = dyn_cast<batch::ReadOp>(op)) {
      auto source = made.find(read.getBufferAttr().getAttr());
      on.folds = source != made.end();
      if (on.folds)
        on = source->second.on;
    } else if (auto index = dyn_cast<batch::ReadIndexOp>(op)) {
      on.folds = index.getType().isInteger(32);
      on.indexArray = index.getIndexArray().str();
    } else if (auto gather = dyn_cast<dyn::GatherOp>(op)) {
      on.folds = !dyn::mayFail(&op);
      // Of rows that are there for every value of the index: the structure functions have seen to that.
      if (gather.getIndex().getDefiningOp<batch::ReadIndexOp>())
        on.bound(dyn::extents(gather.getTensor().getType())[0]);
    } else if (!isa<batch::WriteOp>(op)) {
      // What can be an error of the input in hand must not be computed for values that no input has.
      on.folds = isMemoryEffectFree(&op) && !isa<batch::AccessOpInterface>(op) && !dyn::mayFail(&op);
      on.expensive = dyn::isRowOp(&op, dyn::RowKind::Product) || dyn::isRowOp(&op, dyn::RowKind::Reduction) ||
                     isa<dyn::FunctionOp>(op) || isa<math::MathDialect>(op.getDialect());
      if (auto contract = dyn_cast<linalg::ContractOp>(op))
        on.product = ShapedType::getNumElements(contract.getStaticLoopRanges());
    }
    return on;
  }

  bool makesTable(Made &m) {
    return m.on.isOfIndex() &&
           (values == Values::All ? m.on.expensive
                                  : m.on.product >= kLeastMultiplications * m.elementsOfRow());
  }

  /// Whether what is computed in a run asks for the buffer: not where only tables are made of it.
  bool isWanted(Made &m) {
    auto isTable = [&](batch::WriteOp write) {
      auto reader = made.find(write.getBufferAttr().getAttr());
      return reader != made.end() && makesTable(reader->second) && reader->second.state != Made::InPlace;
    };
    return m.elsewhere || llvm::any_of(m.reads, [&](batch::ReadOp read) {
             auto writes = read->getBlock()->getOps<batch::WriteOp>();
             return writes.empty() || !llvm::all_of(writes, isTable);
           });
  }

  Made *smallestWanted() {
    Made *best = nullptr;
    int64_t least = 0;
    for (auto &[name, m] : made) {
      if (m.state != Made::Undecided || !makesTable(m) || !isWanted(m))
        continue;
      int64_t elements = m.elementsOfTable();
      if (!best || elements < least)
        best = &m, least = elements;
    }
    return best;
  }

  /// The index set with a row for each value of what `made` depends on, and the index arrays that go by it.
  struct Rows {
    kernel::IndexSetOp indexSet;
    std::string value;      ///< in `indexSet`: what the row is for
    std::string indexArray; ///< in the index set of the stages that look up: the row
  };
  const Rows &rowsOf(Made &m) {
    std::string name = "table." + m.buffer.getIndexSet().str() + "." + m.on.indexArray;
    Rows &rows = tableRows[{name, m.on.extent}];
    if (rows.indexSet)
      return rows;
    const bool ofBatch = values == Values::OfBatch;
    rows.value = ofBatch ? "row" : m.on.indexArray;
    OpBuilder b(program.getContext());
    b.setInsertionPointToStart(&program.getBody().front());
    rows.indexSet = kernel::IndexSetOp::create(
        b, m.stage.getLoc(), name, ofBatch ? kernel::IndexSetKind::Distinct : kernel::IndexSetKind::Model,
        {rows.value}, /*parent=*/{}, m.on.extent);
    symbols.insert(rows.indexSet);
    rows.indexArray = m.on.indexArray;
    if (ofBatch) {
      auto from = symbols.lookup<kernel::IndexSetOp>(m.buffer.getIndexSet());
      StringAttr filled = from.addFilled(m.on.indexArray);
      rows.indexArray = filled.str();
      batch::DistinctOp::create(b, m.stage.getLoc(), FlatSymbolRefAttr::get(rows.indexSet),
                                b.getArrayAttr(FlatSymbolRefAttr::get(from)),
                                b.getStrArrayAttr({m.on.indexArray}), b.getArrayAttr(filled),
                                /*numbers=*/ArrayAttr(), /*always=*/DenseI32ArrayAttr());
    }
    return rows;
  }

  /// What a table is called: after the buffer that its rows end up in, where there is one.
  static std::string nameOf(Made &m) {
    StringRef name = m.buffer.getSymName();
    for (batch::ReadOp read : m.reads)
      for (Operation *user : read->getUsers())
        if (auto scatter = dyn_cast<batch::ScatterOp>(user))
          name = scatter.getBuffer();
    return "table." + name.str();
  }

  /// The buffer with the values over `rows`; makes it, with all that it is computed from, unless it is there.
  kernel::BufferOp tableOf(Made &m, const Rows &rows) {
    kernel::IndexSetOp indexSet = rows.indexSet;
    auto key = std::make_pair(m.buffer.getOperation(), indexSet.getOperation());
    if (kernel::BufferOp known = tables.lookup(key))
      return known;
    llvm::StringMap<kernel::BufferOp> sources;
    for (auto read : m.stage.getBody().front().getOps<batch::ReadOp>()) {
      Made &source = made.find(read.getBufferAttr().getAttr())->second;
      if (!isOfModel(source.buffer.getIndexSet()))
        sources[read.getBuffer()] = tableOf(source, rows);
    }
    OpBuilder b(m.buffer);
    auto table =
        kernel::BufferOp::create(b, m.buffer.getLoc(), nameOf(m), indexSet.getSymName(), m.buffer.getType());
    symbols.insert(table);
    b.setInsertionPoint(m.stage); // what it reads of the model is there
    auto stage = cast<batch::StageOp>(b.clone(*m.stage));
    stage.setIndexSet(indexSet.getSymName());
    stage.removeWhenAttr();
    for (Operation &op : llvm::make_early_inc_range(stage.getBody().front())) {
      if (auto read = dyn_cast<batch::ReadOp>(op)) {
        if (kernel::BufferOp source = sources.lookup(read.getBuffer()))
          read.setBuffer(source.getSymName());
      } else if (auto index = dyn_cast<batch::ReadIndexOp>(op)) {
        index.setIndexArray(rows.value);
      } else if (auto write = dyn_cast<batch::WriteOp>(op)) {
        if (write.getBuffer() == m.buffer.getSymName())
          write.setBuffer(table.getSymName());
        else
          write.erase();
      }
    }
    return tables[key] = table;
  }

  /// From the rows of a stage to those of a table, by the index.
  FlatSymbolRefAttr relationTo(kernel::BufferOp table, batch::StageOp stage, StringRef indexArray) {
    auto relations = program.getBody().front().getOps<batch::RelationOp>();
    auto found = llvm::find_if(relations, [&](batch::RelationOp other) {
      return other.getFromAttr() == stage.getIndexSetAttr() && other.getToAttr() == table.getIndexSetAttr() &&
             other.getIndexArray() == indexArray;
    });
    if (found != relations.end())
      return FlatSymbolRefAttr::get((*found).getOperation());
    OpBuilder b(table);
    std::string name = ("rel." + stage.getIndexSet() + "." + indexArray + "." + table.getIndexSet()).str();
    auto made = batch::RelationOp::create(b, stage.getLoc(), b.getStringAttr(name), stage.getIndexSetAttr(),
                                          table.getIndexSetAttr(), b.getStringAttr(indexArray),
                                          batch::MultiplicityAttr());
    symbols.insert(made); // gives it another name where this one is taken
    return FlatSymbolRefAttr::get(made.getOperation());
  }

  /// Rows of the buffer are rows of its table, by the index.
  void lookUp(Made &m, kernel::BufferOp table) {
    auto gather = [&](Operation *before) {
      OpBuilder b(before);
      return batch::GatherOp::create(
                 b, before->getLoc(), m.buffer.getType(), FlatSymbolRefAttr::get(table.getOperation()),
                 relationTo(table, before->getParentOfType<batch::StageOp>(), rowsOf(m).indexArray),
                 FlatSymbolRefAttr(), /*ago=*/IntegerAttr())
          .getResult();
    };
    for (batch::ReadOp read : m.reads) {
      read.replaceAllUsesWith(gather(read));
      read.erase();
    }
    for (auto write : m.stage.getBody().front().getOps<batch::WriteOp>())
      if (write.getBuffer() == m.buffer.getSymName())
        write.getValueMutable().assign(gather(write));
  }

  kernel::ProgramOp program;
  SymbolTable symbols;
  Values values;
  int64_t &left;                          ///< elements that tables may still have
  llvm::MapVector<StringAttr, Made> made; ///< by the buffer's name
  std::map<std::pair<std::string, int64_t>, Rows> tableRows;
  llvm::DenseMap<std::pair<Operation *, Operation *>, kernel::BufferOp> tables;
};

struct BatchFoldTablesPass : impl::BatchFoldTablesBase<BatchFoldTablesPass> {
  using BatchFoldTablesBase::BatchFoldTablesBase;
  void runOnOperation() override {
    int64_t elementsLeft = elements;
    if (elementsLeft == 0)
      return;
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      if (train && !program.getLoss())
        continue; // a table of the model would be made anew with each change of the weights
      int64_t ofRun = std::numeric_limits<int64_t>::max(); // a run has rows as it needs them
      foldedTables += train ? Folding(program, Values::OfBatch, ofRun).run()
                            : Folding(program, Values::All, elementsLeft).run();
    }
    tableElements += elements.getValue() - elementsLeft;
  }
};
} // namespace
} // namespace dbc::passes
