// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-split-gates: what is computed for all gates of a cell, to be cut into gates after it, is computed
// gate by gate. Then the gates of a channel meet where its activations are computed.
#include "ir/Batch/Batch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/Products.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-split-gates"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHSPLITGATES
#include "passes/Passes.h.inc"

namespace {
struct BatchSplitGatesPass : impl::BatchSplitGatesBase<BatchSplitGatesPass> {
  void runOnOperation() override {
    getOperation().walk([&](batch::StageOp stage) {
      // From the last op on, so that what is split hands its slices on to its operands.
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(stage.getBody().front())))
        if (isCutAfterwards(&op)) {
          LDBG() << op.getName() << " of @" << stage.getName() << " is computed in "
                 << gatesOf(op.getResult(0))->gates << " gates";
          ++splitOps;
          split(&op);
        }
    });
  }

  /// An elementwise vector of which only gates are used. The sum of a product and its bias is one with the
  /// product.
  static bool isCutAfterwards(Operation *op) {
    if (op->getNumResults() != 1 || !gatesOf(op->getResult(0)) || isa<linalg::ContractOp>(op) ||
        !isElementwise(op, op->getResult(0).getType()))
      return false;
    // Of a dropout it matters which element is which.
    if (isa<arith::ConstantOp, dyn::DropoutOp>(op) || gatesOf(op->getResult(0))->gates < 2)
      return false;
    return llvm::none_of(op->getOperands(), [&](Value operand) {
      auto product = operand.getDefiningOp<linalg::ContractOp>();
      return product && biasedSum(product) == op;
    });
  }

  static void split(Operation *op) {
    llvm::DenseMap<int64_t, Value> gates; // by offset
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto slice = cast<tensor::ExtractSliceOp>(user);
      Value &gate = gates[slice.getStaticOffsets()[0]];
      if (!gate)
        gate = gateOf(op, slice);
      slice.replaceAllUsesWith(gate);
      slice.erase();
    }
    op->erase();
  }

  /// The op on the slices of its operands.
  static Value gateOf(Operation *op, tensor::ExtractSliceOp slice) {
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isa<RankedTensorType>(operand.getType()) && !dyn::extents(operand.getType()).empty()
                             ? sliceOf(b, operand, slice)
                             : operand);
    OperationState state(op->getLoc(), op->getName(), operands, {}, op->getAttrs());
    state.propertiesAttr = op->getPropertiesAsAttribute();
    Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    state.addTypes(RankedTensorType::get(slice.getType().getShape(), element));
    return b.create(state)->getResult(0);
  }

  static Value sliceOf(OpBuilder &b, Value value, tensor::ExtractSliceOp like) {
    for (Operation *user : value.getUsers())
      if (auto known = dyn_cast<tensor::ExtractSliceOp>(user))
        if (known->getBlock() == b.getBlock() && known->isBeforeInBlock(&*b.getInsertionPoint()) &&
            known.getStaticOffsets() == like.getStaticOffsets() &&
            known.getType().getShape() == like.getType().getShape())
          return known;
    Type element = cast<RankedTensorType>(value.getType()).getElementType();
    return tensor::ExtractSliceOp::create(
        b, like.getLoc(), RankedTensorType::get(like.getType().getShape(), element), value,
        like.getMixedOffsets(), like.getMixedSizes(), like.getMixedStrides());
  }
};
} // namespace
} // namespace dbc::passes
