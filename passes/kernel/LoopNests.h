// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which iterations of the loops of a stage are independent: what the threads of a GPU's block may share.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "passes/kernel/BlockMemory.h"
#include <optional>

namespace dbc::passes {

/// Whether an integer is known; if so, `*number` is it.
bool isConstant(mlir::Value value, int64_t *number);

/// Independent loops, one directly inside the other, the innermost one of independent iterations.
struct LoopNest {
  llvm::SmallVector<kernel::ForOp> loops;
  llvm::SmallVector<int64_t> extents;

  /// Nothing where `op` does not begin one.
  static std::optional<LoopNest> of(mlir::Operation *op, const BlockMemory &memory);
};

/// Of a loop over rows that holds loops of independent iterations, all equally long, and other loops and
/// conditions around them: how long these are, if a thread may do all that is done at one position of them,
/// as nothing is read there that stands at another.
std::optional<int64_t> columnsOf(kernel::ForOp rows, const BlockMemory &memory);

} // namespace dbc::passes
