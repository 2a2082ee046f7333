// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/PackedWeights.h"
#include "passes/lower/StageExpressions.h"

namespace dbc::passes {

/// Writes products: by packed weights, of two matrices, and any other contraction. Every sum runs in the
/// order of its index.
class StageProducts {
public:
  StageProducts(const StagePlan &plan, RowWriter &w, StageLocals &locals, StageExpressions &expressions,
                PackedWeights &packed)
      : plan(plan), w(w), b(w.b), loc(w.loc), locals(locals), expressions(expressions), packed(packed) {}

  /// A product whose result is computed as a whole, with its epilogue.
  void write(mlir::linalg::ContractOp op);
  /// Adds what the rows of a block give to a matrix.
  void outer(batch::AccumulateOp op);

  /// What a product by packed weights multiplies, found once for all its tiles.
  struct Operands {
    llvm::SmallVector<mlir::Value> segments;
    llvm::SmallVector<int64_t> lengths;
    mlir::Value table;
    mlir::Value some; ///< where it is 0 the row is zeros
    std::string weights;
  };
  Operands operandsOf(mlir::linalg::ContractOp op);
  /// The product of a block of rows, or a tile of it.
  void multiplyPacked(mlir::linalg::ContractOp op, const Operands &operands, mlir::Value tile,
                      mlir::Value into, bool relu = false);

private:
  void multiply(mlir::linalg::ContractOp op, const MatMul &product);
  void contract(mlir::linalg::ContractOp op);
  /// The symbol of the packed form of a product's matrix and bias.
  std::string pack(mlir::linalg::ContractOp op);
  /// Where the rows of a value lie, from the element `offset` on.
  mlir::Value rowsOf(mlir::Value value, int64_t offset);
  /// Where a write or scatter puts them.
  mlir::Value rowsOf(mlir::Operation *write);
  /// Those of a buffer for the block's own rows, or the rows that an index array names.
  mlir::Value ownRows(mlir::FlatSymbolRefAttr buffer, int64_t offset = 0);
  mlir::Value rowsVia(llvm::StringRef indexArray, mlir::FlatSymbolRefAttr buffer, int64_t ago = 0,
                      int64_t offset = 0);
  /// The segments that an operand is joined of, each of which lies in memory by itself, and their lengths.
  void addSegments(mlir::Value operand, llvm::SmallVectorImpl<mlir::Value> &segments,
                   llvm::SmallVectorImpl<int64_t> &lengths);
  mlir::Value rowNumbers(llvm::StringRef name, llvm::function_ref<mlir::Value()> number);

  const StagePlan &plan;
  RowWriter &w;
  mlir::OpBuilder &b;
  mlir::Location loc;
  StageLocals &locals;
  StageExpressions &expressions;
  PackedWeights &packed;
  llvm::StringMap<mlir::Value> rowNumbersOf; ///< by index array
};

} // namespace dbc::passes
