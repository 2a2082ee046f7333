// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-plan-steps: buffers that keep the rows of a recursion's last time steps alone.
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-plan-steps"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHPLANSTEPS
#include "passes/Passes.h.inc"

namespace {

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

/// By how much `value` is less than `key`, if that is a constant.
std::optional<int64_t> below(Value value, Value key) {
  if (value == key)
    return 0;
  Value from;
  std::optional<int64_t> less;
  if (auto op = value.getDefiningOp<kernel::IntOp>()) {
    from = op.getA();
    less = constantOf(op.getB());
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

/// The cell of a recursion whose calls all lower one of its further keys, and who calls it. Where there is
/// such a key, the instances of a level may be those of one value of it: then a call goes as many levels down
/// as it lowers the key.
class Recursion {
public:
  Recursion(batch::ProgramOp program, kernel::GroupOp group) : group(group), program(program) {
    if (group.getCells().size() != 1)
      return;
    keys = group.getFurtherKeys(0).size();
    for (int64_t k = 0; k < keys && key < 0; ++k)
      if (isLowered(k))
        key = k;
  }

  kernel::GroupOp group;
  int64_t key = -1; ///< number of the further key that each call lowers; -1: there is none

  /// How many levels a row that `column` of `space` names lies below the row that has it; nothing where that
  /// is not known or not always the same. Of spaces that lie in the cell's.
  std::optional<int64_t> levelsDown(StringRef space, StringRef column) {
    return commonOf(space, column, /*copies=*/0, [&](kernel::PlaceOp place) -> std::optional<int64_t> {
      auto func = place->getParentOfType<kernel::FuncOp>();
      auto home = program.lookupSymbol<kernel::SpaceOp>(*func.getSpace());
      if (home.getKind() != kernel::SpaceKind::Instances || home.getGroup() != group.getSymName())
        return std::nullopt;
      return below(keyOf(place), func.getBody().getArgument(2 + key));
    });
  }

  /// Whether `column` of a space outside names rows of the last level only.
  bool namesLast(StringRef space, StringRef column) {
    std::optional<int64_t> last = greatest();
    auto ofPlace = [&](kernel::PlaceOp place) { return constantOf(keyOf(place)); };
    return last && commonOf(space, column, /*copies=*/4, ofPlace) == last;
  }

private:
  /// The key that the call at `place` gives.
  Value keyOf(kernel::PlaceOp place) {
    auto given = place.getKeys();
    return given[given.size() - keys + key];
  }

  bool isLowered(int64_t k) {
    key = k; // what keyOf looks at
    bool lowered = startsAtConstant(k);
    eachCall([&](kernel::FuncOp caller, kernel::PlaceOp place) {
      if (!isOwn(caller))
        return;
      std::optional<int64_t> less =
          place ? below(keyOf(place), caller.getBody().getArgument(1 + k)) : std::nullopt;
      lowered &= less && *less > 0;
    });
    key = -1;
    return lowered;
  }

  /// There are as many levels as values between the least and the greatest key, which tables have places for.
  bool startsAtConstant(int64_t k) {
    bool constant = false;
    program.walk([&](kernel::KeyOp op) {
      if (op.getGroup() == group.getSymName() && op.getKey() == k && !op.getRange().empty())
        constant = constantOf(op.getRange().front().getTerminator()->getOperand(0)).has_value();
    });
    return constant;
  }

  bool isOwn(kernel::FuncOp caller) {
    return llvm::is_contained(group.getCalls(), FlatSymbolRefAttr::get(caller.getSymNameAttr()));
  }

  void eachCall(function_ref<void(kernel::FuncOp caller, kernel::PlaceOp place)> visit) {
    program.walk([&](kernel::CallOp call) {
      if (call.getGroup() == group.getSymName())
        visit(call->getParentOfType<kernel::FuncOp>(), call.getPlace().getDefiningOp<kernel::PlaceOp>());
    });
  }

  /// The greatest key that there is, if all calls from outside have constant ones.
  std::optional<int64_t> greatest() {
    std::optional<int64_t> most;
    bool constant = key >= 0;
    eachCall([&](kernel::FuncOp caller, kernel::PlaceOp place) {
      if (!constant || isOwn(caller))
        return;
      std::optional<int64_t> number = place ? constantOf(keyOf(place)) : std::nullopt;
      constant = number.has_value();
      if (constant)
        most = std::max(most.value_or(*number), *number);
    });
    return constant ? most : std::nullopt;
  }

  /// What `number` says of each instance of the cell that a column may name, if it is the same of all. The
  /// column may have been copied from another one, whichever row of that, at most `copies` times.
  std::optional<int64_t> commonOf(StringRef space, StringRef column, int copies,
                                  function_ref<std::optional<int64_t>(kernel::PlaceOp)> number) {
    std::optional<int64_t> common;
    bool same = key >= 0;
    auto see = [&](Value value) {
      auto row = value.getDefiningOp<kernel::RowOfOp>();
      if (auto load = value.getDefiningOp<kernel::LoadOp>(); copies > 0 && load && load.getColumn()) {
        std::optional<int64_t> theirs = commonOf(load.getArray(), *load.getColumn(), copies - 1, number);
        same &= theirs && (!common || common == theirs);
        common = theirs;
        return;
      }
      auto home = row ? program.lookupSymbol<kernel::SpaceOp>(row.getSpace()) : kernel::SpaceOp();
      auto place = row ? row.getPlace().getDefiningOp<kernel::PlaceOp>() : kernel::PlaceOp();
      std::optional<int64_t> mine;
      if (home && place && home.getGroup() == group.getSymName())
        mine = number(place);
      same &= mine && (!common || common == mine);
      common = mine;
    };
    program.walk([&](Operation *op) {
      if (!same)
        return;
      if (auto set = dyn_cast<kernel::SetOp>(op)) {
        if (set.getSpace() == space && set.getColumn() == column)
          see(set.getValue());
      } else if (auto push = dyn_cast<kernel::PushOp>(op); push && push.getSpace() == space) {
        auto columns = program.lookupSymbol<kernel::SpaceOp>(space).getColumns();
        for (auto [name, value] : llvm::zip(columns, push.getValues()))
          if (cast<StringAttr>(name).getValue() == column)
            see(value);
      }
    });
    return same ? common : std::nullopt;
  }

  batch::ProgramOp program;
  int64_t keys = 0;
};

/// The stages' operations that touch each buffer, and the buffers of which all rows are wanted at once.
struct BufferUses {
  explicit BufferUses(batch::ProgramOp program) {
    program.walk([&](Operation *op) {
      if (auto access = dyn_cast<batch::AccessOpInterface>(op))
        of[access.getArray()].push_back(op);
      else if (auto output = dyn_cast<batch::OutputOp>(op))
        whole.insert(output.getBuffer());
      else if (!isa<batch::BufferOp>(op)) // that of a stage's `when`, or of who knows what
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
  LoopPlan(batch::ProgramOp program, const BufferUses &uses, batch::LevelsOp loop)
      : program(program), uses(uses), loop(loop),
        recursion(program, program.lookupSymbol<kernel::GroupOp>(loop.getGroup())) {}

  /// Marks the buffers; `taken` are the spaces of which another loop's buffers keep some levels.
  void run(DenseSet<Operation *> &taken) {
    DenseSet<Operation *> mine;
    for (auto buffer : program.getBody().front().getOps<batch::BufferOp>()) {
      auto space = program.lookupSymbol<kernel::SpaceOp>(buffer.getSpace());
      if (taken.contains(space) || !runsByLevel(space, /*already=*/true) ||
          uses.whole.contains(buffer.getSymName()))
        continue;
      if (std::optional<Life> life = lifeOf(buffer)) {
        apply(buffer, *life);
        mine.insert(space);
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

  kernel::SpaceOp parentOf(kernel::SpaceOp space) {
    return space.getParent() ? program.lookupSymbol<kernel::SpaceOp>(*space.getParent()) : kernel::SpaceOp();
  }

  /// Whether rows of a space belong to instances of the loop's group.
  bool isOfGroup(kernel::SpaceOp space) {
    while (space && !space.getGroup())
      space = parentOf(space);
    return space && space.getGroup() == loop.getGroup();
  }

  /// Whether the rows of a space lie one level of the loop's group behind the other, and run so `already`.
  bool runsByLevel(kernel::SpaceOp space, bool already) {
    using kernel::SpaceKind;
    if (!space || space.getStepsOf() || space.getKept() || (already && !space.getTicked()))
      return false;
    if (space.getKind() == SpaceKind::Instances)
      return space.getTicked() && space.getGroup() == loop.getGroup();
    return (space.getKind() == SpaceKind::Arm || space.getKind() == SpaceKind::Elements) &&
           runsByLevel(parentOf(space), already);
  }

  /// Nothing where all rows must be kept.
  std::optional<Life> lifeOf(batch::BufferOp buffer) {
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
    if (!relation || (inside && *carried != loop.getGroup()))
      return false;
    StringRef space = relation.getFrom(), column = relation.getColumn();
    auto home = program.lookupSymbol<kernel::SpaceOp>(space);
    life.byKey = true;
    if (!inside)
      return !isOfGroup(home) && recursion.namesLast(space, column);
    std::optional<int64_t> down = recursion.levelsDown(space, column);
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
    Operation *unit = isa<batch::TogetherOp>(loop->getParentOp()) ? loop->getParentOp() : loop.getOperation();
    if (stage->getParentOp() != program || !stage->isBeforeInBlock(unit) || stage.getWhen() ||
        !runsByLevel(program.lookupSymbol<kernel::SpaceOp>(stage.getSpace()), /*already=*/false) ||
        !stage.getBody().front().getOps<linalg::ContractOp>().empty())
      return false;
    Touched touched;
    touched.add(accessesOf(stage));
    for (Operation *other = stage->getNextNode(); other != unit; other = other->getNextNode())
      if (touched.orderCounts(accessesOf(other)))
        return false;
    if (unit != loop)
      for (Operation &other : unit->getRegion(0).front())
        if (&other != loop && touched.orderCounts(accessesOf(&other)))
          return false;
    if (!llvm::is_contained(life.before, stage))
      life.before.push_back(stage);
    return true;
  }

  void apply(batch::BufferOp buffer, const Life &life) {
    Builder b(program.getContext());
    LDBG() << "@" << buffer.getSymName() << " keeps " << life.live << " levels of @" << loop.getGroup()
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
      runByLevel(program.lookupSymbol<kernel::SpaceOp>(stage.getSpace()));
      stage->moveBefore(&loop.getBody().front(), loop.getBody().front().begin());
      ++movedStages;
    }
  }

  void runByLevel(kernel::SpaceOp space) {
    if (space.getTicked())
      return;
    runByLevel(parentOf(space));
    space.setTicked(true);
    program.walk([&](kernel::ScheduleOp schedule) {
      OpBuilder b = OpBuilder::atBlockEnd(&schedule.getBody().front());
      kernel::TicksOp::create(b, space.getLoc(), space.getSymName(), /*nested=*/false);
    });
  }

  /// How far back a level may read. No more levels are kept than there are.
  static constexpr int64_t kMostBack = 1 << 20;

  batch::ProgramOp program;
  const BufferUses &uses;
  batch::LevelsOp loop;
  Recursion recursion;
};

struct BatchPlanStepsPass : impl::BatchPlanStepsBase<BatchPlanStepsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>()) {
      BufferUses uses(program);
      DenseSet<Operation *> taken;
      SmallVector<batch::LevelsOp> loops;
      program.walk([&](batch::LevelsOp loop) {
        if (isa<batch::ProgramOp, batch::TogetherOp>(loop->getParentOp()))
          loops.push_back(loop);
      });
      for (batch::LevelsOp loop : loops) {
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
