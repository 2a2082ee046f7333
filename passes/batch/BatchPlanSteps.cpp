// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-plan-steps: buffers that keep the rows of a recursion's last time steps alone.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-plan-steps"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHPLANSTEPS
#include "passes/Passes.h.inc"

namespace {

/// By how much `value` is less than `key`, if that is a constant.
std::optional<int64_t> below(Value value, Value key) {
  if (value == key)
    return 0;
  Value from;
  std::optional<int64_t> less;
  if (auto op = value.getDefiningOp<kernel::IntOp>()) {
    from = op.getA();
    less = getConstantIntValue(op.getB());
    if (less && op.getKind() == dyn::IntKind::Add)
      less = -*less;
    else if (op.getKind() != dyn::IntKind::Sub)
      return std::nullopt;
  }
  if (!less)
    return std::nullopt;
  std::optional<int64_t> rest = below(from, key);
  return rest ? std::optional(*rest + *less) : std::nullopt;
}

/// The cell of a recursion whose calls all lower one of its secondary keys, and who calls it. Where there is
/// such a key, the instances of a level may be those of one value of it: then a call goes as many levels down
/// as it lowers the key.
class Recursion {
public:
  Recursion(kernel::ProgramOp program, kernel::GroupOp group) : group(group), program(program) {
    if (group.getCells().size() != 1)
      return;
    keys = group.getSecondaryKeys(0).size();
    for (int64_t k = 0; k < keys && key < 0; ++k)
      if (isLowered(k))
        key = k;
  }

  kernel::GroupOp group;
  int64_t key = -1; ///< number of the secondary key that each call lowers; -1: there is none

  /// How many levels a row that `indexArray` of `indexSet` names lies below the row that has it; nothing
  /// where that is not known or not always the same. Of index sets that lie in the cell's.
  std::optional<int64_t> levelsDown(StringRef indexSet, StringRef indexArray) {
    return commonOf(indexSet, indexArray, /*copies=*/0, [&](kernel::SlotOp slot) -> std::optional<int64_t> {
      auto func = slot->getParentOfType<kernel::FuncOp>();
      auto home = program.lookupSymbol<kernel::IndexSetOp>(*func.getIndexSet());
      if (home.getKind() != kernel::IndexSetKind::Instances || home.getGroup() != group.getSymName())
        return std::nullopt;
      return below(keyOf(slot), func.getBody().getArgument(2 + key));
    });
  }

  /// Whether `indexArray` of an index set outside names rows of the last level only.
  bool namesLast(StringRef indexSet, StringRef indexArray) {
    std::optional<int64_t> last = greatest();
    auto ofSlot = [&](kernel::SlotOp slot) { return getConstantIntValue(keyOf(slot)); };
    return last && commonOf(indexSet, indexArray, /*copies=*/4, ofSlot) == last;
  }

private:
  /// The key that the call of `slot` gives.
  Value keyOf(kernel::SlotOp slot) {
    auto given = slot.getKeys();
    return given[given.size() - keys + key];
  }

  bool isLowered(int64_t k) {
    key = k; // what keyOf looks at
    bool lowered = startsAtConstant(k);
    eachCall([&](kernel::FuncOp caller, kernel::SlotOp slot) {
      if (!isOwn(caller))
        return;
      std::optional<int64_t> less =
          slot ? below(keyOf(slot), caller.getBody().getArgument(1 + k)) : std::nullopt;
      lowered &= less && *less > 0;
    });
    key = -1;
    return lowered;
  }

  /// There are as many levels as values between the least and the greatest key, which tables have slots for.
  bool startsAtConstant(int64_t k) {
    bool constant = false;
    program.walk([&](kernel::KeyOp op) {
      if (op.getGroup() == group.getSymName() && op.getKey() == k && !op.getRange().empty())
        constant = getConstantIntValue(op.getRange().front().getTerminator()->getOperand(0)).has_value();
    });
    return constant;
  }

  bool isOwn(kernel::FuncOp caller) {
    return llvm::is_contained(group.getCalls(), FlatSymbolRefAttr::get(caller.getSymNameAttr()));
  }

