// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenStages.h"

namespace dbc::passes {

/// Operations on numbers: those on integers of the structure are computed in the structure function, those on
/// the model's own numbers where they are used, all others in a stage each.
class Arithmetic {
public:
  Arithmetic(ProgramWriter &program, StructureWriter &structure, Environment &env, StageWriter &stages)
      : program(program), structure(structure), env(env), stages(stages) {}

  void operation(mlir::Operation *op, RowContext at);
  void dropout(dyn::DropoutOp op, RowContext at);
  /// A number that a cell captured. Integers and truths that the structure function knows are read into the
  /// rows, which compute with them.
  void captured(dyn::OptimizationBarrierOp op, RowContext at);

private:
  bool isStructural(mlir::Operation *op);
  mlir::Value structural(mlir::Operation *op);
  bool isModel(mlir::Operation *op);
  bool usesParam(mlir::Operation *op);
  void computed(mlir::Operation *op, RowContext at);
  mlir::Value input(mlir::Location loc);

  ProgramWriter &program;
  StructureWriter &structure;
  Environment &env;
  StageWriter &stages;
  llvm::DenseMap<mlir::Operation *, bool> ofParams; ///< see usesParam
  mlir::Value inputOfCell;                          ///< see input
};

} // namespace dbc::passes
