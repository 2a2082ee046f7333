// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenBody.h"
#include "passes/lower/FlattenLists.h"
#include "passes/lower/FlattenStages.h"

namespace dbc::passes {

/// Map and filter: their bodies are computed for the rows of an index set, one for each element.
class Binders {
public:
  Binders(ProgramWriter &program, StructureWriter &structure, Environment &env, StageWriter &stages,
          Lists &lists, BodyWalker &walker)
      : program(program), structure(structure), env(env), stages(stages), lists(lists), walker(walker) {}

  void map(dyn::MapOp op, RowContext at);
  void filter(dyn::FilterOp op, RowContext at);

private:
  void mapCalls(dyn::MapOp op, llvm::ArrayRef<ListInfo> sources);
  ListInfo listOfYielded(mlir::Location loc, mlir::Value value, RowContext at);
  ListInfo listOfFiltered(const ListInfo &source, const IndexSetInfo &stay, int array);

  ProgramWriter &program;
  StructureWriter &structure;
  Environment &env;
  StageWriter &stages;
  Lists &lists;
  BodyWalker &walker;
};

} // namespace dbc::passes
