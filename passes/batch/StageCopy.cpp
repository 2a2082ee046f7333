// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/StageCopy.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dbc::passes {

StageCopy::StageCopy(batch::StageOp from, batch::StageOp to, bool keeps)
    : b(OpBuilder::atBlockEnd(&to.getBody().front())), to(to) {
  llvm::DenseMap<Value, Operation *> writes;
  for (Operation &op : from.getBody().front())
    if (isa<batch::WriteOp, batch::ScatterOp>(op))
      writes.try_emplace(op.getOperand(0), &op);
  for (Operation &op : from.getBody().front()) {
    if (batch::isWrite(&op))
      continue;
    Operation *again = b.clone(op, values);
    if (!keeps || (isa<batch::AccessOpInterface, batch::ReadIndexOp>(op) && !isa<batch::SegmentOp>(op)))
      continue;
    for (auto [result, copied] : llvm::zip(op.getResults(), again->getResults()))
      if (Operation *write = writes.lookup(result))
        kept.push_back({copied, readWhere(write, result.getType())});
  }
}

StageCopy::~StageCopy() {
  for (auto [computed, read] : kept)
    computed.replaceAllUsesWith(read);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(to.getBody().front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

Value StageCopy::readWhere(Operation *write, Type type) {
  if (auto own = dyn_cast<batch::WriteOp>(write))
    return batch::ReadOp::create(b, write->getLoc(), type, own.getBuffer());
  auto scatter = cast<batch::ScatterOp>(write);
  return batch::GatherOp::create(b, write->getLoc(), type, scatter.getBufferAttr(), scatter.getRelationAttr(),
                                 FlatSymbolRefAttr(), IntegerAttr());
}

} // namespace dbc::passes
