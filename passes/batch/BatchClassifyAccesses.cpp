// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-classify-accesses: the multiplicity of each relation, from how the structure functions push rows. A
// gather whose relation leads from each row to its like becomes a read; relations and columns that are not
// used go.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-classify-accesses"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHCLASSIFYACCESSES
#include "passes/Passes.h.inc"

namespace {
struct Classify {
  explicit Classify(batch::ProgramOp program) : program(program), names(program) {
    program.walk([&](kernel::PushOp push) { pushes[push.getSpace()].push_back(push); });
    for (auto &[name, all] : pushes)
      if (all.size() == 1)
        for (auto [column, value] : llvm::zip(space(name).getColumns(), all[0].getValues()))
          onlyPush[{name, cast<StringAttr>(column).getValue()}] = value;
  }

  void run() {
    program.walk([&](batch::GatherOp gather) {
      auto relation = names.lookup<batch::RelationOp>(gather.getRelation());
      if (!alignedWith(relation.getFrom(), relation.getColumn(), gather.getArray()))
        return;
      LDBG() << "rows of @" << gather.getArray() << " lie like those that @" << relation.getSymName()
             << " leads from";
      ++alignedGathers;
      OpBuilder b(gather);
      auto read = batch::ReadOp::create(b, gather.getLoc(), gather.getType(), gather.getArray());
      gather.replaceAllUsesWith(read.getResult());
      gather.erase();
    });
    dropRelations();
    for (auto relation : program.getBody().front().getOps<batch::RelationOp>())
      relation.setMultiplicity(multiplicityOf(relation.getFrom(), relation.getColumn()));
    dropColumns();
  }

  /// Removes relations by which no stage goes.
  void dropRelations() {
    llvm::StringSet<> used;
    program.walk([&](batch::AccessOpInterface access) {
      for (FlatSymbolRefAttr relation : access.getRelations())
        used.insert(relation.getValue());
    });
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      if (isa<batch::RelationOp, batch::ListRelationOp>(op) &&
          !used.contains(SymbolTable::getSymbolName(&op).getValue()))
        names.erase(&op);
  }

  kernel::SpaceOp space(StringRef name) { return names.lookup<kernel::SpaceOp>(name); }

  /// The value that the only push of a space writes to a column; null where there are several pushes.
  Value pushed(StringRef spaceName, StringRef column) { return onlyPush.lookup({spaceName, column}); }

  /// How many keys the cell has behind its node or input.
  size_t furtherKeys(kernel::SpaceOp instances) {
    auto group = names.lookup<kernel::GroupOp>(*instances.getGroup());
    return group.getFurtherKeys(*instances.getCell()).size();
  }

  batch::Multiplicity multiplicityOf(StringRef spaceName, StringRef column) {
    kernel::SpaceOp s = space(spaceName);
    if (column == "parent" && s.getKind() == kernel::SpaceKind::Arm)
      return batch::Multiplicity::OneToOne; // an arm has each row of its parent at most once
    if (column == "node" && s.getKind() == kernel::SpaceKind::Instances && furtherKeys(s) == 0)
      return batch::Multiplicity::OneToOne;
    if (column == "input" && s.getKind() == kernel::SpaceKind::Inputs)
      return batch::Multiplicity::OneToOne;
    if (Value value = pushed(spaceName, column)) {
      // Rows reserved for this row alone.
      SmallVector<Value> terms{value};
      bool reserved = false;
      while (!terms.empty()) {
        Value term = terms.pop_back_val();
        if (auto add = term.getDefiningOp<arith::AddIOp>())
          llvm::append_range(terms, add.getOperands());
        else if (term.getDefiningOp<kernel::ReserveOp>())
          reserved = true;
        else if (!isa<BlockArgument>(term) && !term.getDefiningOp<arith::ConstantOp>())
          return batch::Multiplicity::ManyToOne;
      }
      if (reserved)
        return batch::Multiplicity::OneToOne;
    }
    return batch::Multiplicity::ManyToOne;
  }

