// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// schedule-cpu: rows of a block and grain of a stage. A stage with a product computes blocks of rows, so that
// one pass over the packed weights serves several; one without goes row by row, and its values stay in the
// first-level cache.
#include "ir/Batch/Batch.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Passes.h"
#include "passes/Products.h"

#include <algorithm>

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_SCHEDULECPU
#include "passes/Passes.h.inc"

namespace {
struct ScheduleCpuPass : impl::ScheduleCpuBase<ScheduleCpuPass> {
  /// Scratch of a block should stay in the second-level cache beside a panel of weights.
  static constexpr int64_t kScratchBytes = 256 << 10;
  static constexpr int64_t kMostRows = 36;
  /// Rows that share each load of a weight in the runtime's product kernel: a block is a multiple of them.
  static constexpr int64_t kRowsTogether = 6;
  /// Work that repays waking a thread.
  static constexpr int64_t kGrainOps = 200'000;

  void runOnOperation() override {
    getOperation().walk([](batch::StageOp stage) {
      if (stage.getSchedule())
        return;
      int64_t ops = 1, scratch = 1;
      bool product = false;
      stage.walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (auto tensor = dyn_cast<RankedTensorType>(type)) {
            bool parameter = op->getNumOperands() == 0 || isWeights(op->getResult(0));
            if (!parameter) {
              ops += tensor.getNumElements();
              scratch += 4 * tensor.getNumElements();
            }
          }
        if (auto contract = dyn_cast<linalg::ContractOp>(op)) {
          product |= matVec(contract).has_value();
          int64_t work = 1;
          for (int64_t extent : contract.getStaticLoopRanges())
            work *= extent;
          ops += work;
        }
      });
      int64_t rows = 1;
      if (product) {
        rows = std::clamp<int64_t>(kScratchBytes / scratch, 1, kMostRows);
        if (rows > kRowsTogether)
          rows -= rows % kRowsTogether;
      }
      int64_t grain = std::max<int64_t>(1, kGrainOps / ops);
      stage.setScheduleAttr(batch::ScheduleAttr::get(stage.getContext(), rows, grain));
    });
  }
};
} // namespace
} // namespace dbc::passes
