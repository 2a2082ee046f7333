// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Passes from one dialect to the next, in the order of the pipeline. One file a pass, named as its flag.

#ifndef DBC_PASSES_LOWER
#define DBC_PASSES_LOWER

include "mlir/Pass/PassBase.td"

def DynToBatch : Pass<"dyn-to-batch", "::mlir::ModuleOp"> {
  let summary = "Flatten each entry to a program over the rows of a batch";
  let description = [{
    Each binder, arm and cell becomes an index set, each call site a relation, each arithmetic op a stage of its own. See
    passes/lower/Flatten.h. Afterwards each entry is a `kernel.program`, and no `dyn.data`, `dyn.param`, `dyn.cell` or
    `dyn.entry` is left.
  }];
  let statistics = [Statistic<"madeStages", "made-stages", "Stages of all programs">];
  let dependentDialects = ["::dbc::batch::BatchDialect", "::dbc::kernel::KernelDialect"];
}

def BatchToKernel : Pass<"batch-to-kernel", "::mlir::ModuleOp"> {
  let summary = "Lower stages to loops, as their schedules say";
  let description = [{
    Sums over a batch, of `batch.accumulate` and of what looks up a row of a table, take rows in the order of the
    inputs: where rows lie by level, or a `while` has ended some, an index set of kind `by_input` is made for them. Afterwards no
    operation of `batch` is left: each stage is a `kernel.func` that one `kernel.launch` runs. With `epilogues` a product does
    what is done with its results, if that is relu for other products or a write alone: on a CPU. A stage that does nothing but
    make rows of buffers 0, outside of loops, says so (`clears`). With `by_element` sums over
    lists that only elementwise code wants are parts of its expressions, and joins that are only written are written piece by
    piece, so that neither needs scratch; and sums of outer products have square tiles: on a GPU, where an element is a thread's.
  }];
  let options = [
    Option<"epilogues", "epilogues", "bool", "false", "have products do relu and writes of their results">,
    Option<"byElement", "by-element", "bool", "false", "have elementwise code sum lists up and write joins">];
  let statistics = [Statistic<"loweredStages", "lowered-stages", "Stages lowered to loops">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

#endif // DBC_PASSES_LOWER
