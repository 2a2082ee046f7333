// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Operations on the numbers of one row, upstream's included.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace dbc::dyn {

/// Lets the operations of `arith`, `math`, `tensor` and `linalg` that models are made of have the interfaces
/// of DynInterfaces.td. Their dialects must be loaded; once a context.
void attachUpstreamInterfaces(mlir::MLIRContext &context);

/// The same of DerivativeOpInterface, which this dialect's own operations get here, too.
void attachDerivatives(mlir::MLIRContext &context);

/// A matrix cut out of a parameter: neighbouring rows and columns of it, or of one matrix where it has
/// several, the first axis their number. Null: `value` is none.
mlir::tensor::ExtractSliceOp matrixSlice(mlir::Value value);

/// Whether `op` makes numbers of a row's in this way.
bool isRowOp(mlir::Operation *op, RowKind kind);

} // namespace dbc::dyn
