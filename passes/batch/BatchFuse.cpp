// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-fuse: one stage instead of several, values in registers instead of buffers.
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"
#include <deque>
#include <set>

#define DEBUG_TYPE "batch-fuse"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHFUSE
#include "passes/Passes.h.inc"

namespace {

/// One stage or loop of a block, and what the stages inside read and write.
struct Unit {
  Operation *op = nullptr;
  size_t position = 0; ///< the later in the block, the greater; not the number among the units
  llvm::StringSet<> reads, writes, ownWrites;
  Operation *firstWrite = nullptr; ///< of a stage that others were appended to: its writes stand last
  llvm::StringMap<Value> written;  ///< then: what it writes at its row
};

/// Fuses the stages of one block. Units are found by what they touch, not by going through the block.
class BlockFusion {
public:
  explicit BlockFusion(Block &block) : block(block) {
    for (Operation *op = block.getParentOp(); op; op = op->getParentOp())
      if (auto loop = dyn_cast<kernel::TimeStepLoopInterface>(op))
        around.insert(loop.getCarrier());
    for (auto stage : block.getOps<batch::StageOp>())
      for (auto accumulate : stage.getBody().front().getOps<batch::AccumulateOp>())
        accumulated.insert(accumulate.getBuffer());
  }

  /// Moves each stage up into an earlier one over the same index set, as early as what it reads allows. Where
  /// that is too early, the earlier one may move down to it. Gives how many stages are part of others now.
  unsigned run() {
    unsigned merged = 0;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (!batch::isScheduled(&op))
        continue;
      StageAccess mine = accessesOf(&op);
      auto stage = dyn_cast<batch::StageOp>(op);
      Unit *unit = stage ? targetFor(stage, mine) : nullptr;
      if (unit) {
        merge(*unit, stage, mine);
        ++merged;
        continue;
      }
      unit = &units.emplace_back();
      unit->op = &op;
      unit->position = ++positions;
      touch(*unit, mine);
      if (stage)
        alike[keyOf(stage)].insert(unit);
    }
    return merged;
  }

private:
  /// What stages that may be fused have in common: the index set, the truths that say which rows, and whether
  /// they add up over all rows.
  using Key = std::tuple<StringRef, StringRef, unsigned>;
  static Key keyOf(batch::StageOp stage) {
    return {stage.getIndexSet(), stage.getWhen().value_or(""), stage.accumulates()};
  }
  struct Later {
    bool operator()(const Unit *a, const Unit *b) const { return a->position > b->position; }
  };
  /// Units over one index set, last first. Those that something behind them needs, or needs them, never move.
  struct Alike {
    std::set<Unit *, Later> all, movable;
    void insert(Unit *unit) {
      all.insert(unit);
      movable.insert(unit);
    }
    void erase(Unit *unit) {
      all.erase(unit);
      movable.erase(unit);
    }
  };

  /// Whether a read is of what is written in this time step; a loop is not around itself, and has run when
  /// what follows it starts.
  bool isOfThisTimeStep(const StageRead &read) const {
    return read.carried.empty() || !around.contains(read.carried);
  }

  /// The unit that a stage may be fused with, the last one of those that may; it has been moved behind
  /// all that the stage reads. Null if there is none.
  Unit *targetFor(batch::StageOp stage, const StageAccess &mine) {
    size_t from = 0;                  // the last unit that must be before the stage, or be it
    SmallVector<StringRef> otherRows; // rows of a stage are computed in any order, so these must come before
    for (const StageRead &read : mine.reads) {
      if (!isOfThisTimeStep(read))
        continue;
      from = std::max(from, lastWrite.lookup(read.array));
      if (!read.own || accumulated.contains(read.array))
        otherRows.push_back(read.array);
    }
    for (StringRef array : mine.writes) // rows that are cleared come before what is stored or added there
      from = std::max(from, lastOwnWrite.lookup(array));
    auto isOpen = [&](const Unit *unit) {
      return llvm::none_of(otherRows, [&](StringRef array) { return unit->writes.contains(array); });
    };
    auto at = alike.find(keyOf(stage));
    if (at == alike.end())
      return nullptr;
    Alike &candidates = at->second;
    for (Unit *unit : candidates.all) {
      if (unit->position < from)
        break;
      if (isOpen(unit))
        return unit;
    }
    for (auto next = candidates.movable.begin(); next != candidates.movable.end();) {
      Unit *unit = *next++;
      if (unit->position >= from)
        continue;
      if (isNeededBehind(*unit)) {
        candidates.movable.erase(unit);
      } else if (isOpen(unit)) {
        candidates.erase(unit);
        unit->op->moveBefore(stage);
        moveToEnd(*unit);
        candidates.insert(unit);
        return unit;
      }
    }
    return nullptr;
  }

