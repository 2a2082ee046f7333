// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/RowWriter.h"
#include "passes/lower/StagePlan.h"

namespace dbc::passes {

/// Scratch for the rows of a block: of each materialised value, and of one tile of each tiled product.
class StageLocals {
public:
  StageLocals(const StagePlan &plan, RowWriter &w) : plan(plan), w(w) {}

  /// Makes scratch for a value that is materialised.
  void make(mlir::Value value);
  mlir::Value of(mlir::Value value) const;
  /// An element of the current row.
  mlir::Value read(mlir::Value value, mlir::ValueRange at);
  void write(mlir::Value scalar, mlir::Value value, mlir::ValueRange at);

  /// Makes scratch for a tile of a product's result.
  mlir::Value makeTile(mlir::Value product);
  /// Gates are read at this position of their tile from here on.
  void setChannel(mlir::Value position) { channel = position; }
  mlir::Value readGate(mlir::Value gate);

private:
  mlir::Value scratch(mlir::Value value, llvm::ArrayRef<int64_t> shape);

  const StagePlan &plan;
  RowWriter &w;
  llvm::DenseMap<mlir::Value, mlir::Value> locals, tiles;
  mlir::Value channel;
};

} // namespace dbc::passes
