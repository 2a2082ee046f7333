// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-join-gates: what was cut into gates gets its adjoint gate by gate, each with zeros around it. Their
// sum becomes the gates in a row.
#include "ir/Batch/Batch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-join-gates"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHJOINGATES
#include "passes/Passes.h.inc"

namespace {
struct BatchJoinGatesPass : impl::BatchJoinGatesBase<BatchJoinGatesPass> {
  void runOnOperation() override {
    getOperation().walk([&](batch::StageOp stage) {
      for (auto sum : llvm::make_early_inc_range(stage.getBody().front().getOps<arith::AddFOp>()))
        if (Value joined = join(sum)) {
          LDBG() << "a sum of @" << stage.getName() << " is a row of " << joined.getType();
          ++joinedSums;
          llvm::SmallSetVector<Operation *, 2> summands; // which may be one
          for (Value summand : sum.getOperands())
            summands.insert(summand.getDefiningOp());
          sum.replaceAllUsesWith(joined);
          sum.erase();
          for (Operation *summand : summands)
            if (isOpTriviallyDead(summand))
              summand->erase();
        }
    });
  }

  /// Part of a row along an axis; a null value is zeros.
  struct Piece {
    int64_t extent;
    Value value;
  };

  static SmallVector<Piece> piecesOf(tensor::ConcatOp row) {
    SmallVector<Piece> pieces;
    for (Value value : row.getInputs())
      pieces.push_back({cast<RankedTensorType>(value.getType()).getDimSize(row.getDim()),
                        matchPattern(value, m_AnyZeroFloat()) ? Value() : value});
    return pieces;
  }

  /// The sum of two rows as one whose elements are each of one of them alone; null where that is not so.
  static Value join(arith::AddFOp sum) {
    auto a = sum.getLhs().getDefiningOp<tensor::ConcatOp>(),
         b = sum.getRhs().getDefiningOp<tensor::ConcatOp>();
    if (!a || !b || a.getDim() != b.getDim())
      return {};
    SmallVector<Piece> left = piecesOf(a), right = piecesOf(b), joined;
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      Piece &x = left[i], &y = right[j];
      const int64_t extent = std::min(x.extent, y.extent);
      // Of two that begin together one is zeros, as far as the other one goes.
      if ((x.value && (y.value || x.extent > extent)) || (y.value && y.extent > extent))
        return {};
      Value value = x.value ? x.value : y.value;
      if (!value && !joined.empty() && !joined.back().value)
        joined.back().extent += extent;
      else
        joined.push_back({extent, value});
      x.extent -= extent;
      y.extent -= extent;
      i += x.extent == 0;
      j += y.extent == 0;
    }
    OpBuilder builder(sum);
    SmallVector<Value> values;
    for (const Piece &piece : joined) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(sum.getType()).getShape());
      shape[a.getDim()] = piece.extent;
      auto type = cast<RankedTensorType>(sum.getType()).clone(shape);
      values.push_back(piece.value
                           ? piece.value
                           : arith::ConstantOp::create(builder, sum.getLoc(), builder.getZeroAttr(type)));
    }
    return tensor::ConcatOp::create(builder, sum.getLoc(), a.getDim(), values);
  }
};
} // namespace
} // namespace dbc::passes
