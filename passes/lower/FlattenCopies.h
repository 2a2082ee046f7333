// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenLists.h"
#include "passes/lower/FlattenStages.h"

namespace dbc::passes {

/// Lists whose elements are put into rows of their own: those of arms that lie in different arrays, those of
/// the states of recurrences, and those that computed numbers are read from.
class ListCopies {
public:
  ListCopies(ProgramWriter &program, StructureWriter &structure, StageWriter &stages, Lists &lists)
      : program(program), structure(structure), stages(stages), lists(lists) {}

  /// Where lists of one type are copied to.
  struct Target {
    IndexSetInfo *rows = nullptr; ///< of structural elements, or of the bounds of lists
    std::string buffer;           ///< of computed elements
    std::shared_ptr<Target> inner;

    const Target &innermost() const { return inner ? inner->innermost() : *this; }
  };
  /// A target for lists like `list`. In the walk that writes calls of computed elements only the number
  /// counts.
  Target addTarget(mlir::Location loc, const ListInfo &list, bool structural, const std::string &name,
                   RowContext at);
  ListInfo copyTo(mlir::Location loc, const ListInfo &list, const Target &target, RowContext at);
  /// Rows for a list with the lengths of `like`; `times` such lists one behind the other, once if it is not
  /// given; gives the first.
  ListInfo reserve(mlir::Location loc, const ListInfo &like, const Target &target, mlir::Value times);
  /// The elements of a list into the rows of one with the same lengths.
  void copyInto(mlir::Location loc, const ListInfo &list, const ListInfo &to, RowContext at);
  /// A structural list as one that stages read.
  ListInfo asComputed(mlir::Operation *op, const ListInfo &list, RowContext at);

private:
  ListInfo copyStructural(mlir::Location loc, const ListInfo &list, const IndexSetInfo *target);
  ListInfo copyComputed(mlir::Location loc, const ListInfo &list, llvm::StringRef buffer, RowContext at);
  ListInfo reserveRows(mlir::Location loc, const ListInfo &like, llvm::StringRef buffer, mlir::Value rows);

  ProgramWriter &program;
  StructureWriter &structure;
  StageWriter &stages;
  Lists &lists;
};

} // namespace dbc::passes
