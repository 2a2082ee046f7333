// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/FlattenInfo.h"

namespace dbc::passes {

/// What classes of operations with regions ask of the walk that they are part of.
class BodyWalker {
public:
  virtual ~BodyWalker() = default;
  virtual void walkBlock(mlir::Block &block, RowContext at) = 0;
  virtual void walkOperation(mlir::Operation *op, RowContext at) = 0;
};

/// Whether anything in the binder around a block calls a cell.
inline bool callsCells(mlir::Block &body) {
  return body.getParentOp()->walk([](dyn::CallOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

} // namespace dbc::passes
