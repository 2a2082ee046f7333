// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the binders of `dyn` have in common, and whole numbers in their bodies.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace dbc::passes {

inline bool isRecurrence(mlir::Operation *op) { return mlir::isa<dyn::ScanOp, dyn::FoldOp>(op); }

/// The lists that a binder goes through together.
inline mlir::ValueRange listsOf(mlir::Operation *binder) {
  if (auto scan = mlir::dyn_cast<dyn::ScanOp>(binder))
    return scan.getLists();
  if (auto fold = mlir::dyn_cast<dyn::FoldOp>(binder))
    return fold.getLists();
  return binder->getOperands();
}

/// The state that a scan or fold begins with.
inline mlir::ValueRange initOf(mlir::Operation *recurrence) {
  if (auto scan = mlir::dyn_cast<dyn::ScanOp>(recurrence))
    return scan.getInit();
  return mlir::cast<dyn::FoldOp>(recurrence).getInit();
}

/// Whether a `while` may end it: its last state then says whether there is a further step.
inline bool stops(mlir::Operation *recurrence) {
  if (auto scan = mlir::dyn_cast<dyn::ScanOp>(recurrence))
    return scan.getStops();
  return mlir::cast<dyn::FoldOp>(recurrence).getStops();
}

inline mlir::Value integer(mlir::OpBuilder &b, mlir::Location loc, int64_t value) {
  return mlir::arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
}

inline mlir::Value add(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, int64_t y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Add, x, integer(b, loc, y));
}

inline mlir::Value sub(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y) {
  return dyn::IntOp::create(b, loc, dyn::IntKind::Sub, x, y);
}

} // namespace dbc::passes
