// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenBody.h"
#include "passes/lower/FlattenEnvironment.h"
#include "passes/lower/FlattenLists.h"

namespace dbc::passes {

/// Call sites, and the keys of instances. Where calls are written, how long the lists are that a callee gives
/// is found by walking what its lengths depend on.
class Calls {
public:
  Calls(ProgramWriter &program, CellMap &cells, StructureWriter &structure, Environment &env, Lists &lists,
        BodyWalker &walker)
      : program(program), cells(cells), structure(structure), env(env), lists(lists), walker(walker),
        b(structure.builder()) {}

  /// The arguments of a cell's body, or of a range, which has the first ones: `numbers` are the instance's
  /// node or input and its secondary keys, as int32.
  void bindKeys(dyn::CellOp cell, mlir::Block &block, mlir::ValueRange numbers);
  /// Writes a `slot` function: from the keys of an instance to its slot.
  void slotFunction();
  void call(dyn::CallOp op, RowContext at);
  /// Whether a call of a relation led to an instance, and from where it did.
  void calledBy(dyn::CalledByOp op);
  void caller(dyn::CallerOp op);

private:
  CellInfo &infoOf(mlir::FlatSymbolRefAttr cell) { return cells[cell.getAttr()]; }
  mlir::Value slotIn(CellInfo &cell, mlir::Location loc, mlir::ValueRange keys);
  /// The slot of an instance that a relation leads to.
  mlir::Value calledSlot(mlir::FlatSymbolRefAttr relation, mlir::Location loc, mlir::ValueRange keys);
  llvm::SmallVector<mlir::Value> asIndices(mlir::ValueRange values);
  void results(dyn::CallOp op, CellInfo &cell, mlir::Value slot);
  void every(dyn::CallOp op, CellInfo &cell);
  void calledLists(dyn::CallOp op, RowContext at);
  ListInfo lengthsIn(mlir::Value list, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);
  void walkFor(mlir::Value value, RowContext at, llvm::DenseSet<mlir::Operation *> &walked);

  ProgramWriter &program;
  CellMap &cells;
  StructureWriter &structure;
  Environment &env;
  Lists &lists;
  BodyWalker &walker;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
