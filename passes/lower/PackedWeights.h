// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The packed form of the matrices that a program's products read.
#pragma once

#include "ir/Kernel/Kernel.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Products.h"
#include "llvm/ADT/DenseMap.h"

namespace dbc::passes {

/// Declares packed weights, once a program for all products by the same matrix.
class PackedWeights {
public:
  /// Declarations get names from `names` and stand before `before`.
  PackedWeights(mlir::SymbolTable &names, mlir::Operation *before) : names(names), declare(before) {}

  /// Those of the program.
  const mlir::SymbolTable &symbols() const { return names; }
  /// The symbol of a packed matrix, or table of matrices. Its products start from the parameter `init`, if it
  /// is not null, and with `gates` are computed in tiles of `width` channels of each gate.
  std::string symbolOf(mlir::Location at, mlir::Value weights, mlir::FlatSymbolRefAttr init,
                       std::optional<int64_t> gates, int64_t width);

private:
  mlir::SymbolTable &names;
  mlir::OpBuilder declare;
  llvm::DenseMap<mlir::Attribute, kernel::WeightsOp> declared; ///< by what is packed
};

/// Has products with a whole matrix read one that is packed in tiles, where both are the same numbers in the
/// same order: tiles of one gate that do not overlap.
void mergeWholeMatrices(kernel::ProgramOp program);

} // namespace dbc::passes
