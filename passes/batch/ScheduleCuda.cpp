// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// schedule-cuda: rows of a block and channels of a tile of each stage for an NVIDIA GPU.
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/Passes.h"
#include "passes/batch/StageSize.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "schedule-cuda"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_SCHEDULECUDA
#include "passes/Passes.h.inc"

namespace {
struct ScheduleCudaPass : impl::ScheduleCudaBase<ScheduleCudaPass> {
  using Base::Base;
  /// Shared memory that every GPU gives a block without being asked.
  static constexpr int64_t kScratchBytes = 48 << 10;
  /// Rows that share each load of a weight; rows that are a warp's each; and of other stages.
  static constexpr int64_t kProductRows = 8, kReducedRows = kernel::kWarps, kOtherRows = 32;
  /// Rows whose outer products are added up in registers, before what is in memory is added to.
  static constexpr int64_t kSummedRows = 512;
  /// Elements of a block of a stage that computes elements alone: few rows make many blocks.
  static constexpr int64_t kElements = 2 * kernel::kWarps * kernel::kLanes;
  /// Rows are always mapped in blocks.
  static constexpr int64_t kFewestRows = 2;
  /// Channels of a tile: one gate of them is an N tile of the tensor cores; of half as many, two gates are.
  static constexpr int64_t kChannels = 16, kFewChannels = 8;
  /// What of a matrix can be resident in a block's shared memory, on an H100, beside scratch.
  static constexpr int64_t kResidentBytes = 200 << 10;

  /// Fewer where a block's tile of the weights can then be resident.
  static int64_t channelsOf(const StageSize &size) {
    if (size.tiled.empty())
      return 0;
    int64_t bytes = 0;
    for (const TiledProduct &product : size.tiled)
      bytes += product.gates * kChannels * product.inputs * 4;
    return bytes <= kResidentBytes || bytes / kChannels * kFewChannels > kResidentBytes ? kChannels
                                                                                        : kFewChannels;
  }

  /// Whether a row has a reduction to one number that the lanes of a warp would share, see kernel-map-lanes.
  static bool reduces(batch::StageOp stage) {
    bool found = false;
    stage.walk([&](Operation *op) {
      if (auto softmax = dyn_cast<dyn::SoftmaxOp>(op))
        found |= dyn::extents(softmax.getX().getType())[softmax.getAxis()] >= kernel::kLanes;
      else if (auto reduce = dyn_cast<dyn::ReduceOp>(op))
        found |= reduce.getKind() != dyn::ReduceKind::ArgMax && dyn::extents(reduce.getType()).empty() &&
                 reduce.getX().getType().getNumElements() >= kernel::kLanes;
      else if (auto contract = dyn_cast<linalg::ContractOp>(op))
        found |= dyn::extents(contract->getResult(0).getType()).empty() &&
                 llvm::product_of(contract.getStaticLoopRanges()) >= kernel::kLanes;
      else if (auto segment = dyn_cast<batch::SegmentOp>(op))
        found |= segment.getKind() != dyn::ReduceKind::Pick && segment.getKind() != dyn::ReduceKind::ArgMax &&
                 dyn::extents(segment.getType()).empty();
    });
    return found;
  }

  /// The elements of a row of a stage that computes them one by one, a thread each; else none.
  static int64_t elementsOf(batch::StageOp stage) {
    int64_t most = 0;
    for (Operation &op : stage.getBody().front()) {
      auto row = dyn_cast<dyn::RowOpInterface>(op);
      if (row && row.getRowKind() >= dyn::RowKind::Join && !isSummedByElement(&op) && !isJoinedByElement(&op))
        return 0;
      for (Value value : op.getResults())
        if (auto tensor = dyn_cast<RankedTensorType>(value.getType()); tensor && !isWeights(value))
          most = std::max(most, tensor.getNumElements());
    }
    return most;
  }

  void runOnOperation() override {
    getOperation().walk([&](batch::StageOp stage) {
      if (!stage.getSchedule())
        stage.setScheduleAttr(schedule(stage));
    });
  }

  batch::ScheduleAttr schedule(batch::StageOp stage) {
    StageSize size = sizeOf(stage, realBytes);
    int64_t channels = channelsOf(size);
    int64_t most = size.product ? kProductRows : reduces(stage) ? kReducedRows : kOtherRows;
    if (const int64_t elements = size.product || stage.accumulates() ? 0 : elementsOf(stage); elements > 0)
      most = std::clamp(int64_t(llvm::bit_floor(uint64_t(kElements / elements))), kFewestRows, most);
    int64_t rows = std::clamp(kScratchBytes / (size.scratch - size.spared), kFewestRows, most);
    if (addsOuterProducts(stage))
      rows = kSummedRows;
    LDBG() << "@" << stage.getName() << ": " << rows << " rows of at most " << most << ", "
           << size.scratch - size.spared << " bytes each, and " << channels << " channels";
    shortenedBlocks += rows < most;
    tiledStages += channels > 0;
    return batch::ScheduleAttr::get(stage.getContext(), rows, /*grain=*/1, channels);
  }
};
} // namespace
} // namespace dbc::passes
