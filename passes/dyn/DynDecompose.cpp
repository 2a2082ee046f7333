// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-decompose: softmax over a list as a logsumexp and a map.
#include "ir/Dyn/Dyn.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "dyn-decompose"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNDECOMPOSE
#include "passes/Passes.h.inc"

namespace {
struct DynDecomposePass : impl::DynDecomposeBase<DynDecomposePass> {
  using Base::Base;

  void runOnOperation() override {
    if (!train)
      getOperation().walk([&](dyn::DetachOp op) {
        op.replaceAllUsesWith(op.getX());
        op.erase();
        ++decomposed;
      });
    getOperation().walk([&](dyn::SoftmaxListOp op) {
      LDBG() << "the softmax at " << dyn::sourceLocation(op.getLoc()) << " becomes maps and reductions";
      ++decomposed;
      OpBuilder b(op);
      Location loc = op.getLoc();
      Type element = op.getList().getType().getElement();
      Value total =
          dyn::ReduceListOp::create(b, loc, element, dyn::ReduceKind::LogSumExp, op.getList(), Value());
      auto map = dyn::MapOp::create(b, loc, TypeRange(op.getType()), ValueRange(op.getList()));
      Block *body = &map.getBody().emplaceBlock();
      Value x = body->addArgument(element, loc);
      b.setInsertionPointToEnd(body);
      Value shifted = arith::SubFOp::create(b, loc, x, total);
      Value weight = math::ExpOp::create(b, loc, shifted);
      dyn::YieldOp::create(b, loc, weight);
      // Of large numbers `total` has few digits left, so that the weights do not sum to 1 yet.
      b.setInsertionPoint(op);
      Value sum = dyn::ReduceListOp::create(b, loc, element, dyn::ReduceKind::Sum, map.getResult(0), Value());
      auto weights = dyn::MapOp::create(b, loc, TypeRange(op.getType()), map.getResults());
      body = &weights.getBody().emplaceBlock();
      Value numerator = body->addArgument(element, loc);
      b.setInsertionPointToEnd(body);
      Value whole = arith::DivFOp::create(b, loc, numerator, sum);
      dyn::YieldOp::create(b, loc, whole);
      op.replaceAllUsesWith(weights.getResult(0));
      op.erase();
    });
  }
};
} // namespace
} // namespace dbc::passes
