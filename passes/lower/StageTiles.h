// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StageGroups.h"
#include "passes/lower/StageOrder.h"
#include "passes/lower/StageProducts.h"

namespace dbc::passes {

/// Writes products whose results are used element by element: all gates of a tile of channels are computed
/// together, and what is done with them follows at once, while they are in the first-level cache. Loops over
/// a tile have as many steps whatever the sizes of the model are, so they run in whole vectors; the last tile
/// of channels that are no multiple of it overlaps the one before.
class StageTiles {
public:
  StageTiles(const StagePlan &plan, RowWriter &w, StageLocals &locals, StageProducts &products,
             StageGroups &groups)
      : plan(plan), w(w), locals(locals), products(products), groups(groups) {}

  void write(const StageStep &step);
  /// Lets callers choose which tiles are computed, where all of the function is one loop over them.
  void share(kernel::FuncOp func);
  /// The same where it adds outer products up: a tile is some rows of the sums, or a square. The order of
  /// additions stays.
  void shareSums(kernel::FuncOp func);

private:
  /// Gives a function bounds of its `count` tiles.
  std::pair<mlir::Value, mlir::Value> addBounds(kernel::FuncOp func, int64_t count);

  const StagePlan &plan;
  RowWriter &w;
  StageLocals &locals;
  StageProducts &products;
  StageGroups &groups;
  llvm::SmallVector<kernel::ForOp> loops; ///< over tiles
};

} // namespace dbc::passes
