// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenProgram.h"
#include "passes/lower/FlattenStructure.h"

namespace dbc::passes {

/// Where the elements of lists lie: loads what the structure function needs to know of them, and makes lists
/// of lists.
class Lists {
public:
  Lists(ProgramWriter &program, StructureWriter &structure) : program(program), structure(structure) {}

  /// The symbol of an array of a field or argument: which one, and on which level of lists in lists.
  using ArrayOf = llvm::function_ref<std::string(kernel::FieldArray, int level)>;
  /// A value that the batch holds: a field of node `row`, or an argument of input `row`.
  AbstractValue fromArray(mlir::Location loc, mlir::Type type, mlir::Value row, ArrayOf array);
  /// The nodes of a node's own type that can be reached from it.
  ListInfo reachable(mlir::Location loc, dyn::NodeType type, mlir::Value node);

  /// The element of a list at position `j` (i32).
  AbstractValue element(const ListInfo &list, mlir::Value j);
  /// The row or value of the element at `j`, where all lie in one array.
  mlir::Value positionRow(const ListInfo &list, mlir::Value j);
  /// A list with the lengths of another, whose elements are not known yet.
  ListInfo lengthsOf(ListInfo list);

  /// An index set for the bounds of lists.
  IndexSetInfo *addBounds(mlir::Location loc, llvm::StringRef name);
  /// A list of `length` lists, each of type `type`; `element` makes the one at a position, its bounds go to
  /// rows of `bounds`. If `times` is given, as many such lists lie one behind the other; gives the first.
  ListInfo listOfLists(mlir::Location loc, const IndexSetInfo *bounds, mlir::Value length, mlir::Type type,
                       llvm::function_ref<ListInfo(mlir::Value j)> element, mlir::Value times = {});

private:
  static ListInfo storedList(dyn::ListType type, int level, ArrayOf array);

  ProgramWriter &program;
  StructureWriter &structure;
};

} // namespace dbc::passes