  void eachCall(function_ref<void(kernel::FuncOp caller, kernel::SlotOp slot)> visit) {
    program.walk([&](kernel::CallOp call) {
      if (call.getGroup() == group.getSymName())
        visit(call->getParentOfType<kernel::FuncOp>(), call.getSlot().getDefiningOp<kernel::SlotOp>());
    });
  }

  /// The greatest key that there is, if all calls from outside have constant ones.
  std::optional<int64_t> greatest() {
    std::optional<int64_t> most;
    bool constant = key >= 0;
    eachCall([&](kernel::FuncOp caller, kernel::SlotOp slot) {
      if (!constant || isOwn(caller))
        return;
      std::optional<int64_t> number;
      if (slot)
        number = getConstantIntValue(keyOf(slot));
      if (number)
        most = std::max(most.value_or(*number), *number);
      else
        constant = false;
    });
    return constant ? most : std::nullopt;
  }

  /// What `number` says of each instance of the cell that an index array may name, if it is the same of all.
  /// The array may have been copied from another one, whichever row of that, at most `copies` times.
  std::optional<int64_t> commonOf(StringRef indexSet, StringRef indexArray, int copies,
                                  function_ref<std::optional<int64_t>(kernel::SlotOp)> number) {
    std::optional<int64_t> common;
    bool same = key >= 0;
    auto see = [&](Value value) {
      auto row = value.getDefiningOp<kernel::RowOfOp>();
      if (auto load = value.getDefiningOp<kernel::LoadOp>(); copies > 0 && load && load.getIndexArray()) {
        std::optional<int64_t> theirs = commonOf(load.getArray(), *load.getIndexArray(), copies - 1, number);
        same &= theirs && (!common || common == theirs);
        common = theirs;
        return;
      }
      auto home = row ? program.lookupSymbol<kernel::IndexSetOp>(row.getIndexSet()) : kernel::IndexSetOp();
      auto slot = row ? row.getSlot().getDefiningOp<kernel::SlotOp>() : kernel::SlotOp();
      std::optional<int64_t> mine;
      if (home && slot && home.getGroup() == group.getSymName())
        mine = number(slot);
      same &= mine && (!common || common == mine);
      common = mine;
    };
    program.walk([&](Operation *op) {
      if (!same)
        return;
      if (auto set = dyn_cast<kernel::SetOp>(op)) {
        if (set.getIndexSet() == indexSet && set.getIndexArray() == indexArray)
          see(set.getValue());
      } else if (auto push = dyn_cast<kernel::PushOp>(op); push && push.getIndexSet() == indexSet) {
        auto indexArrays = program.lookupSymbol<kernel::IndexSetOp>(indexSet).getIndexArrays();
        for (auto [name, value] : llvm::zip(indexArrays, push.getValues()))
          if (cast<StringAttr>(name).getValue() == indexArray)
            see(value);
      }
    });
    return same ? common : std::nullopt;
  }

  kernel::ProgramOp program;
  int64_t keys = 0;
};

/// The stages' operations that touch each buffer, and the buffers of which all rows are wanted at once.
struct BufferUses {
  explicit BufferUses(kernel::ProgramOp program) {
    program.walk([&](Operation *op) {
      if (auto access = dyn_cast<batch::AccessOpInterface>(op))
        of[access.getArray()].push_back(op);
      else if (auto output = dyn_cast<kernel::OutputOp>(op))
        whole.insert(output.getBuffer());
      else if (!isa<kernel::BufferOp>(op)) // that of a stage's `when`, or of who knows what
        for (NamedAttribute attribute : op->getAttrs())
          attribute.getValue().walk([&](FlatSymbolRefAttr symbol) { whole.insert(symbol.getValue()); });
    });
  }
  llvm::StringMap<SmallVector<Operation *>> of;
  llvm::StringSet<> whole;
};

/// The buffers of one loop over the levels of a recursion.
class LoopPlan {
public:
  LoopPlan(kernel::ProgramOp program, const BufferUses &uses, kernel::LevelsOp loop)
      : program(program), uses(uses), loop(loop),
        recursion(program, program.lookupSymbol<kernel::GroupOp>(loop.getCarrier())) {}

