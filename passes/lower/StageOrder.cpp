// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "passes/lower/StageOrder.h"

using namespace mlir;

namespace dbc::passes {

StageOrder::StageOrder(StagePlan &plan) : plan(plan) {
  findNeeds();
  while (!isComplete()) {
    // What has loops of its own first, so that the elementwise rest stays together.
    if (addAlone())
      continue;
    SmallVector<size_t> group = nextGroup();
    assert(!group.empty() && "actions depend on each other in a circle");
    if (group.empty())
      return;
    StageStep &step = steps_.emplace_back();
    for (size_t number : group)
      step.actions.push_back(nodes[number].action);
    step.gates = materialiseGates(group);
    llvm::for_each(group, [&](size_t number) { finish(number); });
  }
}

//===-- What needs what ---------------------------------------------------------------------------------===//

void StageOrder::findNeeds() {
  for (const auto &action : plan.actions()) {
    numbers[action.get()] = nodes.size();
    nodes.push_back({action.get(), action->op && !plan.isTiled(*action)});
  }
  for (size_t number = 0; number < nodes.size(); ++number) {
    const Action &action = *nodes[number].action;
    if (action.op)
      for (Value operand : action.op->getOperands())
        for (Value each : plan.joinedOperands(operand))
          addNeeds(number, each, /*same=*/false, /*root=*/false);
    else
      addNeeds(number, action.value, /*same=*/true,
               /*root=*/!plan.isMaterialised(action.value) || plan.computes(action));
    if (nodes[number].open == 0)
      (nodes[number].alone ? readyAlone : readyFusible).insert(number);
  }
}

/// What an expression reads; `same` says whether at the expression's own indices. The `root` of an expression
/// is what is computed, and not read.
void StageOrder::addNeeds(size_t reader, Value value, bool same, bool root) {
  bool isStored = plan.isMaterialised(value) || plan.isSpecial(value.getDefiningOp());
  if (plan.productOf(value) || (isStored && !root)) {
    const Action *source = plan.actionFor(value);
    if (!source)
      return; // only loaded
    nodes[reader].needs.push_back({value, numbers.lookup(source), same});
    ++nodes[reader].open;
    nodes[numbers.lookup(source)].readers.push_back({reader, same});
    return;
  }
  Operation *op = value.getDefiningOp();
  bool elementwise = dyn::isRowOp(op, dyn::RowKind::Elementwise);
  for (Value operand : op->getOperands())
    for (Value each : plan.joinedOperands(operand))
      addNeeds(reader, each,
               same && elementwise && dyn::extents(each.getType()) == dyn::extents(value.getType()),
               /*root=*/false);
}

/// An action is computed: what reads it needs that no more.
void StageOrder::finish(size_t number) {
  ++done;
  (nodes[number].alone ? readyAlone : readyFusible).erase(number);
  for (auto [reader, same] : nodes[number].readers) {
    nodes[reader].inGroup = 0;
    if (--nodes[reader].open == 0)
      (nodes[reader].alone ? readyAlone : readyFusible).insert(reader);
  }
}

//===-- Steps -------------------------------------------------------------------------------------------===//

/// Steps of all actions with loops of their own that can be computed now, in the order of the program;
/// whether there are any.
bool StageOrder::addAlone() {
  size_t before = steps_.size();
  for (auto at = readyAlone.begin(); at != readyAlone.end();) {
    size_t number = *at;
    steps_.push_back({{nodes[number].action}, {}});
    finish(number);
    at = readyAlone.upper_bound(number);
  }
  return steps_.size() > before;
}

/// All actions of one shape that can be computed now, each after those that it needs of the group.
SmallVector<size_t> StageOrder::nextGroup() {
  SmallVector<size_t> group;
  std::set<size_t> candidates = readyFusible;
  bool grew = true;
  while (grew) {
    grew = false;
    for (auto at = candidates.begin(); at != candidates.end();) {
      size_t number = *at;
      if (group.empty() || plan.shapeOf(*nodes[number].action) == plan.shapeOf(*nodes[group[0]].action)) {
        group.push_back(number);
        candidates.erase(number);
        for (auto [reader, same] : nodes[number].readers)
          if (Node &node = nodes[reader]; same && ++node.inGroup == node.open && !node.alone)
            candidates.insert(reader);
        grew = true;
      }
      at = candidates.upper_bound(number);
    }
  }
  return group;
}

/// Gates of the group's products that something outside of the group uses are materialised; gives those.
SmallVector<Value> StageOrder::materialiseGates(ArrayRef<size_t> group) {
  llvm::DenseSet<size_t> inGroup(group.begin(), group.end());
  std::set<size_t> readers; // in the order of the program
  for (size_t number : group)
    for (auto [reader, same] : nodes[number].readers)
      if (!inGroup.contains(reader))
        readers.insert(reader);
  SmallVector<Value> gates;
  for (size_t reader : readers)
    for (const Need &need : nodes[reader].needs)
      if (plan.productOf(need.value) && !plan.isMaterialised(need.value) && inGroup.contains(need.source)) {
        plan.materialise(need.value);
        gates.push_back(need.value);
      }
  return gates;
}

} // namespace dbc::passes
