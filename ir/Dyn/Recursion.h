// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Which cells call each other, and what happens to their captured arguments (manual, C4, C5).
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::dyn {

/// The cells that an entry or cell needs, itself left out unless it needs itself: strongly connected
/// components of the call graph, callees first. `cellOf` gives the cell of a name.
std::vector<std::vector<CellOp>> recursions(mlir::Operation *root,
                                            llvm::function_ref<CellOp(mlir::StringAttr)> cellOf);

/// Whether what a recursion's cells give is made of numbers and of fields that can be reached from their
/// keys: nodes that are alike in these give the same. Not so where nodes are compared or collected, a cell
/// has captured arguments, or an argument of the entry is read, by them or by what they call.
bool isOfFields(llvm::ArrayRef<CellOp> recursion, llvm::function_ref<CellOp(mlir::StringAttr)> cellOf);

/// Removes captured arguments from the cells that do nothing with them but pass them to each other, and from
/// the calls of these. Whether there were any. `module` is verified and has all cells that its calls name.
bool dropUnusedValues(mlir::ModuleOp module);

/// The captured arguments of the cells of one recursion, and which of them are loop-invariant parameters.
class CapturedValues {
public:
  explicit CapturedValues(llvm::ArrayRef<CellOp> recursion);

  /// Whether one is no loop-invariant parameter: not every call inside the recursion passes it on unchanged.
  bool changes(mlir::BlockArgument value) const;
  /// Whether one of a cell's changes.
  bool changes(CellOp cell) const;
  /// The value of `cell` that is the constant `value` of another cell of the recursion; null if none is.
  mlir::BlockArgument sameIn(CellOp cell, mlir::BlockArgument value) const;

private:
  unsigned find(unsigned n) const;

  llvm::DenseMap<mlir::Value, unsigned> numbers_;
  std::vector<unsigned> same_; ///< union-find: those that are passed as each other
  std::vector<bool> changed_;  ///< of each root
};

} // namespace dbc::dyn