  /// Marks the buffers; `taken` are the index sets of which another loop's buffers keep some levels.
  void run(DenseSet<Operation *> &taken) {
    DenseSet<Operation *> mine;
    for (auto buffer : program.getBody().front().getOps<kernel::BufferOp>()) {
      auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(buffer.getIndexSet());
      if (taken.contains(indexSet) || !runsByLevel(indexSet, /*already=*/true) ||
          uses.whole.contains(buffer.getSymName()))
        continue;
      if (std::optional<Life> life = lifeOf(buffer)) {
        apply(buffer, *life);
        mine.insert(indexSet);
      }
    }
    taken.insert(mine.begin(), mine.end());
  }

  unsigned plannedBuffers = 0, movedStages = 0;

private:
  /// What a buffer's rows are kept for.
  struct Life {
    int64_t live = 1;                                   ///< levels
    bool byKey = false;                                 ///< only where levels are those of the key
    SmallVector<std::pair<Operation *, int64_t>> reads; ///< of earlier levels, and how much earlier
    SmallVector<batch::StageOp> before;                 ///< stages that write some rows before the loop
  };

  kernel::IndexSetOp parentOf(kernel::IndexSetOp indexSet) {
    return indexSet.getParent() ? program.lookupSymbol<kernel::IndexSetOp>(*indexSet.getParent())
                                : kernel::IndexSetOp();
  }

  /// Whether rows of an index set belong to instances of the loop's group.
  bool isOfGroup(kernel::IndexSetOp indexSet) {
    while (indexSet && !indexSet.getGroup())
      indexSet = parentOf(indexSet);
    return indexSet && indexSet.getGroup() == loop.getCarrier();
  }

  /// Whether an index set's rows lie one level of the loop's group behind the other, and run so `already`.
  bool runsByLevel(kernel::IndexSetOp indexSet, bool already) {
    using kernel::IndexSetKind;
    if (!indexSet || indexSet.getStepsOf() || indexSet.getMasked() || (already && !indexSet.getByTimeStep()))
      return false;
    if (indexSet.getKind() == IndexSetKind::Instances)
      return indexSet.getByTimeStep() && indexSet.getGroup() == loop.getCarrier();
    return (indexSet.getKind() == IndexSetKind::Arm || indexSet.getKind() == IndexSetKind::Elements) &&
           runsByLevel(parentOf(indexSet), already);
  }

  /// Nothing where all rows must be kept.
  std::optional<Life> lifeOf(kernel::BufferOp buffer) {
    Life life;
    for (Operation *op : uses.of.lookup(buffer.getSymName())) {
      auto stage = cast<batch::StageOp>(op->getParentOp());
      const bool inside = loop->isProperAncestor(stage);
      bool fits = inside;
      if (batch::isWrite(op))
        fits = inside || addBefore(stage, life);
      else if (auto gather = dyn_cast<batch::GatherOp>(op))
        fits = addRead(gather, program.lookupSymbol<batch::RelationOp>(gather.getRelation()), inside, life);
      else if (auto segment = dyn_cast<batch::SegmentOp>(op))
        fits = addRead(segment,
                       segment.getVia() ? program.lookupSymbol<batch::RelationOp>(*segment.getVia())
                                        : batch::RelationOp(),
                       inside, life);
      if (!fits)
        return std::nullopt;
    }
    return life;
  }

  /// A read of the rows that a relation leads to. False where these are of any level.
  template <class Read> bool addRead(Read read, batch::RelationOp relation, bool inside, Life &life) {
    std::optional<StringRef> carried = read.getCarried();
    if (inside && !carried)
      return true; // of this level
    if (!relation || (inside && *carried != loop.getCarrier()))
      return false;
    StringRef indexSet = relation.getFrom(), indexArray = relation.getIndexArray();
    auto home = program.lookupSymbol<kernel::IndexSetOp>(indexSet);
    life.byKey = true;
    if (!inside)
      return !isOfGroup(home) && recursion.namesLast(indexSet, indexArray);
    std::optional<int64_t> down = recursion.levelsDown(indexSet, indexArray);
    if (!down || *down > kMostBack)
      return false;
    life.live = std::max(life.live, *down + 1);
    life.reads.push_back({read, *down});
    return true;
  }

