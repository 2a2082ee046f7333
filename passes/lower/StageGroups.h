// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StageExpressions.h"

namespace dbc::passes {

/// Writes groups: elementwise values of one shape, computed and stored in one loop (fusion).
class StageGroups {
public:
  using Group = llvm::ArrayRef<const Action *>;
  StageGroups(const StagePlan &plan, RowWriter &w, StageLocals &locals, StageExpressions &expressions)
      : plan(plan), w(w), locals(locals), expressions(expressions) {}

  void write(Group group);
  /// One element of all values of a group.
  void writeElements(Group group, mlir::ValueRange at);

private:
  void store(mlir::Operation *write, mlir::Value scalar, mlir::ValueRange at);

  const StagePlan &plan;
  RowWriter &w;
  StageLocals &locals;
  StageExpressions &expressions;
};

} // namespace dbc::passes
