// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-plan-slots: where the instances of cells have their slots, and whether nodes share some.
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-plan-slots"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELPLANSLOTS
#include "passes/Passes.h.inc"

namespace {

/// A node of a cell with a fixed key has a slot for each of so many values at most: most have few instances.
constexpr int64_t kMostFixed = 16;

/// Whether nodes that are alike may share the instances of a group, where inputs are given that have such
/// nodes. A node that another one stands for has no gradient of its own, and is not what a result was
/// called with.
bool mayShare(kernel::GroupOp group, bool givesInputGradients, bool isAsked) {
  auto hasFixedSlots = [&](unsigned cell) {
    return group.getSecondaryKeys(cell).empty() || group.getFixedKey(cell);
  };
  return group.getOfFields() && !givesInputGradients && !isAsked &&
         llvm::all_of(llvm::seq<unsigned>(group.getCells().size()), hasFixedSlots);
}

struct KernelPlanSlotsPass : impl::KernelPlanSlotsBase<KernelPlanSlotsPass> {
  void runOnOperation() override {
    getOperation().walk([&](kernel::ProgramOp program) { plan(program); });
  }

  void plan(kernel::ProgramOp program) {
    llvm::DenseSet<Attribute> asked; // names of groups
    program.walk([&](Operation *op) {
      if (auto called = dyn_cast<kernel::CalledOp>(op))
        asked.insert(called.getGroupAttr());
      else if (auto key = dyn_cast<kernel::KeyOp>(op))
        fix(key);
    });
    const bool givesInputGradients = !program.getBody().getOps<kernel::InputGradientOp>().empty();
    for (auto group : program.getBody().getOps<kernel::GroupOp>()) {
      const bool shared = mayShare(group, givesInputGradients,
                                   asked.contains(FlatSymbolRefAttr::get(group.getSymNameAttr())));
      group.setShared(shared);
      sharedGroups += shared;
      LDBG() << group.getSymNameAttr()
             << (shared ? ": nodes that are alike share instances" : ": a node each");
    }
  }

  /// The only key behind the first, of a range that every node has, and that is short.
  void fix(kernel::KeyOp key) {
    auto group = SymbolTable::lookupNearestSymbolFrom<kernel::GroupOp>(key, key.getGroupAttr());
    std::optional<kernel::KeyRange> range = key.getConstantRange();
    key.setFixed(range && range->width >= 1 && range->width <= kMostFixed &&
                 group.getSecondaryKeys(key.getCell()).size() == 1);
    fixedKeys += key.getFixed();
  }
};
} // namespace
} // namespace dbc::passes
