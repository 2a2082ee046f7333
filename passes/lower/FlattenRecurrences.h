// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenBody.h"
#include "passes/lower/FlattenCopies.h"

namespace dbc::passes {

/// Scans and folds: their states are rows, and each step reads those of the step before. Where a `while` may
/// end them, which rows there are is found while computing.
class Recurrences {
public:
  Recurrences(ProgramWriter &program, StructureWriter &structure, Environment &env, StageWriter &stages,
              Lists &lists, ListCopies &copies, BodyWalker &walker)
      : program(program), structure(structure), env(env), stages(stages), lists(lists), copies(copies),
        walker(walker), b(structure.builder()) {}

  void scan(dyn::ScanOp op, RowContext at);
  void fold(dyn::FoldOp op, RowContext at);

private:
  struct Recurrence;
  /// The lists of a recurrence's states.
  struct StateList {
    ListInfo first;     ///< before the first step
    mlir::Value period; ///< rows of elements from one state's to the next one's
  };

  void recurrence(Recurrence r);
  void calls(Recurrence &r);
  void begin(Recurrence &r);
  void step(Recurrence &r, RowContext inner, mlir::Value k);
  AbstractValue result(Recurrence &r, unsigned k);
  ListInfo listOfStates(Recurrence &r, unsigned k, llvm::function_ref<ListInfo(mlir::Value)> state);

  StateList stateList(Recurrence &r, const std::string &name, const ListInfo &list);
  ListInfo listAt(Recurrence &r, unsigned n, mlir::Value state);
  ListInfo lastList(Recurrence &r, const std::string &name, const ListInfo &first, mlir::Value period);
  void checkLengths(mlir::Location loc, const ListInfo &list, const ListInfo &before, llvm::StringRef what);
  void countSteps(Recurrence &r, RowContext inner);

  ProgramWriter &program;
  StructureWriter &structure;
  Environment &env;
  StageWriter &stages;
  Lists &lists;
  ListCopies &copies;
  BodyWalker &walker;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
