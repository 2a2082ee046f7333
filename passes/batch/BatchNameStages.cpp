// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-name-stages: what stages are called in generated code, reports and profiles.
#include "ir/Batch/Batch.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "batch-name-stages"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHNAMESTAGES
#include "passes/Passes.h.inc"

namespace {

/// The last word of the name of an array that a stage writes, which is the source's where it has one; "" if
/// it has none that says more than the stage's purpose.
StringRef wordOf(batch::StageOp stage) {
  for (Operation &op : llvm::reverse(stage.getBody().front())) {
    if (!batch::isWrite(&op))
      continue;
    StringRef array = cast<batch::AccessOpInterface>(op).getArray();
    StringRef last = kernel::unqualifiedName(array), word = last.split('.').first; // without a number
    // An array that is called after a role is no word for a stage of another one.
    if (last != array && word != "value" && !batch::symbolizeStageRole(word))
      return word;
  }
  return {};
}

struct BatchNameStagesPass : impl::BatchNameStagesBase<BatchNameStagesPass> {
  void runOnOperation() override {
    for (auto program : getOperation().getOps<kernel::ProgramOp>())
      nameStages(program);
  }

  void nameStages(kernel::ProgramOp program) {
    llvm::StringMap<unsigned> stagesFor; // by purpose
    program.walk(
        [&](batch::StageOp stage) { ++stagesFor[batch::purposeOf(stage.getIndexSet(), stage.getRole())]; });
    llvm::StringSet<> taken;
    program.walk([&](batch::StageOp stage) {
      std::string base = batch::purposeOf(stage.getIndexSet(), stage.getRole());
      if (stagesFor.lookup(base) > 1)
        if (StringRef word = wordOf(stage); !word.empty())
          base += "." + word.str();
      std::string name = base;
      for (unsigned number = 2; !taken.insert(name).second; ++number)
        name = base + "." + std::to_string(number);
      if (name == stage.getName())
        return;
      LDBG() << "@" << stage.getName() << " is called @" << name;
      stage.setName(name);
      ++renamedStages;
    });
  }
};

} // namespace
} // namespace dbc::passes
