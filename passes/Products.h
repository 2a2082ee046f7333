// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How passes recognise the products that packed weights serve.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace dbc::passes {

/// A parameter, or parameters stacked along an axis.
inline bool isWeights(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || mlir::isa<dyn::GetOp>(op))
    return op != nullptr;
  return mlir::isa<mlir::tensor::ConcatOp>(op) &&
         llvm::all_of(op->getOperands(), [](mlir::Value v) { return isWeights(v); });
}

/// `weights @ x`: a matrix and a vector.
struct MatVec {
  mlir::Value weights, x;
};

/// Recognises y[m] = sum over k of A[m, k] * b[k], in either order of the operands.
inline std::optional<MatVec> matVec(mlir::linalg::ContractOp op) {
  auto maps = op.getIndexingMapsArray();
  if (maps.size() != 3 || maps[0].getNumDims() != 2 || maps[2].getNumResults() != 1)
    return std::nullopt;
  auto dim = [&](unsigned map, unsigned n) { return maps[map].getDimPosition(n); };
  for (unsigned a : {0u, 1u}) {
    unsigned x = 1 - a;
    if (maps[a].getNumResults() != 2 || maps[x].getNumResults() != 1 || !maps[a].isProjectedPermutation() ||
        !maps[x].isProjectedPermutation() || !maps[2].isProjectedPermutation())
      continue;
    if (dim(a, 0) == dim(2, 0) && dim(a, 1) == dim(x, 0) && dim(x, 0) != dim(2, 0))
      return MatVec{op.getOperand(a), op.getOperand(x)};
  }
  return std::nullopt;
}

} // namespace dbc::passes
