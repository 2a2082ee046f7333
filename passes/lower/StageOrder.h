// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "passes/lower/StagePlan.h"
#include "llvm/ADT/DenseSet.h"

namespace dbc::passes {

/// What is written together: a special op alone, or a group of actions whose elements are computed in the
/// same loops.
struct StageStep {
  llvm::SmallVector<const Action *> actions;
  llvm::SmallVector<mlir::Value> gates; ///< of the group's products: materialised for later steps
};

/// Decides which actions of a stage are computed together, and in what order: each after what it needs.
class StageOrder {
public:
  /// Gates that later steps need are materialised in `plan`.
  explicit StageOrder(StagePlan &plan);

  llvm::ArrayRef<StageStep> steps() const { return steps_; }
  /// Whether all actions have a step. They have unless they depend on each other in a circle.
  bool isComplete() const { return done.size() == plan.actions().size(); }

private:
  /// A materialised value or a gate that an action reads.
  struct Need {
    mlir::Value value;
    bool same; ///< at the very indices at which the action's value is computed
  };
  llvm::SmallVector<Need> needsOf(const Action &action) const;
  void addNeeds(mlir::Value value, bool same, bool root, llvm::SmallVectorImpl<Need> &needs) const;
  bool isReady(const Action &action, llvm::ArrayRef<const Action *> group) const;
  bool addSpecial();
  llvm::SmallVector<const Action *> nextGroup() const;
  llvm::SmallVector<mlir::Value> materialiseGates(llvm::ArrayRef<const Action *> group);

  StagePlan &plan;
  llvm::DenseSet<const Action *> done;
  std::vector<StageStep> steps_;
};

} // namespace dbc::passes
