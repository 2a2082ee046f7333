// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StagePlan.h"
#include <set>

namespace dbc::passes {

/// What is fused: a special op alone, or a group of actions whose elements are computed in the
/// same loops.
struct StageStep {
  llvm::SmallVector<const Action *> actions;
  llvm::SmallVector<mlir::Value> gates; ///< of the group's products: materialised for later steps
};

/// Decides which actions of a stage are fused, and in what order: each after what it needs.
class StageOrder {
public:
  /// Gates that later steps need are materialised in `plan`.
  explicit StageOrder(StagePlan &plan);

  llvm::ArrayRef<StageStep> steps() const { return steps_; }
  /// Whether all actions have a step. They have unless they depend on each other in a circle.
  bool isComplete() const { return done == nodes.size(); }

private:
  /// A materialised value or a gate that an action reads, and the number of the action that computes it.
  struct Need {
    mlir::Value value;
    size_t source;
    bool same; ///< at the very indices at which the action's value is computed
  };
  /// An action in the graph of needs; by its number in the plan.
  struct Node {
    const Action *action;
    bool alone; ///< it has loops of its own
    llvm::SmallVector<Need> needs = {};
    llvm::SmallVector<std::pair<size_t, bool>> readers = {}; ///< for each of their needs, and if it is `same`
    size_t open = 0;                                         ///< needs that no step computes yet
    size_t inGroup = 0; ///< of these: that the group in hand computes, at the same indices
  };
  void findNeeds();
  void addNeeds(size_t reader, mlir::Value value, bool same, bool root);
  bool addAlone();
  llvm::SmallVector<size_t> nextGroup();
  llvm::SmallVector<mlir::Value> materialiseGates(llvm::ArrayRef<size_t> group);
  void finish(size_t number);

  StagePlan &plan;
  std::vector<Node> nodes;
  llvm::DenseMap<const Action *, size_t> numbers;
  std::set<size_t> readyAlone, readyFusible; ///< all that they need is computed
  size_t done = 0;
  std::vector<StageStep> steps_;
};

} // namespace dbc::passes
