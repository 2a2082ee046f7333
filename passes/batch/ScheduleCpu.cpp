// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// schedule-cpu: rows of a block, channels of a tile and grain of a stage. A stage with a product computes
// blocks of rows, so that one pass over the packed weights serves several; one without goes row by row, and
// its values stay in the first-level cache.
#include "ir/Batch/Batch.h"
#include "passes/Passes.h"
#include "passes/batch/StageSize.h"
#include "llvm/Support/DebugLog.h"

#include <algorithm>

#define DEBUG_TYPE "schedule-cpu"

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
  static constexpr int64_t kRowsAtOnce = 6;
  /// Work that repays waking a thread.
  static constexpr int64_t kGrainOps = 200'000;
  /// Outputs of a panel, the unit of packed weights: one cache line of f32.
  static constexpr int64_t kPanel = 16;
  /// Panels of one tile, of each gate one or more: at most two passes of the kernel over a block's rows.
  static constexpr int64_t kMostPanels = 6;

  /// Channels of a tile: those whose products take fewest panels (a last tile has panels of its own where
  /// that saves some, see dbc::Packed), and whose last tile computes few activations a second time. With less
  /// than four panels to a tile there are too few independent sums in a block of a row or two to hide the
  /// latency of an addition.
  static int64_t channelsOfTile(Gates shape) {
    static constexpr double kFewPanels[] = {0, 1.25, 1.08, 1.03};
    static constexpr double kActivations = 0.1; // of a gate and 16 channels, beside a panel's products
    int64_t best = kPanel;
    double least = 0;
    for (int64_t channels = kPanel; channels <= shape.channels; channels += kPanel) {
      int64_t panels = shape.gates * channels / kPanel;
      if (panels > kMostPanels && channels > kPanel)
        break;
      int64_t tiles = (shape.channels + channels - 1) / channels, rest = shape.channels % channels;
      int64_t all = shape.channels / channels * panels + (shape.gates * rest + kPanel - 1) / kPanel;
      double cost = double(all) * (panels < 4 ? kFewPanels[panels] : 1) + kActivations * tiles * panels;
      if (channels == kPanel || cost <= least)
        best = channels, least = cost;
    }
    return best;
  }

  void runOnOperation() override {
    getOperation().walk([&](batch::StageOp stage) {
      if (stage.getSchedule())
        return;
      batch::ScheduleAttr chosen = schedule(stage);
      stage.setScheduleAttr(chosen);
      blockedStages += chosen.getRows() > 1;
      tiledStages += chosen.getChannels() > 0;
    });
  }

  /// Whether a stage sums what a row of a table, or of a field or argument, gets from where it is read.
  static bool sumsReads(batch::StageOp stage) {
    const std::optional<kernel::IndexSetKind> kind = kindOf(stage);
    return kind == kernel::IndexSetKind::Distinct || kind == kernel::IndexSetKind::Column;
  }

  /// Of a stage's rows.
  static std::optional<kernel::IndexSetKind> kindOf(batch::StageOp stage) {
    auto indexSet = SymbolTable::lookupNearestSymbolFrom<kernel::IndexSetOp>(stage, stage.getIndexSetAttr());
    return indexSet ? std::optional(indexSet.getKind()) : std::nullopt;
  }

  static batch::ScheduleAttr schedule(batch::StageOp stage) {
    StageSize size = sizeOf(stage);
    int64_t rows = 1, channels = 0;
    for (Gates shape : size.tiled) {
      int64_t here = channelsOfTile(shape);
      channels = channels == 0 ? here : std::min(channels, here);
    }
    if (size.product) {
      rows = std::clamp<int64_t>(kScratchBytes / size.scratch, 1, kMostRows);
      if (rows > kRowsAtOnce)
        rows -= rows % kRowsAtOnce;
    }
    if (sumsReads(stage)) // that is all that is done for the row
      for (auto segment : stage.getBody().front().getOps<batch::SegmentOp>())
        size.operations += ShapedType::getNumElements(dyn::extents(segment.getType()));
    const int64_t grain = std::max<int64_t>(1, kGrainOps / size.operations);
    if (addsOuterProducts(stage))
      rows = kRowsOfOuter;
    if (kindOf(stage) == kernel::IndexSetKind::Batch)
      rows = 1;
    LDBG() << "@" << stage.getName() << ": " << rows << " rows of " << size.scratch << " bytes each, "
           << channels << " channels, a grain of " << grain << " rows of " << size.operations
           << " operations each";
    return batch::ScheduleAttr::get(stage.getContext(), rows, grain, channels);
  }
};
} // namespace
} // namespace dbc::passes
