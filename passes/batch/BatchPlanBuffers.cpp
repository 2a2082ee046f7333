// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-plan-buffers: buffers whose lives do not overlap share memory.
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/batch/StageGraph.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-plan-buffers"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHPLANBUFFERS
#include "passes/Passes.h.inc"

namespace {
struct BatchPlanBuffersPass : impl::BatchPlanBuffersBase<BatchPlanBuffersPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      plan(program);
  }

  /// A life goes from the first unit (a stage, an outermost loop as a whole, or loops that may run at the
  /// same time) that touches a buffer to the last.
  struct Life {
    int first = -1, last = -1;
  };

  void plan(kernel::ProgramOp program) {
    llvm::StringMap<Life> lives;
    llvm::StringSet<> results;
    int time = 0;
    auto touch = [&](StringRef array) {
      Life &life = lives[array];
      if (life.first < 0)
        life.first = time;
      life.last = time;
    };
    for (Operation &op : program.getBody().front()) {
      if (FlatSymbolRefAttr result = kernel::resultOf(&op))
        results.insert(result.getValue());
      if (!batch::isScheduled(&op))
        continue;
      StageAccess access = accessesOf(&op);
      for (const StageRead &read : access.reads)
        touch(read.array);
      for (StringRef array : access.writes)
        touch(array);
      ++time;
    }
    // First fit, for each element type by itself; results and what is computed at load have no storage.
    struct Storage {
      Type element;
      int busyUntil;
    };
    SmallVector<Storage> storages;
    SmallVector<kernel::BufferOp> buffers(program.getBody().front().getOps<kernel::BufferOp>());
    llvm::stable_sort(buffers, [&](kernel::BufferOp a, kernel::BufferOp b) {
      return lives[a.getSymName()].first < lives[b.getSymName()].first;
    });
    for (kernel::BufferOp buffer : buffers) {
      auto indexSet = program.lookupSymbol<kernel::IndexSetOp>(buffer.getIndexSet());
      if (results.contains(buffer.getSymName()) || indexSet.getKind() == kernel::IndexSetKind::Model)
        continue;
      Life life = lives[buffer.getSymName()];
      Type element = dyn::scalar(buffer.getType());
      unsigned n = 0;
      while (n < storages.size() && (storages[n].element != element || storages[n].busyUntil >= life.first))
        ++n;
      if (n == storages.size())
        storages.push_back({element, 0});
      else
        ++sharedBuffers;
      LDBG() << "@" << buffer.getSymName() << " has storage " << n << " from " << life.first << " to "
             << life.last;
      storages[n].busyUntil = life.last;
      buffer.setStorage(n);
    }
    usedStorages += storages.size();
  }
};
} // namespace
} // namespace dbc::passes
