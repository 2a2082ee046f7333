// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StageExpressions.h"

namespace dbc::passes {

/// Writes what goes through many elements for one result: of an axis of a tensor, or of the rows of a list.
/// Every sum runs in the order of its index.
class StageReductions {
public:
  StageReductions(RowWriter &w, StageLocals &locals, StageExpressions &expressions)
      : w(w), b(w.b), loc(w.loc), locals(locals), expressions(expressions) {}

  void reduce(dyn::ReduceOp op);
  void softmax(dyn::SoftmaxOp op);
  void topK(dyn::TopKOp op);
  void sumPatches(dyn::SumPatchesOp op);
  void segment(batch::SegmentOp op);

private:
  Reduction reduction(dyn::ReduceKind kind, mlir::Type element, mlir::Location at);
  mlir::Value reduced(dyn::ReduceKind kind, mlir::Type elementType, int64_t length, mlir::Location at,
                      llvm::function_ref<mlir::Value(mlir::Value)> element);
  mlir::Value someOf(batch::SegmentOp op);
  void reduceRows(batch::SegmentOp op, mlir::Value first, mlir::Value length);
  void pick(batch::SegmentOp op);

  RowWriter &w;
  mlir::OpBuilder &b;
  mlir::Location loc;
  StageLocals &locals;
  StageExpressions &expressions;
};

} // namespace dbc::passes
