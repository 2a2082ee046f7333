// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenLists.h"
#include "passes/lower/FlattenStages.h"

namespace dbc::passes {

/// What a function returns: results of a cell go to its buffers, those of an entry to outputs.
class Results {
public:
  Results(ProgramWriter &program, CellMap &cells, StructureWriter &structure, StageWriter &stages,
          Environment &env, Lists &lists)
      : program(program), cells(cells), structure(structure), stages(stages), env(env), lists(lists) {}

  void returned(dyn::ReturnOp op, RowContext at);

private:
  std::string addTarget(dyn::ReturnOp op, unsigned component, IndexSetInfo *indexSet);
  void returnList(mlir::Location loc, unsigned component, const ListInfo &list, RowContext at);
  void outputList(mlir::Location loc, unsigned component, const ListInfo &list, RowContext at,
                  unsigned depth);

  ProgramWriter &program;
  CellMap &cells;
  StructureWriter &structure;
  StageWriter &stages;
  Environment &env;
  Lists &lists;
};

} // namespace dbc::passes
