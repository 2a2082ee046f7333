// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dyn-forward-takes: binders over a list of rows of a parameter go through the row numbers instead.
#include "ir/Dyn/Binders.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_DYNFORWARDTAKES
#include "passes/Passes.h.inc"

namespace {
struct DynForwardTakesPass : impl::DynForwardTakesBase<DynForwardTakesPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (isa<dyn::MapOp>(op) || dyn::isRecurrence(op))
        for (auto [n, list] : llvm::enumerate(dyn::listsOf(op)))
          if (dyn::TakeOp take = takenIn(list))
            forward(op, n, take);
    });
  }

  /// What a list's elements are, if they are rows of a parameter by the elements of another list.
  static dyn::TakeOp takenIn(Value list) {
    auto map = list.getDefiningOp<dyn::MapOp>();
    if (!map || map.getLists().size() != 1)
      return {};
    Block &body = map.getBody().front();
    Value element = body.getTerminator()->getOperand(cast<OpResult>(list).getResultNumber());
    auto take = element.getDefiningOp<dyn::TakeOp>();
    bool plain = take && !take.getChecked() && take.getIndex() == body.getArgument(0) &&
                 take.getTensor().getDefiningOp<dyn::GetOp>();
    return plain ? take : dyn::TakeOp();
  }

  static void forward(Operation *binder, unsigned list, dyn::TakeOp take) {
    auto map = cast<dyn::MapOp>(take->getParentOp());
    Block &body = binder->getRegion(0).front();
    BlockArgument row = body.getArgument(list);
    BlockArgument index = body.insertArgument(list, take.getIndex().getType(), take.getIndex().getLoc());
    OpBuilder b = OpBuilder::atBlockBegin(&body);
    IRMapping mapping;
    mapping.map(take.getIndex(), index);
    b.clone(*take.getTensor().getDefiningOp(), mapping);
    row.replaceAllUsesWith(b.clone(*take, mapping)->getResult(0));
    body.eraseArgument(list + 1);
    binder->setOperand(list, map.getLists()[0]);
  }
};
} // namespace
} // namespace dbc::passes
