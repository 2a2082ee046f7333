// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "ir/Batch/Batch.h"
#include "passes/lower/InputOrders.h"
#include "llvm/ADT/StringMap.h"

namespace dbc::passes {

/// Lowers what a program says of distinct rows and of lists of rows, `batch.distinct` and `batch.transpose`:
/// the schedule makes them, and those by numbers that are computed the run.
class RowLists {
public:
  /// `relations` are those of `from`, which is being lowered to the program of `names`.
  RowLists(kernel::ProgramOp from, const mlir::SymbolTable &relations, mlir::SymbolTable &names,
           InputOrders &orders)
      : from(from), relations(relations), names(names), orders(orders) {}

  /// Declares all index sets at `declarations`, and adds to the schedule's end what makes them.
  void lower(mlir::OpBuilder &declarations);
  /// Writes in front of the launch of a stage what makes its rows, where their numbers are computed. No two
  /// stages run over such rows.
  void lowerBefore(batch::StageOp stage, mlir::OpBuilder &launches);

private:
  /// Where a transpose leads from and to, and by what.
  struct Transpose {
    mlir::Location loc;
    mlir::FlatSymbolRefAttr indexSet, from, to, numbers, order;
    mlir::StringAttr indexArray;
  };
  struct Computed {
    batch::DistinctOp distinct;
    llvm::SmallVector<Transpose> transposes;
    bool isMade = false;
  };
  Transpose declare(batch::TransposeOp op, mlir::OpBuilder &declarations);
  static void make(batch::DistinctOp op, mlir::OpBuilder &b);
  static void make(const Transpose &transpose, mlir::OpBuilder &b);

  kernel::ProgramOp from;
  const mlir::SymbolTable &relations;
  mlir::SymbolTable &names;
  InputOrders &orders;
  llvm::StringMap<Computed> computed; ///< by the index set of distinct rows
};

} // namespace dbc::passes
