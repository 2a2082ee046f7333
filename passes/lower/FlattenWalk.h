// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenArithmetic.h"
#include "passes/lower/FlattenBinders.h"
#include "passes/lower/FlattenBranches.h"
#include "passes/lower/FlattenCalls.h"
#include "passes/lower/FlattenListOps.h"
#include "passes/lower/FlattenRecurrences.h"
#include "passes/lower/FlattenResults.h"

namespace dbc::passes {

/// One walk over a cell or entry, see Flatten.h: hands each operation to the class that knows what to write
/// for it.
class Walk : private BodyWalker {
public:
  /// `func` is to be filled for `owner`; an index function makes the rows of `indexSet`.
  Walk(ProgramWriter &program, CellMap &cells, kernel::FuncOp func, mlir::Operation *owner,
       IndexSetInfo *indexSet);
  mlir::LogicalResult run();

private:
  void walkBlock(mlir::Block &block, RowContext at) override;
  void walkOperation(mlir::Operation *op, RowContext at) override;
  void body();
  void bindArgument(mlir::Value value, unsigned component, mlir::Value input);
  void field(dyn::FieldOp op);

  ProgramWriter &program;
  CellMap &cells;
  RowContext top;
  // Each uses those before it.
  StructureWriter structure;
  Environment env;
  StageWriter stages;
  Arithmetic arithmetic;
  Lists lists;
  ListCopies copies;
  ListOperations listOperations;
  Binders binders;
  Recurrences recurrences;
  Branches branches;
  Calls calls;
  Results results;
};

} // namespace dbc::passes
