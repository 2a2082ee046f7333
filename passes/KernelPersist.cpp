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

/// Why a loop cannot be one launch; empty: it can.
StringRef whyNot(Block &body, StringRef loop, SymbolTable &names) {
  for (Operation &op : body) {
    auto launch = dyn_cast<kernel::LaunchOp>(op);
    if (isa<kernel::KeepOp>(op) || (launch && launch.getKept()))
      return "a `while` says which rows there are";
    if (!launch)
      return "another loop stands in it";
    auto func = names.lookup<kernel::FuncOp>(launch.getFunc());
    auto space = names.lookup<kernel::SpaceOp>(*func.getSpace());
    if (!space.getTicked() || orderedBy(space, names) != loop)
      return "a stage of it runs over rows that it does not order";
    bool shared = true;
    func.walk([&](kernel::LocalOp local) { shared &= local.getMemory() == kernel::Memory::Shared; });
    if (!shared)
      return "scratch of a stage does not fit what threads share";
  }
  return "";
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
      auto decide = [&](auto loop, StringRef name) {
        StringRef reason = whyNot(loop.getBody().front(), name, names);
        loop.setPersistent(reason.empty());
        if (!reason.empty())
          loop->setAttr("apart", StringAttr::get(loop.getContext(), reason));
      };
      if (auto levels = dyn_cast<kernel::LevelsOp>(op))
        decide(levels, levels.getGroup());
      else if (auto steps = dyn_cast<kernel::StepsOp>(op))
        decide(steps, steps.getSpace());
      else if (auto together = dyn_cast<kernel::TogetherOp>(op))
        visit(together.getBody().front(), names);
    }
  }
};
} // namespace
} // namespace dbc::passes
