// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// kernel-pad-rows: how far apart the rows of a GPU's buffers begin.
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/TypeUtilities.h"
#include "passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "kernel-pad-rows"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_KERNELPADROWS
#include "passes/Passes.h.inc"

namespace {

/// Numbers that a thread reads at once, and those of a row that is worth it.
constexpr int64_t kVector = 4, kShortest = 16;

/// What holds a gradient lies as whoever asked for it has it.
bool isGradient(Operation &op) { return isa<kernel::GradientOp, kernel::InputGradientOp>(op); }

struct KernelPadRowsPass : impl::KernelPadRowsBase<KernelPadRowsPass> {
  void runOnOperation() override {
    getOperation().walk([&](kernel::ProgramOp program) {
      llvm::StringSet<> gradients;
      for (Operation &op : program.getBody().front())
        if (isGradient(op))
          gradients.insert(kernel::resultOf(&op).getValue());
      for (auto buffer : program.getBody().getOps<kernel::BufferOp>())
        if (!gradients.contains(buffer.getSymName()))
          pad(buffer);
    });
  }

  void pad(kernel::BufferOp buffer) {
    auto indexSet =
        SymbolTable::lookupNearestSymbolFrom<kernel::IndexSetOp>(buffer, buffer.getIndexSetAttr());
    if (!getElementTypeOrSelf(buffer.getType()).isF32() || indexSet.getKind() == kernel::IndexSetKind::Model)
      return;
    const int64_t numbers = llvm::product_of(dyn::extents(buffer.getType()));
    if (numbers < kShortest || numbers % kVector == 0)
      return;
    buffer.setStride(llvm::alignTo(numbers, kVector));
    ++paddedBuffers;
    LDBG() << "@" << buffer.getSymName() << ": rows of " << numbers << " begin " << *buffer.getStride()
           << " apart";
  }
};
} // namespace
} // namespace dbc::passes
