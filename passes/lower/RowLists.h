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
  /// `relations` are those of `from`, which is being lowered to `to`.
  RowLists(batch::ProgramOp from, kernel::ProgramOp to, const mlir::SymbolTable &relations,
           InputOrders &orders)
      : from(from), to(to), relations(relations), orders(orders) {}

  /// Declares all index sets at `declarations`, and adds to the schedule's end what makes them.
  void lower(mlir::OpBuilder &declarations);
  /// In front of a stage's launch: what makes the rows that it runs over of what is computed by then.
  void lowerBefore(batch::StageOp stage, mlir::OpBuilder &launches) const;

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
  };
  kernel::IndexSetOp rowsOf(mlir::FlatSymbolRefAttr name) const;
  Transpose declare(batch::TransposeOp op, mlir::OpBuilder &declarations);
  static void make(batch::DistinctOp op, mlir::OpBuilder &b);
  static void make(const Transpose &transpose, mlir::OpBuilder &b);

  batch::ProgramOp from;
  kernel::ProgramOp to;
  const mlir::SymbolTable &relations;
  InputOrders &orders;
  llvm::StringMap<Computed> computed; ///< by the index set of distinct rows
};

} // namespace dbc::passes
