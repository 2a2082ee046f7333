// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-fuse: one stage instead of several, values in registers instead of buffers.
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/StageGraph.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHFUSE
#include "passes/Passes.h.inc"

namespace {
struct BatchFusePass : impl::BatchFuseBase<BatchFusePass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      fuseBlock(program.getBody().front());
      program.walk([&](Operation *op) {
        if (isa<batch::LevelsOp, batch::StepsOp>(op))
          fuseBlock(op->getRegion(0).front());
      });
      dropUnread(program);
    }
  }

  static bool isUnit(Operation &op) { return isa<batch::StageOp, batch::LevelsOp, batch::StepsOp>(op); }

  struct Unit {
    Operation *op;
    StageAccess access;
  };

  /// Moves each stage up into an earlier one over the same space, as early as what it reads allows. Where
  /// that is too early, the earlier one may move down to it.
  static void fuseBlock(Block &block) {
    std::vector<Unit> units;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!isUnit(op))
        continue;
      Unit mine{&op, accessesOf(&op)};
      auto stage = dyn_cast<batch::StageOp>(op);
      auto [found, waits] = stage ? targetFor(stage, mine.access, units) : std::pair(units.size(), false);
      if (found == units.size()) {
        units.push_back(std::move(mine));
        continue;
      }
      auto target = cast<batch::StageOp>(units[found].op);
      if (waits) {
        target->moveBefore(stage);
        std::rotate(units.begin() + found, units.begin() + found + 1, units.end());
        found = units.size() - 1;
      }
      merge(target, stage);
      units[found].access = accessesOf(target);
    }
  }

  /// The number of the unit that a stage may be merged with, the last one of those that may; or how many
  /// there are. The second says whether that unit has to move down for it.
  static std::pair<size_t, bool> targetFor(batch::StageOp stage, const StageAccess &mine,
                                           ArrayRef<Unit> units) {
    bool waits = false; // for a unit behind the one that is looked at
    Touched behind;
    for (size_t n = units.size(); n > 0; --n) {
      const Unit &unit = units[n - 1];
      auto other = dyn_cast<batch::StageOp>(unit.op);
      if (other && other.getSpace() == stage.getSpace() && other.getWhen() == stage.getWhen() &&
          !readsOtherRows(mine, unit) && (!waits || !behind.orderCounts(unit.access)))
        return {n - 1, waits};
      waits |= readsFrom(mine, unit);
      behind.add(unit.access);
    }
    return {units.size(), false};
  }

  /// Whether one of the reads is of an array that `unit` writes in this tick.
  static bool readsFrom(const StageAccess &mine, const Unit &unit) {
    return llvm::any_of(mine.reads, [&](const StageRead &r) {
      return llvm::is_contained(unit.access.writes, r.array) &&
             (r.carried.empty() || !isInLoop(unit.op, r.carried));
    });
  }

  /// Whether one of the reads is through a column or list, of what `unit` writes in this tick: rows of a
  /// stage are computed in any order, so it must come first as a whole.
  static bool readsOtherRows(const StageAccess &mine, const Unit &unit) {
    StageAccess others;
    llvm::copy_if(mine.reads, std::back_inserter(others.reads), [](const StageRead &r) { return !r.own; });
    return readsFrom(others, unit);
  }

  /// Whether the loop is around `unit`; a loop is not around itself, and has run when what follows it starts.
  static bool isInLoop(Operation *unit, StringRef carrier) {
    for (Operation *op = unit->getParentOp(); op; op = op->getParentOp()) {
      if (auto levels = dyn_cast<batch::LevelsOp>(op); levels && levels.getGroup() == carrier)
        return true;
      if (auto steps = dyn_cast<batch::StepsOp>(op); steps && steps.getSpace() == carrier)
        return true;
    }
    return false;
  }

  /// Appends `stage` to `target`; what target wrote at its row is not read again.
  static void merge(batch::StageOp target, batch::StageOp stage) {
    Block &into = target.getBody().front();
    llvm::StringMap<Value> written;
    for (auto write : into.getOps<batch::WriteOp>())
      written[write.getBuffer()] = write.getValue();
    for (Operation &op : llvm::make_early_inc_range(stage.getBody().front())) {
      if (auto read = dyn_cast<batch::ReadOp>(op))
        if (Value value = written.lookup(read.getBuffer())) {
          read.replaceAllUsesWith(value);
          continue;
        }
      op.moveBefore(&into, into.end());
    }
    stage.erase();
    // Writes last, so that equal reads are seen to be equal.
    SmallVector<Operation *> writes;
    for (Operation &op : into)
      if (isa<batch::WriteOp, batch::ScatterOp>(op))
        writes.push_back(&op);
    for (Operation *write : writes)
      write->moveBefore(&into, into.end());
  }

  /// Removes writes to buffers that nobody reads, and what only they needed.
  static void dropUnread(batch::ProgramOp program) {
    bool changed = true;
    while (changed) {
      changed = false;
      llvm::StringSet<> read;
      program.walk([&](Operation *op) {
        if (auto stage = dyn_cast<batch::StageOp>(op))
          for (const StageRead &r : accessesOf(stage).reads)
            read.insert(r.array);
        if (auto output = dyn_cast<batch::OutputOp>(op))
          read.insert(output.getBuffer());
      });
      program.walk([&](Operation *op) {
        auto write = dyn_cast<batch::WriteOp>(op);
        auto scatter = dyn_cast<batch::ScatterOp>(op);
        if ((write && !read.contains(write.getBuffer())) ||
            (scatter && !read.contains(scatter.getBuffer()))) {
          op->erase();
          changed = true;
        }
      });
      program.walk([&](batch::StageOp stage) {
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(stage.getBody().front())))
          if (op.use_empty() && isOpTriviallyDead(&op))
            op.erase();
        if (stage.getBody().front().empty())
          stage.erase();
      });
      program.walk([&](Operation *op) {
        if (isa<batch::LevelsOp, batch::StepsOp>(op) && op->getRegion(0).front().empty())
          op->erase();
      });
      for (auto buffer : llvm::make_early_inc_range(program.getBody().front().getOps<batch::BufferOp>()))
        if (!read.contains(buffer.getSymName()))
          buffer.erase();
    }
  }
};
} // namespace
} // namespace dbc::passes
