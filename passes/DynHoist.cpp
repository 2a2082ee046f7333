// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-hoist: loop-invariant code motion out of binders.
#include "ir/Dyn/Binders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNHOIST
#include "passes/Passes.h.inc"

namespace {

struct DynHoistPass : impl::DynHoistBase<DynHoistPass> {
  void runOnOperation() override {
    // Innermost binders first, so that an op climbs as far as it can. What may fail an input stays: C8 adds
    // no error.
    getOperation().walk<WalkOrder::PostOrder>([](Operation *binder) {
      if (!dyn::isBinder(binder))
        return;
      Region &body = binder->getRegion(0);
      for (Operation &op : llvm::make_early_inc_range(body.front()))
        if (isInvariant(op, body))
          op.moveBefore(binder);
    });
  }

  /// Whether the op, with all that is in it, uses nothing of `body` and cannot fail.
  static bool isInvariant(Operation &op, Region &body) {
    if (op.hasTrait<OpTrait::IsTerminator>() || !isMemoryEffectFree(&op))
      return false;
    auto isOutside = [&](Value v) {
      return !body.isAncestor(v.getParentRegion()) || op.isAncestor(v.getParentRegion()->getParentOp());
    };
    return !op.walk([&](Operation *inner) {
                bool free = !dyn::mayFail(inner) && llvm::all_of(inner->getOperands(), isOutside);
                return free ? WalkResult::advance() : WalkResult::interrupt();
              }).wasInterrupted();
  }
};
} // namespace
} // namespace dbc::passes