  /// Whether row r of `spaceName` names row r of the array's space: both are pushed once a round by loops of
  /// one length side by side, and the column is the first row of the one plus the counter of the other. So
  /// are their rows equal in number from the start of the batch on.
  bool alignedWith(StringRef spaceName, StringRef column, StringRef array) {
    auto buffer = names.lookup<batch::BufferOp>(array);
    Value value = pushed(spaceName, column);
    if (!buffer || !value || space(spaceName).getKind() == kernel::SpaceKind::Steps ||
        space(spaceName).getKept())
      return false;
    auto sum = value.getDefiningOp<arith::AddIOp>();
    if (!sum)
      return false;
    auto count = sum.getLhs().getDefiningOp<kernel::CountOp>();
    auto counter = dyn_cast<BlockArgument>(sum.getRhs());
    if (!count) {
      count = sum.getRhs().getDefiningOp<kernel::CountOp>();
      counter = dyn_cast<BlockArgument>(sum.getLhs());
    }
    if (!count || !counter || count.getSpace() != buffer.getSpace() || pushes[buffer.getSpace()].size() != 1)
      return false;
    auto mine = dyn_cast<kernel::ForOp>(pushes[spaceName][0]->getParentOp());
    auto theirs = dyn_cast<kernel::ForOp>(pushes[buffer.getSpace()][0]->getParentOp());
    return mine && theirs && mine != theirs && counter.getOwner()->getParentOp() == mine &&
           mine->getBlock() == theirs->getBlock() && mine.getHigh() == theirs.getHigh() &&
           count->getBlock() == theirs->getBlock() && count->isBeforeInBlock(theirs) &&
           isZero(mine.getLow()) && isZero(theirs.getLow()) &&
           space(buffer.getSpace()).getKind() != kernel::SpaceKind::Steps;
  }

  static bool isZero(Value value) {
    auto constant = value.getDefiningOp<arith::ConstantOp>();
    return constant && cast<IntegerAttr>(constant.getValue()).getInt() == 0;
  }

  static SmallVector<Value> without(ValueRange values, ArrayRef<unsigned> dropped) {
    SmallVector<Value> rest;
    for (auto [n, value] : llvm::enumerate(values)) {
      if (!dropped.empty() && dropped.front() == n)
        dropped = dropped.drop_front();
      else
        rest.push_back(value);
    }
    return rest;
  }

  /// Removes columns that no stage, list or loop reads any more.
  void dropColumns() {
    llvm::StringSet<> used;
    auto use = [&](StringRef s, StringRef column) { used.insert((s + "/" + column).str()); };
    program.walk([&](Operation *op) {
      if (auto relation = dyn_cast<batch::RelationOp>(op)) {
        use(relation.getFrom(), relation.getColumn());
      } else if (auto list = dyn_cast<batch::ListRelationOp>(op)) {
        use(list.getFrom(), list.getFirst());
        use(list.getFrom(), list.getLength());
      } else if (auto column = dyn_cast<batch::ColumnOp>(op)) {
        use(column->getParentOfType<batch::StageOp>().getSpace(), column.getColumn());
      } else if (auto load = dyn_cast<kernel::LoadOp>(op)) {
        if (load.getColumn())
          use(load.getArray(), *load.getColumn());
      }
    });
    llvm::StringMap<SmallVector<kernel::SetOp>> sets;
    program.walk([&](kernel::SetOp set) { sets[set.getSpace()].push_back(set); });
    OpBuilder b(program.getContext());
    for (auto s : program.getBody().front().getOps<kernel::SpaceOp>()) {
      SmallVector<Attribute> kept;
      SmallVector<unsigned> dropped;
      // What the schedule fills in is there in any case.
      size_t given = s.getKind() == kernel::SpaceKind::Instances ? 1 + furtherKeys(s) : 1;
      for (auto [n, name] : llvm::enumerate(s.getColumns())) {
        StringRef column = cast<StringAttr>(name).getValue();
        bool fixed = n < given || (s.getKind() == kernel::SpaceKind::Steps && column == "step");
        if (fixed || used.contains((s.getSymName() + "/" + column).str()))
          kept.push_back(name);
        else
          dropped.push_back(n);
      }
      if (dropped.empty())
        continue;
      for (kernel::PushOp push : pushes[s.getSymName()])
        push->setOperands(without(push.getValues(), dropped));
      llvm::DenseSet<Attribute> left(kept.begin(), kept.end());
      for (kernel::SetOp set : sets[s.getSymName()])
        if (!left.contains(set.getColumnAttr()))
          set.erase();
      s.setColumnsAttr(b.getArrayAttr(kept));
      droppedColumns += dropped.size();
    }
  }

  unsigned alignedGathers = 0, droppedColumns = 0;
  batch::ProgramOp program;
  SymbolTable names;
  llvm::StringMap<SmallVector<kernel::PushOp>> pushes;
  llvm::DenseMap<std::pair<StringRef, StringRef>, Value> onlyPush; ///< of each column of a space pushed once
};

struct BatchClassifyAccessesPass : impl::BatchClassifyAccessesBase<BatchClassifyAccessesPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      Classify classify(program);
      classify.run();
      alignedGathers += classify.alignedGathers;
      droppedColumns += classify.droppedColumns;
    }
  }
};
} // namespace
} // namespace dbc::passes
