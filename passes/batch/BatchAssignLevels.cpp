// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-assign-levels: loops around stages, and the time steps of the index sets that they run over.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-assign-levels"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHASSIGNLEVELS
#include "passes/Passes.h.inc"

namespace {
struct Nesting {
  explicit Nesting(kernel::ProgramOp program) : program(program), names(program), b(program.getContext()) {
    program.walk([&](kernel::ScheduleOp op) { schedule = op; });
  }

  void run() {
    SmallVector<batch::StageOp> stages(program.getBody().front().getOps<batch::StageOp>());
    Block *body = &program.getBody().front();
    SmallVector<kernel::TimeStepLoopInterface> open; ///< the loops around the point reached
    for (batch::StageOp stage : stages) {
      SmallVector<StringRef> carriers;
      if (ArrayAttr loops = stage.getLoopsAttr())
        for (auto loop : loops.getAsRange<batch::LoopAttr>())
          carriers.push_back(loop.getCarrier().getValue());
      stage.removeLoopsAttr();
      // Neighbours in one loop share it. Two runs of one carrier may, too: a read of an earlier time step
      // stays one.
      unsigned shared = 0;
      while (shared < open.size() && shared < carriers.size() &&
             open[shared].getCarrier() == carriers[shared])
        ++shared;
      open.truncate(shared);
      while (open.size() < carriers.size()) {
        Block *inside = open.empty() ? body : &open.back()->getRegion(0).front();
        b.setInsertionPointToEnd(inside);
        LDBG() << "@" << stage.getName() << " is the first in a loop of @" << carriers[open.size()];
        ++madeLoops;
        open.push_back(makeLoop(stage.getLoc(), carriers[open.size()]));
      }
      stage->moveBefore(open.empty() ? body : &open.back()->getRegion(0).front(),
                        open.empty() ? body->end() : open.back()->getRegion(0).front().end());
      if (!carriers.empty())
        runByTimeStep(indexSet(stage.getIndexSet()), carriers);
    }
    declareTimeSteps();
  }

  kernel::TimeStepLoopInterface makeLoop(Location loc, StringRef carrier) {
    auto loop = cast<kernel::TimeStepLoopInterface>(
        names.lookup<kernel::GroupOp>(carrier) ? kernel::LevelsOp::create(b, loc, carrier).getOperation()
                                               : kernel::StepsOp::create(b, loc, carrier).getOperation());
    loop->getRegion(0).emplaceBlock();
    return loop;
  }

  kernel::IndexSetOp indexSet(StringRef name) { return names.lookup<kernel::IndexSetOp>(name); }

  /// The rows of `s` run by time step of the innermost of `carriers`.
  void runByTimeStep(kernel::IndexSetOp s, ArrayRef<StringRef> carriers) {
    auto steps = indexSet(carriers.back());
    for (; s; s = kernel::parentOf(s, names)) {
      s.setByTimeStep(true);
      if (s.getKind() == kernel::IndexSetKind::Steps && s != steps)
        nested.insert(s); // a scan without a loop of its own: its steps lie in those of the loop outside
      else if (steps && s != steps)
        s.setStepsOf(steps.getSymName());
      if (s == steps) {
        // The scan's own time steps nest in those of the rows that own it.
        if (carriers.size() > 1) {
          nested.insert(s);
          runByTimeStep(kernel::parentOf(s, names), carriers.drop_back());
        }
        return;
      }
      if (s.getKind() == kernel::IndexSetKind::Instances)
        return;
    }
  }

  /// Adds to the schedule what finds the time steps, outer index sets first (they are declared first).
  void declareTimeSteps() {
    b.setInsertionPointToEnd(&schedule.getBody().front());
    for (auto s : program.getBody().front().getOps<kernel::IndexSetOp>())
      if ((s.getByTimeStep() || s.getMasked()) && s.getKind() != kernel::IndexSetKind::Instances)
        kernel::TimeStepsOp::create(b, s.getLoc(), s.getSymName(), nested.contains(s));
  }

  kernel::ProgramOp program;
  SymbolTable names;
  kernel::ScheduleOp schedule;
  OpBuilder b;
  DenseSet<Operation *> nested;
  unsigned madeLoops = 0;
};

struct BatchAssignLevelsPass : impl::BatchAssignLevelsBase<BatchAssignLevelsPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      Nesting nesting(program);
      nesting.run();
      madeLoops += nesting.madeLoops;
    }
  }
};
} // namespace
} // namespace dbc::passes
