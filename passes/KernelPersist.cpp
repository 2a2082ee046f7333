// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-persist: which loops over levels or steps a GPU may run in one launch.
#include "ir/Kernel/Kernel.h"
#include "passes/Passes.h"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELPERSIST
#include "passes/Passes.h.inc"

namespace {

/// The loop that orders a space's rows: a group, or a scan's space.
StringRef orderedBy(kernel::SpaceOp space, SymbolTable &names) {
  while (space) {
    if (space.getKind() == kernel::SpaceKind::Steps && space.getTicked())
      return space.getSymName();
    if (space.getGroup())
      return *space.getGroup();
    space = space.getParent() ? names.lookup<kernel::SpaceOp>(*space.getParent()) : kernel::SpaceOp();
  }
  return "";
}

bool mayPersist(Block &body, StringRef loop, SymbolTable &names) {
  for (Operation &op : body) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (!launch || launch.getKept())
      return false;
    auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
    auto space = names.lookup<kernel::SpaceOp>(*func.getSpace());
    if (!space.getTicked() || orderedBy(space, names) != loop)
      return false;
    bool shared = true;
    func.walk([&](kernel::LocalOp local) { shared &= local.getMemory() == kernel::Memory::Shared; });
    if (!shared)
      return false;
  }
  return !body.empty();
}

struct KernelPersistPass : impl::KernelPersistBase<KernelPersistPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      SymbolTable names(program);
      for (auto run : program.getOps<kernel::RunOp>())
        visit(run.getBody().front(), names);
    }
  }
  void visit(Block &ops, SymbolTable &names) {
    for (Operation &op : ops) {
      if (auto levels = dyn_cast<kernel::LevelsOp>(op))
        levels.setPersistent(mayPersist(levels.getBody().front(), levels.getGroup(), names));
      else if (auto steps = dyn_cast<kernel::StepsOp>(op))
        steps.setPersistent(mayPersist(steps.getBody().front(), steps.getSpace(), names));
      else if (auto together = dyn_cast<kernel::TogetherOp>(op))
        visit(together.getBody().front(), names);
    }
  }
};
} // namespace
} // namespace dbc::passes
