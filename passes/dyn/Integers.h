// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Integers in `dyn`.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace dbc::passes {

inline mlir::Value integer(mlir::OpBuilder &b, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

inline mlir::Value add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Add, x, integer(b, loc, y));
}

inline mlir::Value sub(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Sub, x, y);
}

inline mlir::Value sub(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t y) {
  return sub(b, loc, x, integer(b, loc, y));
}

} // namespace dbc::passes
