// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace dbc::passes {

/// The operations of a stage again in another one, before whatever is made behind them. What the stage has
/// written to a buffer is read there, not computed again. What turns out to be of no use goes with the copy.
class StageCopy {
public:
  /// `to` is empty. `keeps`: whether to read what was written: not where the rows are others.
  StageCopy(batch::StageOp from, batch::StageOp to, bool keeps = true);
  ~StageCopy();
  StageCopy(const StageCopy &) = delete;
  StageCopy &operator=(const StageCopy &) = delete;

  /// The copy of an operation with a result, or of a value.
  mlir::Operation *of(mlir::Operation *op) { return values.lookup(op->getResult(0)).getDefiningOp(); }
  mlir::Value of(mlir::Value value) { return values.lookupOrDefault(value); }

  mlir::OpBuilder b; ///< at the end of `to`
  batch::StageOp to;

private:
  mlir::Value readWhere(mlir::Operation *write, mlir::Type type);

  mlir::IRMapping values;
  llvm::SmallVector<std::pair<mlir::Value, mlir::Value>> kept; ///< what is computed, and the same read
};

} // namespace dbc::passes
