// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Lowers the body of one stage to loops over rows and elements.
#pragma once

#include "passes/lower/PackedWeights.h"
#include "passes/lower/RowWriter.h"
#include "passes/lower/StageOrder.h"

namespace dbc::passes {

class StageToKernel : RowWriter {
public:
  /// `relations` are those of the stage's program.
  StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::SpaceOp space,
                const mlir::SymbolTable &relations, PackedWeights &packed);
  mlir::LogicalResult run();

private:
  mlir::Value localFor(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  // Tiles, see StageTiles.cpp
  void emitTiles(const StageStep &step);
  /// Lets callers choose which tiles are computed, where all of the stage is one loop over them.
  void shareTiles();
  void emitElements(llvm::ArrayRef<const Action *> group, mlir::ValueRange at);
  mlir::Value gateElement(mlir::Value gate);

  // Writing
  void emitAll(const StageOrder &order);
  void emitGroup(llvm::ArrayRef<const Action *> group);
  void emitSpecial(mlir::Operation *op);
  void store(mlir::Value scalar, mlir::Value value, mlir::ValueRange at);
  void storeOut(mlir::Operation *write, mlir::Value scalar, mlir::ValueRange at);
  mlir::Value element(mlir::Value value, mlir::ValueRange at, bool cached = true);
  mlir::Value expression(mlir::Operation *op, mlir::Value value, mlir::ValueRange at);
  mlir::Value patch(dyn::PatchesOp op, mlir::ValueRange at);
  mlir::Value someOf(batch::SegmentOp op);
  mlir::Value constantElement(mlir::DenseElementsAttr dense, mlir::ValueRange at);
  mlir::Value localOf(mlir::Value value);

  /// What a product multiplies, found once for all its tiles.
  struct Operands {
    llvm::SmallVector<mlir::Value> segments;
    llvm::SmallVector<int64_t> lengths;
    mlir::Value table;
    mlir::Value some; ///< where it is 0 the row is zeros
    std::string weights;
  };
  Operands operandsOf(mlir::linalg::ContractOp op);
  void product(mlir::linalg::ContractOp op, const Operands &operands, mlir::Value tile, mlir::Value into);
  void multiply(mlir::linalg::ContractOp op, const MatMul &product);
  void contract(mlir::linalg::ContractOp op);
  void reduce(dyn::ReduceOp op);
  void softmax(dyn::SoftmaxOp op);
  void segment(batch::SegmentOp op);
  void pick(batch::SegmentOp op);
  void topK(dyn::TopKOp op);
  void join(mlir::Operation *op);
  mlir::Value rowsOf(mlir::Value value, int64_t offset);
  std::string pack(mlir::linalg::ContractOp op);
  mlir::Value rowNumbers(llvm::StringRef name, llvm::function_ref<mlir::Value()> number);
  Reduction reduction(dyn::ReduceKind kind, mlir::Type element, mlir::Location at);
  mlir::Value reduced(dyn::ReduceKind kind, mlir::Type elementType, int64_t length, mlir::Location at,
                      llvm::function_ref<mlir::Value(mlir::Value)> element);

  kernel::FuncOp func;
  PackedWeights &packed;
  StagePlan plan;
  llvm::DenseMap<mlir::Value, mlir::Value> locals;     ///< scratch of materialised values
  llvm::DenseMap<mlir::Value, mlir::Value> tileLocals; ///< scratch of tiled products, for one tile
  llvm::SmallVector<kernel::ForOp> tileLoops;
  bool failed_ = false;
  bool caching = false;                           ///< inside the loop body of elementwise values
  llvm::DenseMap<mlir::Value, mlir::Value> cache; ///< its scalars, at `cacheAt`
  llvm::SmallVector<mlir::Value, 4> cacheAt;
  mlir::Value tileUnit;                      ///< the unit's place in its tile
  llvm::StringMap<mlir::Value> rowNumbersOf; ///< by column
};

} // namespace dbc::passes
