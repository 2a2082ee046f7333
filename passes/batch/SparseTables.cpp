// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/SparseTables.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace dbc::passes {

/// Whether an operation over the rows of an index set looks up one row of a table, whose number each row has,
/// or computes.
static bool looksUp(Operation *op) {
  auto gather = dyn_cast<dyn::GatherOp>(op);
  return gather && gather.getTensor().getDefiningOp<dyn::GetOp>() &&
         gather.getIndex().getType().isInteger(32) && isa<batch::StageOp>(op->getParentOp());
}

int64_t constantRow(Operation *op) {
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    APInt number;
    return extract.getIndices().size() == 1 &&
                   matchPattern(extract.getIndices().front(), m_ConstantInt(&number))
               ? number.getSExtValue()
               : -1;
  }
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice || slice.getStaticSizes().front() != 1 ||
      slice.getType().getShape() != slice.getSourceType().getShape().drop_front())
    return -1;
  return slice.getStaticOffsets().front(); // one that is computed is negative
}

void SparseTables::add(kernel::ProgramOp loss, const Activity &activity) {
  loss.walk([&](dyn::GetOp get) {
    if (!activity.isActive(get.getResult()))
      return;
    for (Operation *user : get->getUsers())
      if (looksUp(user) && !activity.isOfParams(user->getResult(0)))
        lookedUp.insert(get.getParam());
      else if (constantRow(user) < 0 && (user->getNumResults() == 0 || activity.isActive(user->getResult(0))))
        dense.insert(get.getParam());
  });
}

bool SparseTables::isLookup(Operation *op) const {
  return looksUp(op) && isSparse(cast<dyn::GatherOp>(op).getTensor().getDefiningOp<dyn::GetOp>());
}

std::optional<SparseTables::Row> SparseTables::rowOf(Operation *op) const {
  auto get = op->getNumOperands() ? op->getOperand(0).getDefiningOp<dyn::GetOp>() : dyn::GetOp();
  if (!get || !isSparse(get) || constantRow(op) < 0)
    return std::nullopt;
  return Row{get.getParamAttr().getAttr(), static_cast<int32_t>(constantRow(op))};
}

} // namespace dbc::passes
