// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How passes recognise the products that packed weights serve.
#pragma once

#include "ir/Dyn/RowOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace dbc::passes {

/// A parameter, matrices cut out of parameters, or such stacked along an axis.
inline bool isWeights(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (!op || mlir::isa<dyn::GetOp>(op))
    return op != nullptr;
  return dyn::matrixSlice(value) ||
         (mlir::isa<mlir::tensor::ConcatOp>(op) &&
          llvm::all_of(op->getOperands(), [](mlir::Value v) { return isWeights(v); }));
}

/// A parameter, or a matrix cut out of one, that is turned: its columns are the outputs of products, as in
/// reverse mode.
inline bool isTurned(mlir::Value value) {
  auto turn = value.getDefiningOp<dyn::TransposeOp>();
  return turn && dyn::extents(value.getType()).size() == 2 &&
         (turn.getX().getDefiningOp<dyn::GetOp>() || dyn::matrixSlice(turn.getX()));
}

/// Weights again where the builder stands, which may be in another function.
mlir::Value cloneWeights(mlir::OpBuilder &b, mlir::Value weights);

/// Whether products with this matrix run with packed weights: a matrix of parameters, or one of a table of
/// them.
bool packs(mlir::Value weights);

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

/// Whether the elements of a row's value lie in memory one behind the other, as all or a part of an array's
/// row, so that a product can read them there; `isKept` says which other values do.
bool isInMemory(
    mlir::Value value, llvm::function_ref<bool(mlir::Value)> isKept = [](mlir::Value) { return false; });

/// Whether a sum or mean of a list's vectors is wanted by elementwise code alone, or by writes, so that a
/// GPU's thread adds up its own element; and whether a join of rows is written and nothing else, piece by
/// piece.
bool isSummedByElement(mlir::Operation *op);
bool isJoinedByElement(mlir::Operation *op);

/// Erases what computes a value that nothing uses, and what was computed for it alone.
void eraseUnused(mlir::Value value);

/// The product `weights @ x`.
mlir::Value createProduct(mlir::OpBuilder &b, mlir::Location loc, mlir::Value weights, mlir::Value x);

/// A product of two matrices that are not packed: result[i, j] = sum over k of a[i, k] * b[k, j]. Vectors are
/// matrices of one row or one column.
struct MatMul {
  mlir::Value a, b;
  int64_t height, inputs, outputs;
};
/// Recognises those that are large enough to repay that b is copied into the product kernel's order first.
std::optional<MatMul> matMul(mlir::linalg::ContractOp op);

/// The sum of a product by packed weights and a parameter, which is all that is made of the product; null if
/// there is no such sum.
mlir::arith::AddFOp biasedSum(mlir::linalg::ContractOp product);

/// A vector that is used element by element, whole or in equal slices one after the other (the gates of a
/// cell).
struct Gates {
  int64_t gates, channels;
};
/// Recognises results of products, with their bias, that can be computed in tiles: a vector of at least
/// `kMinChannels` channels a gate, all of whose users are elementwise, or slices of which one gate each.
std::optional<Gates> gatesOf(mlir::Value result);
inline constexpr int64_t kMinChannels = 16;
/// A user that needs no more than the element at its own position.
bool isElementwise(mlir::Operation *user, mlir::Type type);

} // namespace dbc::passes
