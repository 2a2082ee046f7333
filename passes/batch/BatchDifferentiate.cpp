// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// batch-differentiate: a loss's program computes its gradient too (reverse mode). See Adjoints.h.
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Passes.h"
#include "passes/batch/Adjoints.h"
#include "llvm/Support/DebugLog.h"
#include <memory>

#define DEBUG_TYPE "batch-differentiate"

using namespace mlir;

namespace dbc::passes {
#define GEN_PASS_DEF_BATCHDIFFERENTIATE
#include "passes/Passes.h.inc"

namespace {
/// The arrays of a loss's program with the values of fields and arguments that are named so.
SmallVector<FlatSymbolRefAttr> arraysOf(kernel::ProgramOp program, ArrayRef<std::string> names) {
  SmallVector<FlatSymbolRefAttr> arrays;
  auto add = [&](auto op, StringRef owner, StringRef name) {
    const bool hasValues =
        op.getArray() == kernel::FieldArray::Value || op.getArray() == kernel::FieldArray::Items;
    auto isOf = [owner, name](StringRef wanted) {
      if (!wanted.consume_front(owner) || !wanted.consume_front("."))
        return false;
      StringRef component = name; // of a record `state.0`, of what is wanted as `state`
      return component.consume_front(wanted) && (component.empty() || component.starts_with("."));
    };
    if (hasValues && dyn::scalar(op.getType()).isF32() && llvm::any_of(names, isOf))
      arrays.push_back(FlatSymbolRefAttr::get(op));
  };
  for (Operation &op : program.getBody().front()) {
    if (auto field = dyn_cast<kernel::FieldOp>(op))
      add(field, field.getData(), field.getName());
    else if (auto argument = dyn_cast<kernel::ArgumentOp>(op))
      add(argument, program.getSymName(), argument.getName());
  }
  return arrays;
}

struct BatchDifferentiatePass : impl::BatchDifferentiateBase<BatchDifferentiatePass> {
  using BatchDifferentiateBase::BatchDifferentiateBase;
  void runOnOperation() override {
    SmallVector<std::unique_ptr<Adjoints>> losses;
    SparseTables tables;
    for (auto program : getOperation().getOps<kernel::ProgramOp>()) {
      if (!program.getLoss())
        continue;
      kernel::OutputOp loss; // the first component; the others have no gradient
      for (auto output : program.getBody().front().getOps<kernel::OutputOp>())
        if (output.getComponent() == 0)
          loss = output;
      LDBG() << "@" << program.getSymName() << " gets stages for its gradient";
      losses.push_back(std::make_unique<Adjoints>(
          program, program.lookupSymbol<kernel::BufferOp>(loss.getBuffer()),
          arraysOf(program, SmallVector<std::string>(inputs.begin(), inputs.end()))));
      tables.add(program, losses.back()->active());
    }
    for (auto &adjoints : losses) {
      if (failed(adjoints->run(tables)))
        return signalPassFailure();
      recomputedBuffers += adjoints->recompute(recompute);
      ++differentiatedLosses;
    }
  }
};
} // namespace
} // namespace dbc::passes
