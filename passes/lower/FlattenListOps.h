// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenCopies.h"

namespace dbc::passes {

/// Operations on lists that have no body: arithmetic on bounds, elements, and reductions.
class ListOperations {
public:
  ListOperations(StructureWriter &structure, Environment &env, StageWriter &stages, Lists &lists,
                 ListCopies &copies)
      : structure(structure), env(env), stages(stages), lists(lists), copies(copies), b(structure.builder()) {
  }

  void nodes(dyn::NodesOp op);
  void empty(dyn::EmptyOp op);
  void range(dyn::RangeOp op);
  void length(dyn::LenOp op);
  void zip(dyn::ZipOp op);
  void reverse(dyn::ReverseOp op);
  void slice(dyn::SliceOp op);
  void at(dyn::AtOp op, RowContext at);
  void reduce(dyn::ReduceListOp op, RowContext at);

private:
  ListInfo listOf(mlir::Value value) { return env.lookup(value).list; }
  AbstractValue maybe(mlir::Value value) { return value ? env.lookup(value) : AbstractValue(); }
  mlir::Value reduceIntegers(dyn::ReduceListOp op, const ListInfo &list);

  StructureWriter &structure;
  Environment &env;
  StageWriter &stages;
  Lists &lists;
  ListCopies &copies;
  mlir::OpBuilder &b; ///< the structure function
};

} // namespace dbc::passes
