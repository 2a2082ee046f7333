// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/batch/Activity.h"

namespace dbc::passes {

/// Which parameters have sparse gradients: tables of which the losses of a module do nothing but look rows up
/// whose numbers the schedule knows, vectors or numbers.
class SparseTables {
public:
  /// Takes what a loss does with parameters into account. A table is sparse for all losses or for none, so
  /// that its gradient is of one kind.
  void add(batch::ProgramOp loss, const Activity &activity);

  /// Whether an operation that the gradient goes through looks a row of a sparse table up.
  bool isLookup(mlir::Operation *op) const;

private:
  llvm::StringSet<> dense; ///< parameters
};

} // namespace dbc::passes
