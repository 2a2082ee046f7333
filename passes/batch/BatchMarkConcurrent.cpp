// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-mark-concurrent: loops that may run at the same time.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-mark-concurrent"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHMARKCONCURRENT
#include "passes/Passes.h.inc"

namespace {

/// The stages and loops of a program, in order, and which of the loops may be concurrent.
class Loops {
public:
  explicit Loops(Block &program) {
    for (Operation &op : program)
      if (batch::isScheduled(&op))
        units.push_back({&op, accessesOf(&op), mayJoin(&op)});
  }

  /// Marks each loop and all later ones that may run at the same time as concurrent. What stands before a
  /// loop that was looked at stays as it is. Gives how many are concurrent with others.
  size_t join() {
    // From the last on: behind most loops stands one that needs them and that all later ones need.
    for (size_t n = units.size(); n > 0; --n)
      if (units[n - 1].joins)
        units[n - 1].alone = concurrentWith(n - 1).size() == 1;
    size_t joined = 0;
    for (size_t n = 0; n < units.size(); ++n)
      if (units[n].joins && !units[n].alone)
        joined += joinAt(n);
    return joined;
  }

private:
  struct Unit {
    Operation *op;
    StageAccess access;
    bool joins;         ///< a loop that may be concurrent with others
    bool alone = false; ///< but with none of those behind it
  };

  /// Not where a loop chooses which rows of an index set are active, or may fail an input: which of its
  /// failures is seen depends on the order of launches.
  static bool mayJoin(Operation *unit) {
    if (!isa<kernel::TimeStepLoopInterface>(unit))
      return false;
    WalkResult stays = unit->walk([](Operation *op) {
      auto stage = dyn_cast<batch::StageOp>(op);
      return (stage && stage.getWhen()) || dyn::mayFail(op) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return !stays.wasInterrupted();
  }

  /// A loop and all later ones that may run at the same time, by number. `passed` gets the stages that must
  /// stand before them.
  SmallVector<size_t> concurrentWith(size_t first, SmallVectorImpl<size_t> *passed = nullptr) {
    SmallVector<size_t> loops{first}, open;
    AccessSet stays; ///< the loops, and what must stay behind them
    stays.add(units[first].access);
    for (size_t n = first + 1; n < units.size(); ++n) {
      const Unit &unit = units[n];
      bool free = !stays.conflictsWith(unit.access);
      if (!free && unit.alone && loops.size() == 1)
        break; // all that follow need this one
      if (free && isa<batch::StageOp>(unit.op)) {
        open.push_back(n);
        continue;
      }
      stays.add(unit.access);
      if (!free || !unit.joins)
        continue;
      loops.push_back(n);
      if (passed)
        passed->append(open);
      open.clear();
    }
    return loops;
  }

  size_t joinAt(size_t first) {
    SmallVector<size_t> before, loops = concurrentWith(first, &before);
    if (loops.size() == 1)
      return 0;
    LDBG() << loops.size() << " loops are concurrent, the first of @"
           << cast<kernel::TimeStepLoopInterface>(units[first].op).getCarrier() << "; " << before.size()
           << " stages go before them";
    Operation *at = units[first].op;
    OpBuilder b(at);
    for (size_t n : before)
      units[n].op->moveBefore(at);
    auto concurrent = kernel::ConcurrentOp::create(b, at->getLoc());
    Block *body = &concurrent.getBody().emplaceBlock();
    for (size_t n : loops)
      units[n].op->moveBefore(body, body->end());
    // What is behind it now, without what went before it or into it.
    llvm::DenseSet<size_t> gone(before.begin(), before.end());
    gone.insert(loops.begin(), loops.end());
    size_t left = first + 1;
    for (size_t n = first + 1; n < units.size(); ++n)
      if (!gone.contains(n))
        units[left++] = std::move(units[n]);
    units.resize(left);
    return loops.size();
  }

  std::vector<Unit> units;
};

struct BatchMarkConcurrentPass : impl::BatchMarkConcurrentBase<BatchMarkConcurrentPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      concurrentLoops += Loops(program.getBody().front()).join();
  }
};
} // namespace
} // namespace dbc::passes
