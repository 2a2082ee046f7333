// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StageLocals.h"

namespace dbc::passes {

/// Writes scalar expressions: one element of a row-level value at the current row.
class StageExpressions {
public:
  StageExpressions(const StagePlan &plan, RowWriter &w, StageLocals &locals)
      : plan(plan), w(w), b(w.b), loc(w.loc), locals(locals) {}

  /// Read from scratch where the value is materialised. Is remembered if `cached`, between `begin` and `end`.
  mlir::Value element(mlir::Value value, mlir::ValueRange at, bool cached = true);
  /// Elements at these indices are written once until `end`, for all expressions of one loop body, which
  /// wants those of these sums over lists.
  void begin(mlir::ValueRange at, llvm::ArrayRef<batch::SegmentOp> sums = {});
  void end();
  /// The element of a materialised value, computed and not read.
  mlir::Value computed(mlir::Value value, mlir::ValueRange at);
  /// The element of a gate of a tiled product, read from its tile.
  mlir::Value gate(mlir::Value value);

  /// Whether there was an op that no expression is known of; it has been reported.
  bool hasFailed() const { return failed; }

private:
  mlir::Value expression(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  // Each gives null for ops of the other kinds.
  mlir::Value loaded(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  mlir::Value viewed(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  mlir::Value arithmetic(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  mlir::Value patch(dyn::PatchesOp op, mlir::ValueRange at);
  mlir::Value summed(batch::SegmentOp op, mlir::ValueRange at);

  const StagePlan &plan;
  RowWriter &w;
  mlir::OpBuilder &b;
  mlir::Location loc;
  StageLocals &locals;
  bool caching = false;
  llvm::SmallVector<batch::SegmentOp> wanted;     ///< sums
  llvm::DenseMap<mlir::Value, mlir::Value> cache; ///< scalars at `cacheAt`
  llvm::SmallVector<mlir::Value, 4> cacheAt;
  bool failed = false;
};

} // namespace dbc::passes
