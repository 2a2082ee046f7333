// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/Activity.h"

using namespace mlir;

namespace dbc::passes {

Activity::Activity(kernel::ProgramOp program, StringRef loss, ArrayRef<FlatSymbolRefAttr> inputs)
    : params(program->getParentOfType<ModuleOp>()), symbols(program) {
  for (FlatSymbolRefAttr input : inputs)
    varyingBuffers.insert(input.getValue());
  SmallVector<batch::StageOp> stages;
  program.walk([&](batch::StageOp stage) { stages.push_back(stage); });
  // What a loop carries comes from stages behind.
  for (bool grew = true; grew;) {
    grew = false;
    for (batch::StageOp stage : stages)
      grew |= findVarying(stage);
  }
  usefulBuffers.insert(loss);
  for (bool grew = true; grew;) {
    grew = false;
    for (batch::StageOp stage : llvm::reverse(stages))
      grew |= findUseful(stage);
  }
}

/// Whether what an operation gives depends on a parameter, by what is known so far.
bool Activity::varies(Operation *op) const {
  if (op->getNumResults() != 1 || !dyn::scalar(op->getResult(0).getType()).isF32())
    return false;
  if (isa<dyn::DetachOp>(op))
    return false;
  if (auto get = dyn_cast<dyn::GetOp>(op)) // a const has no initialiser, and no gradient
    return params.lookup<kernel::ParamOp>(get.getParam()).getInit().has_value();
  if (auto access = dyn_cast<batch::AccessOpInterface>(op))
    return varyingBuffers.contains(access.getArray());
  return llvm::any_of(op->getOperands(), [&](Value operand) { return varying.contains(operand); });
}

/// Whether a buffer has one row, for the whole model.
bool Activity::isOfModel(FlatSymbolRefAttr buffer) const {
  auto op = symbols.lookup<kernel::BufferOp>(buffer.getAttr());
  return symbols.lookup<kernel::IndexSetOp>(op.getIndexSetAttr().getAttr()).isOfModel();
}

bool Activity::findVarying(batch::StageOp stage) {
  bool grew = false;
  for (Operation &op : stage.getBody().front()) {
    if (batch::isWrite(&op)) {
      if (varying.contains(op.getOperand(0)))
        grew |= varyingBuffers.insert(cast<batch::AccessOpInterface>(op).getArray()).second;
      continue;
    }
    if (varies(&op))
      grew |= varying.insert(op.getResult(0)).second;
    auto isSame = [&](Value operand) {
      return operand.getParentBlock() != op.getBlock() || ofModel.contains(operand); // or a constant outside
    };
    auto read = dyn_cast<batch::ReadOp>(op);
    const bool isRead = isa<batch::AccessOpInterface, batch::ReadIndexOp>(op);
    if ((read && isOfModel(read.getBufferAttr())) || (!isRead && llvm::all_of(op.getOperands(), isSame)))
      ofModel.insert(op.result_begin(), op.result_end());
  }
  return grew;
}

bool Activity::findUseful(batch::StageOp stage) {
  bool grew = false;
  for (Operation &op : llvm::reverse(stage.getBody().front())) {
    const bool isRead = isa<batch::AccessOpInterface>(op) && !batch::isWrite(&op);
    if (batch::isWrite(&op)) {
      if (usefulBuffers.contains(cast<batch::AccessOpInterface>(op).getArray()))
        grew |= useful.insert(op.getOperand(0)).second;
    } else if (op.getNumResults() == 1 && isActive(op.getResult(0))) {
      if (isRead)
        grew |= usefulBuffers.insert(cast<batch::AccessOpInterface>(op).getArray()).second;
      else
        for (Value operand : op.getOperands())
          grew |= useful.insert(operand).second;
    }
  }
  return grew;
}

} // namespace dbc::passes
