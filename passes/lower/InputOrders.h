// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerIntPair.h"

namespace dbc::passes {

/// In what order sums over a batch take the rows of index sets: that of the inputs (manual, G3).
class InputOrders {
public:
  /// Index sets are declared in `program` when they are asked for, and made at the end of its schedule.
  explicit InputOrders(kernel::ProgramOp program) : program(program) {}

  /// The index set of kind `by_input` for the rows of another one, all or the active ones; null where a row
  /// is at its number.
  mlir::FlatSymbolRefAttr of(kernel::IndexSetOp rows, bool active);
  /// For a list of rows each: null also where rows of `to` belong to one input each.
  mlir::FlatSymbolRefAttr ofLists(kernel::IndexSetOp from, kernel::IndexSetOp to);

private:
  kernel::ProgramOp program;
  llvm::DenseMap<llvm::PointerIntPair<mlir::Operation *, 1, bool>, kernel::IndexSetOp> orders;
};

} // namespace dbc::passes
