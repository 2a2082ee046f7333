// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PointerIntPair.h"

namespace dbc::passes {

/// In what order sums over a batch take the rows of index sets: that of the inputs (manual, G3).
class InputOrders {
public:
  /// `names` are those of a program with a schedule: index sets are declared there when they are asked for,
  /// and made at the schedule's end.
  explicit InputOrders(mlir::SymbolTable &names) : names(names) {}

  /// The index set of kind `by_input` for the rows of another one, all or the active ones; null where a row
  /// is at its number.
  mlir::FlatSymbolRefAttr of(kernel::IndexSetOp rows, bool active);
  /// For a list of rows of `from` for each row of `to`; null also where each list is of one input's rows.
  mlir::FlatSymbolRefAttr ofLists(kernel::IndexSetOp from, kernel::IndexSetOp to);

private:
  llvm::SmallVector<mlir::Attribute> pathToOwner(kernel::IndexSetOp rows) const;

  mlir::SymbolTable &names;
  llvm::DenseMap<llvm::PointerIntPair<mlir::Operation *, 1, bool>, kernel::IndexSetOp> orders;
};

} // namespace dbc::passes
