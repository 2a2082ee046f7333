// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/batch/AdjointDeclarations.h"

namespace dbc::passes {

/// Writes stages over the elements of the list that a segment reduces: what each element has of the adjoint
/// of the result, where that is not the same for all.
class AdjointElements {
public:
  /// Stages go where `b` stands.
  AdjointElements(AdjointDeclarations &declare, mlir::OpBuilder &b, batch::SegmentOp segment);

  /// Writes what elements contribute to the buffer `contribution`. `adjoint` is the buffer of the result's
  /// adjoint.
  void contribute(mlir::FlatSymbolRefAttr adjoint, mlir::FlatSymbolRefAttr contribution);

private:
  mlir::FlatSymbolRefAttr firstOfEquals(llvm::StringRef name);
  mlir::Value share(mlir::Value amount, mlir::FlatSymbolRefAttr first);
  mlir::Value isCounted(mlir::Value count);
  mlir::Value countedShare(mlir::Value amount);

  void stage(mlir::FlatSymbolRefAttr indexSet);
  mlir::Value ofParent(mlir::FlatSymbolRefAttr buffer, mlir::Type type);
  mlir::Value ofParent(mlir::Value value) { return ofParent(declare.bufferOf(value), value.getType()); }
  mlir::Value ofElement();
  mlir::Value index(llvm::StringRef indexArray);
  mlir::Value integer(int32_t i);
  mlir::Value spread(mlir::Value value);
  mlir::Value zero();
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value x, mlir::Value y);
  void only(mlir::Value condition);
  mlir::Type withNumbers(mlir::Type number);

  AdjointDeclarations &declare;
  mlir::OpBuilder &b;
  mlir::OpBuilder in; ///< in the stage in hand
  batch::SegmentOp segment;
  batch::StageOp from;
  mlir::Location loc;
  mlir::Type type;                  ///< of an element
  mlir::FlatSymbolRefAttr elements; ///< index set
  batch::RelationOp toParent;
  mlir::Value where; ///< the elements that have any of it; null: all
};

} // namespace dbc::passes
