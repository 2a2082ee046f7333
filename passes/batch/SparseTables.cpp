// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/batch/SparseTables.h"

using namespace mlir;

namespace dbc::passes {

/// Whether an operation over the rows of an index set looks a row of a table up by an index array, which is
/// in range. What is computed has no index array; where only some rows are active, as in a `while`, the
/// others look nothing up.
static bool looksUpByIndexArray(Operation *op) {
  auto gather = dyn_cast<dyn::GatherOp>(op);
  auto stage = dyn_cast<batch::StageOp>(op->getParentOp());
  return gather && stage && !stage.getWhen() && !gather.getChecked() &&
         gather.getTensor().getDefiningOp<dyn::GetOp>() &&
         gather.getIndex().getDefiningOp<batch::ReadIndexOp>() && dyn::extents(gather.getType()).size() <= 1;
}

void SparseTables::add(batch::ProgramOp loss, const Activity &activity) {
  loss.walk([&](dyn::GetOp get) {
    auto contributes = [&](Operation *user) {
      return user->getNumResults() == 0 || activity.isActive(user->getResult(0));
    };
    if (activity.isActive(get.getResult()) && llvm::any_of(get->getUsers(), [&](Operation *user) {
          return contributes(user) && !looksUpByIndexArray(user);
        }))
      dense.insert(get.getParam());
  });
}

bool SparseTables::isLookup(Operation *op) const {
  return looksUpByIndexArray(op) &&
         !dense.contains(cast<dyn::GatherOp>(op).getTensor().getDefiningOp<dyn::GetOp>().getParam());
}

} // namespace dbc::passes
