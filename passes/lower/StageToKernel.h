// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StageReductions.h"
#include "passes/lower/StageTiles.h"

namespace dbc::passes {

/// Lowers the body of one stage to loops over rows and elements: StagePlan and StageOrder decide, one class
/// for each kind of step writes it.
class StageToKernel {
public:
  /// `order`, `relations` and `arrays` as for RowWriter.
  StageToKernel(batch::StageOp stage, kernel::FuncOp func, kernel::IndexSetOp indexSet,
                mlir::FlatSymbolRefAttr order, const mlir::SymbolTable &relations,
                const mlir::SymbolTable &arrays, PackedWeights &packed, StageForms forms);
  mlir::LogicalResult run();

private:
  void write(const StageStep &step);
  void writeSpecial(mlir::Operation *op);
  void join(mlir::Operation *op);

  kernel::FuncOp func;
  StagePlan plan;
  RowWriter w;
  StageLocals locals;
  StageExpressions expressions;
  StageReductions reductions;
  StageProducts products;
  StageGroups groups;
  StageTiles tiles;
};

} // namespace dbc::passes