  /// Whether the order of a unit and those behind it counts.
  bool isNeededBehind(const Unit &unit) const {
    auto any = [&](const llvm::StringSet<> &arrays, const llvm::StringMap<size_t> &last) {
      return llvm::any_of(arrays,
                          [&](const auto &array) { return last.lookup(array.getKey()) > unit.position; });
    };
    return any(unit.reads, lastWrite) || any(unit.writes, lastWrite) || any(unit.writes, lastRead);
  }

  void touch(Unit &unit, const StageAccess &access) {
    auto touched = [&](StringRef array, llvm::StringSet<> &mine, llvm::StringMap<size_t> &last) {
      mine.insert(array);
      size_t &position = last[array];
      position = std::max(position, unit.position);
    };
    for (const StageRead &read : access.reads)
      touched(read.array, unit.reads, lastRead);
    for (StringRef array : access.writes)
      touched(array, unit.writes, lastWrite);
    for (StringRef array : access.ownWrites)
      touched(array, unit.ownWrites, lastOwnWrite);
  }

  void moveToEnd(Unit &unit) {
    unit.position = ++positions;
    for (const auto &array : unit.reads)
      lastRead[array.getKey()] = unit.position;
    for (const auto &array : unit.writes)
      lastWrite[array.getKey()] = unit.position;
    for (const auto &array : unit.ownWrites)
      lastOwnWrite[array.getKey()] = unit.position;
  }

  /// Appends `stage` to a unit; what that wrote at its row is not read again. Writes stand last, so that
  /// equal reads are seen to be equal.
  void merge(Unit &unit, batch::StageOp stage, StageAccess &access) {
    auto target = cast<batch::StageOp>(unit.op);
    LDBG() << "@" << stage.getName() << " goes into @" << target.getName();
    target.setRole(std::min(target.getRole(), stage.getRole()));
    Block &into = target.getBody().front();
    if (!unit.firstWrite) {
      SmallVector<Operation *> writes;
      for (Operation &op : into)
        if (batch::isWrite(&op))
          writes.push_back(&op);
      for (Operation *op : writes)
        appendWrite(unit, op);
    }
    llvm::erase_if(access.reads,
                   [&](const StageRead &read) { return read.own && unit.written.count(read.array); });
    SmallVector<Operation *> writes;
    for (Operation &op : llvm::make_early_inc_range(stage.getBody().front())) {
      if (auto read = dyn_cast<batch::ReadOp>(op))
        if (Value value = unit.written.lookup(read.getBuffer())) {
          read.replaceAllUsesWith(value);
          continue;
        }
      if (batch::isWrite(&op))
        writes.push_back(&op);
      else if (unit.firstWrite)
        op.moveBefore(unit.firstWrite);
      else
        op.moveBefore(&into, into.end());
    }
    for (Operation *op : writes)
      appendWrite(unit, op);
    stage.erase();
    touch(unit, access);
  }

  static void appendWrite(Unit &unit, Operation *op) {
    Block &into = cast<batch::StageOp>(unit.op).getBody().front();
    op->moveBefore(&into, into.end());
    if (!unit.firstWrite)
      unit.firstWrite = op;
    if (auto write = dyn_cast<batch::WriteOp>(op))
      unit.written[write.getBuffer()] = write.getValue();
  }

  Block &block;
  llvm::StringSet<> accumulated; ///< arrays that are there when all rows have added to them
  llvm::StringSet<> around;      ///< what carries the loops that the block is in
  std::deque<Unit> units;
  llvm::DenseMap<Key, Alike> alike;
  llvm::StringMap<size_t> lastRead, lastWrite, lastOwnWrite; ///< of each array: the last unit's position
  size_t positions = 0;
};

