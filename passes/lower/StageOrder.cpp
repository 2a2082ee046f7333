// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace dbc::passes {

StageOrder::StageOrder(StagePlan &plan) : plan(plan) {
  while (!isComplete()) {
    // What has loops of its own first, so that the elementwise rest stays together.
    if (addSpecial())
      continue;
    auto group = nextGroup();
    assert(!group.empty() && "actions depend on each other in a circle");
    if (group.empty())
      return;
    steps_.push_back({group, materialiseGates(group)});
    done.insert(group.begin(), group.end());
  }
}

/// Steps of all special ops that can be computed now; whether there are any.
bool StageOrder::addSpecial() {
  size_t before = steps_.size();
  for (auto &action : plan.actions())
    if (!done.contains(action.get()) && action->op && !plan.isTiled(*action) && isReady(*action, {})) {
      steps_.push_back({{action.get()}, {}});
      done.insert(action.get());
    }
  return steps_.size() > before;
}

/// All actions of one shape that can be computed now, each after those that it needs of the group.
SmallVector<const Action *> StageOrder::nextGroup() const {
  SmallVector<const Action *> group;
  bool grew = true;
  while (grew) {
    grew = false;
    for (auto &action : plan.actions())
      if (!done.contains(action.get()) && (!action->op || plan.isTiled(*action)) &&
          !llvm::is_contained(group, action.get()) &&
          (group.empty() || plan.shapeOf(*action) == plan.shapeOf(*group[0])) && isReady(*action, group)) {
        group.push_back(action.get());
        grew = true;
      }
  }
  return group;
}

/// Gates of the group's products that something outside of the group uses are materialised; gives those.
SmallVector<Value> StageOrder::materialiseGates(ArrayRef<const Action *> group) {
  SmallVector<Value> gates;
  for (auto &action : plan.actions()) {
    if (done.contains(action.get()) || llvm::is_contained(group, action.get()))
      continue;
    for (const Need &need : needsOf(*action))
      if (plan.productOf(need.value) && !plan.isMaterialised(need.value) &&
          llvm::is_contained(group, plan.actionFor(need.value))) {
        plan.materialise(need.value);
        gates.push_back(need.value);
      }
  }
  return gates;
}

bool StageOrder::isReady(const Action &action, ArrayRef<const Action *> group) const {
  return llvm::all_of(needsOf(action), [&](const Need &need) {
    const Action *source = plan.actionFor(need.value);
    if (!source)
      return true; // only loaded
    return done.contains(source) || (need.same && llvm::is_contained(group, source));
  });
}

SmallVector<StageOrder::Need> StageOrder::needsOf(const Action &action) const {
  SmallVector<Need> needs;
  if (action.op)
    for (Value operand : action.op->getOperands())
      for (Value part : plan.partsOf(operand))
        addNeeds(part, /*same=*/false, /*root=*/false, needs);
  else
    addNeeds(action.value, /*same=*/true,
             /*root=*/!plan.isMaterialised(action.value) || plan.computes(action), needs);
  return needs;
}

/// What an expression reads; `same` says whether at the expression's own indices. The `root` of an expression
/// is what is computed, and not read.
void StageOrder::addNeeds(Value value, bool same, bool root, SmallVectorImpl<Need> &needs) const {
  bool isStored = plan.isMaterialised(value) || StagePlan::isSpecial(value.getDefiningOp());
  if (plan.productOf(value) || (isStored && !root)) {
    needs.push_back({value, same});
    return;
  }
  Operation *op = value.getDefiningOp();
  bool elementwise = dyn::isRowOp(op, dyn::RowKind::Elementwise);
  for (Value operand : op->getOperands())
    for (Value part : plan.partsOf(operand))
      addNeeds(part, same && elementwise && dyn::extents(part.getType()) == dyn::extents(value.getType()),
               /*root=*/false, needs);
}

} // namespace dbc::passes