  /// A stage in front of the loop that writes rows may run in the loop, level by level, where that is as
  /// cheap and nobody else waits for it: where levels are time steps, each of which has all nodes. Levels of
  /// a tree have few.
  bool addBefore(batch::StageOp stage, Life &life) {
    if (recursion.key < 0)
      return false;
    Operation *unit =
        isa<kernel::ConcurrentOp>(loop->getParentOp()) ? loop->getParentOp() : loop.getOperation();
    if (stage->getParentOp() != program || !stage->isBeforeInBlock(unit) || stage.getWhen() ||
        !runsByLevel(program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet()), /*already=*/false) ||
        !stage.getBody().front().getOps<linalg::ContractOp>().empty())
      return false;
    AccessSet touched;
    touched.add(accessesOf(stage));
    for (Operation *other = stage->getNextNode(); other != unit; other = other->getNextNode())
      if (touched.conflictsWith(accessesOf(other)))
        return false;
    if (unit != loop)
      for (Operation &other : unit->getRegion(0).front())
        if (&other != loop && touched.conflictsWith(accessesOf(&other)))
          return false;
    if (!llvm::is_contained(life.before, stage))
      life.before.push_back(stage);
    return true;
  }

  void apply(kernel::BufferOp buffer, const Life &life) {
    Builder b(program.getContext());
    LDBG() << "@" << buffer.getSymName() << " keeps " << life.live << " levels of @" << loop.getCarrier()
           << "; " << life.before.size() << " stages before the loop write it";
    ++plannedBuffers;
    buffer.setLive(life.live);
    if (life.byKey)
      recursion.group.setLevelKey(recursion.key);
    for (auto [read, ago] : life.reads)
      read->setAttr("ago", b.getI32IntegerAttr(ago));
    for (batch::StageOp stage : llvm::reverse(life.before)) {
      if (loop->isAncestor(stage))
        continue; // for another of its buffers
      runByLevel(program.lookupSymbol<kernel::IndexSetOp>(stage.getIndexSet()));
      stage->moveBefore(&loop.getBody().front(), loop.getBody().front().begin());
      ++movedStages;
    }
  }

  void runByLevel(kernel::IndexSetOp indexSet) {
    if (indexSet.getByTimeStep())
      return;
    runByLevel(parentOf(indexSet));
    indexSet.setByTimeStep(true);
    program.walk([&](kernel::ScheduleOp schedule) {
      OpBuilder b = OpBuilder::atBlockEnd(&schedule.getBody().front());
      kernel::TimeStepsOp::create(b, indexSet.getLoc(), indexSet.getSymName(), /*nested=*/false);
    });
  }

  /// How far back a level may read. No more levels are kept than there are.
  static constexpr int64_t kMostBack = 1 << 20;

  kernel::ProgramOp program;
  const BufferUses &uses;
  kernel::LevelsOp loop;
  Recursion recursion;
};

struct BatchPlanStepsPass : impl::BatchPlanStepsBase<BatchPlanStepsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      bool reversed = false; // then all rows are kept for the way back
      program.walk([&](kernel::TimeStepLoopInterface loop) { reversed |= loop.getReverse(); });
      if (reversed)
        continue;
      BufferUses uses(program);
      DenseSet<Operation *> taken;
      SmallVector<kernel::LevelsOp> loops;
      program.walk([&](kernel::LevelsOp loop) {
        if (isa<kernel::ProgramOp, kernel::ConcurrentOp>(loop->getParentOp()))
          loops.push_back(loop);
      });
      for (kernel::LevelsOp loop : loops) {
        LoopPlan plan(program, uses, loop);
        plan.run(taken);
        plannedBuffers += plan.plannedBuffers;
        movedStages += plan.movedStages;
      }
    }
  }
};
} // namespace
} // namespace dbc::passes
