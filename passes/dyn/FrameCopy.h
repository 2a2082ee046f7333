// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Code moved into the cells of dyn-lambda-lift.
#pragma once

#include "passes/dyn/LiftedCells.h"

namespace dbc::passes {

/// An `if` or `match` like another, of one result, whose arms have no blocks yet.
mlir::Operation *createArms(mlir::OpBuilder &b, mlir::Operation *like, mlir::ValueRange operands,
                            mlir::Type type);

/// Copies what a frame computes to where its keys are known.
class FrameCopy {
public:
  /// `repeated`: for several steps or elements of one point of the frame, which share what it computes.
  FrameCopy(LiftedCells &cells, mlir::OpBuilder &b, const Frame &frame, const FrameKeys &keys,
            bool repeated = false)
      : cells(cells), b(b), frame(frame), at(keys), repeated(repeated) {}

  mlir::Value get(mlir::Value value);
  /// The length of a list, without its elements.
  mlir::Value length(mlir::Value list);
  /// Copies the operations of a block whose arguments are known.
  void operations(mlir::Block &block);
  /// Copies them where the arguments have the given values; gives what the block yields.
  llvm::SmallVector<mlir::Value> block(mlir::Block &block, mlir::ValueRange arguments);
  /// An element of a list, without the others where it can be.
  mlir::Value element(mlir::Value list, mlir::Value position);
  /// Lets fail here what an operation of the frame fails by structure, without computing what it gives.
  void needStructure(mlir::Operation *op);
  /// A state of a scan or fold after a number of steps.
  mlir::Value state(mlir::Operation *recurrence, unsigned number, mlir::Value steps);
  mlir::IRMapping map;

private:
  mlir::Value positions(mlir::Value list);
  mlir::Value positionsIn(dyn::SliceOp slice);
  void clone(mlir::Operation *op);
  void share(mlir::Value value);
  mlir::Value taken(mlir::Operation *op);
  mlir::Value ofArms(mlir::Operation *op, mlir::Value result, mlir::Type type,
                     llvm::function_ref<mlir::Value(mlir::Value)> inArm);

  LiftedCells &cells;
  mlir::OpBuilder &b;
  Frame frame;
  FrameKeys at;
  bool repeated;
};

} // namespace dbc::passes
