// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-classify-accesses: the multiplicity of each relation, from how the structure functions push rows. A
// gather whose relation leads from each row to its like becomes a read; relations and index arrays that are
// not used go.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/Multiplicities.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-classify-accesses"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHCLASSIFYACCESSES
#include "passes/Passes.h.inc"

namespace {
struct Classify {
  explicit Classify(kernel::ProgramOp program) : program(program), names(program), multiplicities(program) {}

  void run() {
    program.walk([&](batch::GatherOp gather) {
      auto relation = names.lookup<batch::RelationOp>(gather.getRelation());
      if (!multiplicities.areAligned(relation.getFrom(), relation.getIndexArray(), gather.getArray()))
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
      relation.setMultiplicity(multiplicities.of(relation));
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
      if (!used.contains(transpose.getSymName()))
        names.erase(transpose);
      else if (transpose.getRelation())
        used.insert(*transpose.getRelation());
    for (Operation &op : llvm::make_early_inc_range(program.getBody().front()))
      if (isa<batch::RelationOp, batch::ListRelationOp>(op) &&
          !used.contains(SymbolTable::getSymbolName(&op).getValue()))
        names.erase(&op);
  }

  /// How many keys the cell has behind its node or input.
  size_t secondaryKeys(kernel::IndexSetOp instances) {
    auto group = names.lookup<kernel::GroupOp>(*instances.getGroup());
    return group.getSecondaryKeys(*instances.getCell()).size();
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
      } else if (auto distinct = dyn_cast<batch::DistinctOp>(op)) {
        for (auto [s, indexArray] : llvm::zip(distinct.getFrom().getAsRange<FlatSymbolRefAttr>(),
                                              distinct.getIndexArrays().getAsValueRange<StringAttr>()))
          use(s.getValue(), indexArray);
        for (auto [s, rows] : llvm::zip(distinct.getFrom().getAsRange<FlatSymbolRefAttr>(),
                                        distinct.getRows().getAsValueRange<StringAttr>()))
          use(s.getValue(), rows);
      } else if (auto index = dyn_cast<batch::ReadIndexOp>(op)) {
        use(index->getParentOfType<batch::StageOp>().getIndexSet(), index.getIndexArray());
      } else if (auto load = dyn_cast<kernel::LoadOp>(op)) {
        if (load.getIndexArray())
          use(load.getArray(), *load.getIndexArray());
      }
    });
    llvm::StringMap<SmallVector<kernel::PushOp>> pushes;
    program.walk([&](kernel::PushOp push) { pushes[push.getIndexSet()].push_back(push); });
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
        bool fixed =
            n < given || (s.getKind() == kernel::IndexSetKind::Steps && indexArray == kernel::kStepArray);
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
  kernel::ProgramOp program;
  SymbolTable names;
  Multiplicities multiplicities;
};

struct BatchClassifyAccessesPass : impl::BatchClassifyAccessesBase<BatchClassifyAccessesPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      Classify classify(program);
      classify.run();
      alignedGathers += classify.alignedGathers;
      droppedIndexArrays += classify.droppedIndexArrays;
    }
  }
};
} // namespace
} // namespace dbc::passes
