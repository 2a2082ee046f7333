// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-put-together: loops that may run at the same time.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/StageGraph.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHPUTTOGETHER
#include "passes/Passes.h.inc"

namespace {

struct BatchPutTogetherPass : impl::BatchPutTogetherBase<BatchPutTogetherPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<batch::ProgramOp>())
      while (joinSome(program.getBody().front())) {
      }
  }

  /// Puts some loops together; returns false where there are none left.
  static bool joinSome(Block &program) {
    SmallVector<Operation *> units;
    for (Operation &op : program)
      if (isa<batch::StageOp, batch::LevelsOp, batch::StepsOp, batch::TogetherOp>(op))
        units.push_back(&op);
    for (size_t first = 0; first < units.size(); ++first)
      if (mayJoin(units[first]) && join(ArrayRef(units).drop_front(first)))
        return true;
    return false;
  }

  /// Not where a loop chooses which rows of a space are kept.
  static bool mayJoin(Operation *unit) {
    if (!isa<batch::LevelsOp, batch::StepsOp>(unit))
      return false;
    bool chooses = false;
    unit->walk([&](batch::StageOp stage) { chooses |= stage.getWhen().has_value(); });
    return !chooses;
  }

  /// Puts the first of the units and all later ones that may run at the same time together, if there are any.
  static bool join(ArrayRef<Operation *> units) {
    Operation *first = units.front();
    SmallVector<Operation *> loops{first}, passed, before;
    Touched stays; ///< the loops, and what must stay behind them
    stays.add(accessesOf(first));
    for (Operation *unit : units.drop_front()) {
      StageAccess access = accessesOf(unit);
      bool free = !stays.orderCounts(access);
      if (free && isa<batch::StageOp>(unit)) {
        passed.push_back(unit);
        continue;
      }
      stays.add(access);
      if (!free || !mayJoin(unit))
        continue;
      loops.push_back(unit);
      before.append(passed);
      passed.clear();
    }
    if (loops.size() == 1)
      return false;
    for (Operation *stage : before)
      stage->moveBefore(first);
    OpBuilder b(first);
    auto together = batch::TogetherOp::create(b, first->getLoc());
    Block *body = &together.getBody().emplaceBlock();
    for (Operation *loop : loops)
      loop->moveBefore(body, body->end());
    return true;
  }
};
} // namespace
} // namespace dbc::passes