/// Of buffers that a stage writes the same value to, and nothing else writes, one stays. Gives how many are
/// gone.
unsigned dropDuplicates(kernel::ProgramOp program) {
  const llvm::StringSet<> results = kernel::resultsOf(program);
  llvm::StringMap<batch::WriteOp> soleWrite = soleWrites(program);
  SmallVector<std::pair<batch::WriteOp, batch::WriteOp>> duplicates; // the one that stays is second
  program.walk([&](batch::StageOp stage) {
    llvm::DenseMap<Value, batch::WriteOp> writeOf;
    for (auto write : stage.getBody().front().getOps<batch::WriteOp>())
      if (soleWrite.lookup(write.getBuffer()) == write && !results.contains(write.getBuffer()))
        if (auto [known, isNew] = writeOf.try_emplace(write.getValue(), write); !isNew)
          duplicates.push_back({write, known->second});
  });
  SymbolTable names(program);
  llvm::DenseMap<Attribute, FlatSymbolRefAttr> keptOf; // by the buffer that goes
  for (auto [write, kept] : duplicates) {
    keptOf[write.getBufferAttr()] = kept.getBufferAttr();
    write.erase();
  }
  AttrTypeReplacer rename; // all at once: a program may have thousands of stages
  rename.addReplacement([&](FlatSymbolRefAttr name) -> Attribute {
    auto kept = keptOf.find(name);
    return kept != keptOf.end() ? kept->second : name;
  });
  for (auto [gone, kept] : keptOf)
    names.erase(names.lookup(cast<FlatSymbolRefAttr>(gone).getAttr()));
  if (!duplicates.empty())
    rename.recursivelyReplaceElementsIn(program);
  return duplicates.size();
}

/// Removes writes to buffers that nobody reads, and what only they needed.
class Unread {
public:
  explicit Unread(kernel::ProgramOp program) : program(program) {}

  /// Gives how many buffers are gone.
  unsigned drop() {
    program.walk([&](Operation *op) {
      if (batch::isWrite(op))
        writes[cast<batch::AccessOpInterface>(op).getArray()].push_back(op);
      if (FlatSymbolRefAttr result = kernel::resultOf(op))
        ++reads[result.getValue()];
      if (auto stage = dyn_cast<batch::StageOp>(op))
        for (const StageRead &read : accessesOf(stage).reads)
          ++reads[read.array];
    });
    for (const auto &array : writes)
      if (!reads.lookup(array.getKey()))
        open.push_back(array.getKey());
    eraseUnread();
    SmallVector<Operation *> unused; // to begin with
    program.walk([&](batch::StageOp stage) {
      for (Operation &op : stage.getBody().front())
        if (op.use_empty() && isOpTriviallyDead(&op))
          unused.push_back(&op);
    });
    llvm::for_each(unused, [&](Operation *op) { erase(op); });
    eraseEmpty();
    return eraseBuffers();
  }

private:
  void noLongerRead(StringRef array) {
    unsigned &count = reads[array];
    if (--count == 0)
      open.push_back(array);
  }

  /// An op that nothing uses, and what then has no use either.
  void erase(Operation *op) {
    SmallVector<Operation *> unused = {op};
    while (!unused.empty()) {
      op = unused.pop_back_val();
      llvm::SmallSetVector<Operation *, 4> sources;
      for (Value operand : op->getOperands())
        if (Operation *source = operand.getDefiningOp())
          sources.insert(source);
      SmallVector<StageRead> read = accessesOf(op).reads;
      op->erase();
      for (const StageRead &each : read)
        noLongerRead(each.array);
      for (Operation *source : sources)
        if (source->use_empty() && isOpTriviallyDead(source))
          unused.push_back(source);
    }
  }

  void eraseUnread() {
    while (!open.empty())
      for (Operation *op : std::exchange(writes[open.pop_back_val()], {}))
        erase(op);
  }

  void eraseEmpty() {
    do {
      eraseUnread();
      program.walk([&](batch::StageOp stage) {
        if (!stage.getBody().front().empty())
          return;
        std::optional<StringRef> when = stage.getWhen();
        stage.erase();
        if (when)
          noLongerRead(*when);
      });
    } while (!open.empty());
    program.walk([&](Operation *op) {
      if (isa<kernel::TimeStepLoopInterface>(op) && op->getRegion(0).front().empty())
        op->erase();
    });
  }

  unsigned eraseBuffers() {
    unsigned gone = 0;
    for (auto buffer : llvm::make_early_inc_range(program.getBody().front().getOps<kernel::BufferOp>()))
      if (!reads.lookup(buffer.getSymName())) {
        buffer.erase();
        ++gone;
      }
    return gone;
  }

  kernel::ProgramOp program;
  llvm::StringMap<unsigned> reads; ///< of each array: how often it is read
  llvm::StringMap<SmallVector<Operation *>> writes;
  SmallVector<StringRef> open; ///< arrays that are not read any more, whose writes stand
};

struct BatchFusePass : impl::BatchFuseBase<BatchFusePass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      fusedStages += BlockFusion(program.getBody().front()).run();
      program.walk([&](Operation *op) {
        if (isa<kernel::TimeStepLoopInterface>(op))
          fusedStages += BlockFusion(op->getRegion(0).front()).run();
      });
      droppedBuffers += dropDuplicates(program) + Unread(program).drop();
    }
  }
};
} // namespace
} // namespace dbc::passes
