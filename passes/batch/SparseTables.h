// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/batch/Activity.h"

namespace dbc::passes {

/// The number of the row of a table, its first axis, that an operation gives, known from the source; -1 where
/// it gives none.
int64_t constantRow(mlir::Operation *op);

/// Which parameters have sparse gradients: tables of which the losses of a module do nothing but look rows
/// up, some of them by a number that differs from row to row.
class SparseTables {
public:
  /// Takes what a loss does with parameters into account. A table is sparse for all losses or for none, so
  /// that its gradient is of one kind.
  void add(kernel::ProgramOp loss, const Activity &activity);

  /// Whether an operation that the gradient goes through looks a row of a sparse table up, by such a number.
  bool isLookup(mlir::Operation *op) const;
  /// The row of a sparse table that an operation gives, the same in each batch; nothing where it gives none.
  struct Row {
    mlir::StringAttr table;
    int32_t number;
  };
  std::optional<Row> rowOf(mlir::Operation *op) const;

private:
  bool isSparse(dyn::GetOp get) const {
    return lookedUp.contains(get.getParam()) && !dense.contains(get.getParam());
  }

  llvm::StringSet<> lookedUp, dense; ///< parameters
};

} // namespace dbc::passes
