// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-classify-accesses: the multiplicity of each relation, from how the structure functions push rows. A
// gather whose relation leads from each row to its like becomes a read; relations and index arrays that are
// not used go.
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
    program.walk([&](kernel::PushOp push) { pushes[push.getIndexSet()].push_back(push); });
    for (auto &[name, all] : pushes)
      if (all.size() == 1)
        for (auto [indexArray, value] : llvm::zip(indexSet(name).getIndexArrays(), all[0].getValues()))
          onlyPush[{name, cast<StringAttr>(indexArray).getValue()}] = value;
  }

  void run() {
    program.walk([&](batch::GatherOp gather) {
      auto relation = names.lookup<batch::RelationOp>(gather.getRelation());
      if (!alignedWith(relation.getFrom(), relation.getIndexArray(), gather.getArray()))
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
      relation.setMultiplicity(multiplicityOf(relation.getFrom(), relation.getIndexArray()));
    dropIndexArrays();
  }

  /// Removes relations by which no stage goes.
  void dropRelations() {
    llvm::StringSet<> used;
    program.walk([&](batch::AccessOpInterface access) {
      for (FlatSymbolRefAttr relation : access.getRelations())
        used.insert(relation.getValue());
    });
    for (auto transpose : llvm::make_early_inc_range(program.getBody().front().getOps<batch::TransposeOp>()))
      if (used.contains(transpose.getSymName()))
        used.insert(transpose.getRelation());
      else
        names.erase(transpose);
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      if (isa<batch::RelationOp, batch::ListRelationOp>(op) &&
          !used.contains(SymbolTable::getSymbolName(&op).getValue()))
        names.erase(&op);
  }

  kernel::IndexSetOp indexSet(StringRef name) { return names.lookup<kernel::IndexSetOp>(name); }

  /// The value that the only push of an index set writes to an index array; null where there are several.
  Value pushed(StringRef indexSetName, StringRef indexArray) {
    return onlyPush.lookup({indexSetName, indexArray});
  }

  /// How many keys the cell has behind its node or input.
  size_t secondaryKeys(kernel::IndexSetOp instances) {
    auto group = names.lookup<kernel::GroupOp>(*instances.getGroup());
    return group.getSecondaryKeys(*instances.getCell()).size();
  }

  batch::Multiplicity multiplicityOf(StringRef indexSetName, StringRef indexArray) {
    kernel::IndexSetOp s = indexSet(indexSetName);
    if (indexArray == "parent" && s.getKind() == kernel::IndexSetKind::Arm)
      return batch::Multiplicity::OneToOne; // an arm has each row of its parent at most once
    if (indexArray == "node" && s.getKind() == kernel::IndexSetKind::Instances && secondaryKeys(s) == 0)
      return batch::Multiplicity::OneToOne;
    if (indexArray == "input" && s.getKind() == kernel::IndexSetKind::Inputs)
      return batch::Multiplicity::OneToOne;
    if (Value value = pushed(indexSetName, indexArray)) {
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

  /// Whether row r of `indexSetName` names row r of the array's index set: both are pushed once a round by
  /// loops of one length side by side, and the index is the first row of the one plus the counter of the
  /// other. So they have as many rows from the start of the batch on.
  bool alignedWith(StringRef indexSetName, StringRef indexArray, StringRef array) {
    auto buffer = names.lookup<batch::BufferOp>(array);
    Value value = pushed(indexSetName, indexArray);
    if (!buffer || !value || indexSet(indexSetName).getKind() == kernel::IndexSetKind::Steps ||
        indexSet(indexSetName).getMasked())
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
    if (!count || !counter || count.getIndexSet() != buffer.getIndexSet() ||
        pushes[buffer.getIndexSet()].size() != 1)
      return false;
    auto mine = dyn_cast<kernel::ForOp>(pushes[indexSetName][0]->getParentOp());
    auto theirs = dyn_cast<kernel::ForOp>(pushes[buffer.getIndexSet()][0]->getParentOp());
    return mine && theirs && mine != theirs && counter.getOwner()->getParentOp() == mine &&
           mine->getBlock() == theirs->getBlock() && mine.getHigh() == theirs.getHigh() &&
           count->getBlock() == theirs->getBlock() && count->isBeforeInBlock(theirs) &&
           isZero(mine.getLow()) && isZero(theirs.getLow()) &&
           indexSet(buffer.getIndexSet()).getKind() != kernel::IndexSetKind::Steps;
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

  /// Removes index arrays that no stage, list or loop reads any more.
  void dropIndexArrays() {
    llvm::StringSet<> used;
    auto use = [&](StringRef s, StringRef indexArray) { used.insert((s + "/" + indexArray).str()); };
    program.walk([&](Operation *op) {
      if (auto relation = dyn_cast<batch::RelationOp>(op)) {
        use(relation.getFrom(), relation.getIndexArray());
      } else if (auto list = dyn_cast<batch::ListRelationOp>(op)) {
        use(list.getFrom(), list.getFirst());
        use(list.getFrom(), list.getLength());
      } else if (auto index = dyn_cast<batch::ReadIndexOp>(op)) {
        use(index->getParentOfType<batch::StageOp>().getIndexSet(), index.getIndexArray());
      } else if (auto load = dyn_cast<kernel::LoadOp>(op)) {
        if (load.getIndexArray())
          use(load.getArray(), *load.getIndexArray());
      }
    });
    llvm::StringMap<SmallVector<kernel::SetOp>> sets;
    program.walk([&](kernel::SetOp set) { sets[set.getIndexSet()].push_back(set); });
    OpBuilder b(program.getContext());
    for (auto s : program.getBody().front().getOps<kernel::IndexSetOp>()) {
      SmallVector<Attribute> kept;
      SmallVector<unsigned> dropped;
      // What the schedule fills in is there in any case.
      size_t given = s.getKind() == kernel::IndexSetKind::Instances ? 1 + secondaryKeys(s) : 1;
      for (auto [n, name] : llvm::enumerate(s.getIndexArrays())) {
        StringRef indexArray = cast<StringAttr>(name).getValue();
        bool fixed = n < given || (s.getKind() == kernel::IndexSetKind::Steps && indexArray == "step");
        if (fixed || used.contains((s.getSymName() + "/" + indexArray).str()))
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
        if (!left.contains(set.getIndexArrayAttr()))
          set.erase();
      s.setIndexArraysAttr(b.getArrayAttr(kept));
      droppedIndexArrays += dropped.size();
    }
  }

  unsigned alignedGathers = 0, droppedIndexArrays = 0;
  batch::ProgramOp program;
  SymbolTable names;
  llvm::StringMap<SmallVector<kernel::PushOp>> pushes;
  llvm::DenseMap<std::pair<StringRef, StringRef>, Value> onlyPush; ///< of arrays of index sets pushed once
};

struct BatchClassifyAccessesPass : impl::BatchClassifyAccessesBase<BatchClassifyAccessesPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      Classify classify(program);
      classify.run();
      alignedGathers += classify.alignedGathers;
      droppedIndexArrays += classify.droppedIndexArrays;
    }
  }
};
} // namespace
} // namespace dbc::passes
