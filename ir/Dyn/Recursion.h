// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which cells call each other, and what happens to the values that are given to them (LANGUAGE C4, C5).
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::dyn {

/// The cells that an entry or cell needs, itself left out unless it needs itself: strongly connected
/// components of the call graph, callees first. `cellOf` gives the cell of a name.
std::vector<std::vector<CellOp>> recursions(mlir::Operation *root,
                                            llvm::function_ref<CellOp(mlir::StringAttr)> cellOf);

/// Whether what a recursion's cells give is made of numbers and of fields that can be reached from their
/// keys: nodes that are alike in these give the same. Not so where nodes are compared or collected, a value
/// is given to a cell, or an argument of the entry is read, by them or by what they call.
bool isOfFields(llvm::ArrayRef<CellOp> recursion, llvm::function_ref<CellOp(mlir::StringAttr)> cellOf);

/// Takes values away from the cells that do nothing with them but hand them on to each other, and from the
/// calls that give them. Whether there were any. `module` is verified and has all cells that its calls name.
bool dropUnusedValues(mlir::ModuleOp module);

/// Values that are given to the cells of one recursion.
class GivenValues {
public:
  explicit GivenValues(llvm::ArrayRef<CellOp> recursion);

  /// Whether a value is not handed on unchanged by every call inside the recursion.
  bool changes(mlir::BlockArgument value) const;
  /// Whether one of a cell's values changes.
  bool changes(CellOp cell) const;
  /// The value of `cell` that is the constant `value` of another cell of the recursion; null if none is.
  mlir::BlockArgument sameIn(CellOp cell, mlir::BlockArgument value) const;

private:
  unsigned find(unsigned n) const;

  llvm::DenseMap<mlir::Value, unsigned> numbers_;
  std::vector<unsigned> same_; ///< union-find: values that are handed on as each other
  std::vector<bool> changed_;  ///< of each root
};

} // namespace dbc::dyn
