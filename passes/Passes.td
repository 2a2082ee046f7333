// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The passes from `dyn` to `kernel`, in the order of the pipeline. One file a pass, named as its flag.

#ifndef DBC_PASSES
#define DBC_PASSES

include "mlir/Pass/PassBase.td"

def DynOrderErrors : Pass<"dyn-order-errors", "::mlir::ModuleOp"> {
  let summary = "Keep the order of evaluation, for telling an input's first error (manual, E2)";
  let description = [{
    Before any pass moves anything, the structure of each entry, and of what it calls, is written down as steps that the
    runtime can walk through: what is tested there, and which operations may fail by what is computed. Afterwards each entry
    has a `kernel.evaluation`, and these operations, binders, keys of cells and calls have numbers in their locations, see
    ir/Dyn/Numbers.h.
    ```mlir
    dyn.entry @e(%xs) { %x = dyn.at %xs[0] ... }
    ==>
    kernel.evaluation @e words ["e", "", "e.dyn:3:4"] code array<i32: ...>
    ```
  }];
  let statistics = [Statistic<"numbered", "numbered", "Binders, keys, calls and operations that got a number">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def DynDecompose : Pass<"dyn-decompose", "::mlir::ModuleOp"> {
  let summary = "Write list ops that batching does not know by those that it does";
  let description = [{
    `dyn.softmax_list` becomes a logsumexp of the list and a map: exp(x - logsumexp). Elementwise over tensors, stable.
    `dyn.detach` becomes its operand, unless there are gradients. Afterwards no `dyn.softmax_list` is left.
  }];
  let options = [Option<"train", "train", "bool", "false", "losses are differentiated: dyn.detach stays">];
  let statistics = [Statistic<"decomposed", "decomposed", "Operations written by others">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

def DynHoist : Pass<"dyn-hoist", "::mlir::ModuleOp"> {
  let summary = "Compute once outside a binder what does not use its variables (manual, C8)";
  let description = [{
    What an inner binder computes from its own elements alone moves into a map over its list first:
    ```mlir
    dyn.map (%xs) { ^bb0(%x): %w = dyn.map (%ys) { ^bb0(%y): %k = contract(%K, %y) ... %x ... } ... }
    ==>
    %ks = dyn.map (%ys) { ^bb0(%y): contract(%K, %y) }
    dyn.map (%xs) { ^bb0(%x): %w = dyn.map (%ys, %ks) { ^bb0(%y, %k): ... %x ... } ... }
    ```
    So do products and reductions that add up four numbers or more, functions like tanh and recurrences, and what is made of
    them, unless it has more elements: to read what costs less takes as long as to compute it. The list must not use the outer
    variable, but a filter, a slice or `reverse` of such a list may: they choose of the results then, where nothing can fail
    that they leave out. What steps compute that a `while` may leave out stays.

    Nothing moves out of an arm of a match or if. What may fail an input, where it goes through lists or is work as above,
    moves into a map that has one element where the binder has any:
    ```mlir
    dyn.map (%xs) { ^bb0(%x): %m = reduce_list max %ys ... }
    ==>
    %once = dyn.range 0 to min(len %xs, 1)
    %ms = dyn.map (%once) { ^bb0(%_): %m = reduce_list max %ys; yield %m }
    dyn.map (%xs) { ^bb0(%x): %m = dyn.at %ms[0] ... }
    ```
    A `while` may leave out the first step as well: then what is computed there must do no harm (manual, S4).

    Afterwards each operation directly in the body of a binder uses a value of that body, may fail an input, or does more
    than to give its results.
  }];
  let statistics = [
    Statistic<"movedOps", "moved-ops", "Operations moved out of a binder">,
    Statistic<"madeMaps", "made-maps", "Maps made of what may fail, and of what an inner binder computes from its elements">];
}

def DynForwardGathers : Pass<"dyn-forward-gathers", "::mlir::ModuleOp"> {
  let summary = "Go through row numbers instead of a list of rows of a parameter";
  let description = [{
    ```mlir
    %xs = dyn.map (%words) { ^bb0(%w): dyn.gather %E[%w] }
    dyn.scan (%xs) from (%h) { ^bb0(%x, %s): ... %x ... }
    ==>
    dyn.scan (%words) from (%h) { ^bb0(%w, %s): %x = dyn.gather %E[%w] ... %x ... }
    ```
    The rows are read where they lie, and what is made of them is seen to depend on the number alone. Lists that are
    reversed, sliced or zipped with others are such lists too: the numbers are reversed, sliced and zipped instead. One
    element of such a list is the row that one number names. Afterwards no map, scan or fold goes through such a list, as it
    is, reversed or sliced; a `dyn.gather` that is `checked` stays in its map.
  }];
  let statistics = [
    Statistic<"forwardedLists", "forwarded-lists", "Lists of rows whose numbers a binder goes through">,
    Statistic<"forwardedElements", "forwarded-elements", "Elements of such lists that are looked up by their number">];
}

def DynSplitScans : Pass<"dyn-split-scans", "::mlir::ModuleOp"> {
  let summary = "Move what does not use the state out of a scan into a map before it";
  let description = [{
    ```mlir
    dyn.scan (%xs) from (%h) { ^bb0(%x, %s): %a = contract(%W, %x) ... %b = contract(%U, %s) ... }
    ==>
    %as = dyn.map (%xs) { ^bb0(%x): contract(%W, %x) }
    dyn.scan (%xs, %as) from (%h) { ^bb0(%x, %a, %s): ... %b = contract(%U, %s) ... }
    ```
    The map runs once over all elements of a batch; the scan runs by step. Afterwards, in a scan or fold without a `while`,
    what uses the state takes real numbers of the body that do not depend on it only where they are elements, constants,
    made of parameters alone, fields, results of calls, or made of one index that can have a table (batch-fold-tables).
  }];
  let statistics = [
    Statistic<"splitScans", "split-scans", "Scans and folds that have a map before them now">,
    Statistic<"handedLists", "handed-lists", "Lists that these maps give">];
}

def DynSumOperands : Pass<"dyn-sum-operands", "::mlir::ModuleOp"> {
  let summary = "Multiply once behind a sum instead of once for each element";
  let description = [{
    The sum, or mean, of what a map computes by linear maps of its elements is these maps of the sum:
    ```mlir
    %ys = dyn.map (%us) { ^bb0(%u): %x = ...  %y = contract(%A, %x) + %b  yield %y }
    %s = reduce_list sum %ys
    ==>
    %xs = dyn.map (%us) { ^bb0(%u): %x = ...  yield %x }
    %s = contract(%A, reduce_list sum %xs) + len(%us) * %b
    ```
    So with sums, differences, factors that are the same for all elements, and factors that are one number an element. A
    product moves where adding its operands up costs less than multiplying each, so matrices that differ by element stay;
    not where something else needs it for each element, a `while` ends the list, or the list has one element at most.
    Of lists whose length is the input's, a model is taken to have as many elements as rows with a list. The sum of no elements
    stays 0: what is divided there, or multiplied by numbers that may be infinite, is selected only where there are elements.
    Afterwards a `dyn.moved_product` names each product that stands behind a sum now.
  }];
  let statistics = [
    Statistic<"rewrittenSums", "rewritten-sums", "Sums and means of operands instead of products">,
    Statistic<"productsBehind", "products-behind", "Products that stand behind a sum now">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DynShareProducts : Pass<"dyn-share-products", "::mlir::ModuleOp"> {
  let summary = "Compute products once for each instance they are made of, not once for each row that reads it";
  let description = [{
    A product whose vector is a join is cut where its operands are known at different points: outside of a binder, in
    another instance, here. What has products in it and is made of one call's results alone becomes a further result of the
    cell, which is computed once for each instance.
    ```mlir
    dyn.cell @state(%v, %t) { ... dyn.map (%near) { ^bb0(%u):
      %h = dyn.call @state(%u, %s)  %y = contract(%W, concat(%own, %h)) + %b ... }  dyn.return %new }
    ==>
    dyn.cell @state(%v, %t) { ... %q = contract(slice %W, %own) + %b
      dyn.map (%near) { ^bb0(%u): %h, %p = dyn.call @state(%u, %s)  %y = %q + %p ... }
      %product = contract(slice %W, %new)  dyn.return %new, %product }
    ```
    Instances are taken to be fewer than the rows that read them where the caller is repeated for something that is no
    matter to the callee, and where references lead to it: a graph has at least as many of them as nodes. In a recursion
    that goes down the structure a node is taken to have one parent, so nothing moves from caller to callee. See
    passes/dyn/CallSharing.h. Afterwards a `dyn.moved_product` says of each product that moved, and of each that stayed as
    an instance is taken to have one reader, where it is computed.
  }];
  let statistics = [
    Statistic<"cutProducts", "cut-products", "Products cut where their operands are known">,
    Statistic<"furtherResults", "further-results", "Results that cells give besides those of the source">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
}

def DynMergeProducts : Pass<"dyn-merge-products", "::mlir::ModuleOp"> {
  let summary = "Merge products of one operand, and sums of products";
  let description = [{
    Products of several matrices of parameters with one vector become one product with the stacked matrix; the sum of two
    products becomes one product of the joined matrices with the joined vectors, where both vectors are known at the same
    time (neither or both need a recursive result), so that nothing leaves what runs before the recursion.

    Maps over the same lists that have products with parameters become one before that, where the second needs nothing that
    stands behind the first:
    ```mlir
    %ks = dyn.map (%ys) { ^bb0(%y): contract(%K, %y) }
    %vs = dyn.map (%ys) { ^bb0(%y): contract(%V, %y) }
    ==>
    %ks, %vs = dyn.map (%ys) { ^bb0(%y): contract(%K, %y), contract(%V, %y) }
    ```
    Afterwards no block has two products in use of matrices of parameters with one vector.
  }];
  let statistics = [
    Statistic<"mergedProducts", "merged-products", "Products that became part of another one">,
    Statistic<"mergedMaps", "merged-maps", "Maps that became part of another one">];
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
}

def DynLambdaLift : Pass<"dyn-lambda-lift", "::mlir::ModuleOp"> {
  let summary = "Lambda lifting: make cells of the captured arguments of cells (manual, C4)";
  let description = [{
    A recursion is copied for each call from outside with captured arguments. The keys of the caller, and the positions in
    the binders around the call that the values depend on, become keys of the copy; values are read from a cell that has
    these keys. What may fail where it stood still does: `dyn.need` keeps it there. A constant or an integer of the structure
    that is captured stands behind a `dyn.optimization_barrier`: in the cell it is computed. The copy says which calls it is
    made for (`sites`), by which errors of its instances are told from those of others.
    ```mlir
    dyn.entry @answer(%t: !dyn.node<@Tree>, %x: f32) { %q = exp %x ... dyn.call @score(%t) captured (%q) }
    ==>
    dyn.cell @answer.score.captured() { %x = dyn.argument 1  %q = exp %x  dyn.return %q }
    dyn.cell @score(%t: !dyn.node<@Tree>) { %q = dyn.call @answer.score.captured() ... }
    dyn.entry @answer(%t: !dyn.node<@Tree>, %x: f32) { ... dyn.call @score(%t) }
    ```
    Afterwards no cell has captured arguments, and no call passes any.
  }];
  let statistics = [
    Statistic<"liftedCalls", "lifted-calls", "Calls from outside that are of a copy now">,
    Statistic<"copiedRecursions", "copied-recursions", "Copies of recursions">];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DynToBatch : Pass<"dyn-to-batch", "::mlir::ModuleOp"> {
  let summary = "Flatten each entry to a program over the rows of a batch";
  let description = [{
    Each binder, arm and cell becomes an index set, each call site a relation, each arithmetic op a stage of its own. See
    passes/lower/Flatten.h. Afterwards each entry is a `batch.program`, and no `dyn.data`, `dyn.param`, `dyn.cell` or
    `dyn.entry` is left.
  }];
  let statistics = [Statistic<"madeStages", "made-stages", "Stages of all programs">];
  let dependentDialects = ["::dbc::batch::BatchDialect", "::dbc::kernel::KernelDialect"];
}

def BatchRematerialiseGathers : Pass<"batch-rematerialise-gathers", "::mlir::ModuleOp"> {
  let summary = "Gather rows of parameters again where they are used";
  let description = [{
    Afterwards a buffer that holds nothing but a `dyn.gather` of a parameter, not `checked`, at an index that is a
    `batch.read_index` or a buffer of the same index set, is not read by other stages over that index set: they gather the
    row themselves. A matrix for each row would be moved through memory otherwise, and products with it could not use packed
    weights.
  }];
  let statistics = [Statistic<"rematerialisedReads", "rematerialised-reads", "Reads of buffers that became what was written there">];
}

def BatchFoldTables : Pass<"batch-fold-tables", "::mlir::ModuleOp"> {
  let summary = "Compute functions of one index once for each of its values (DESIGN: folding tables)";
  let description = [{
    A value of a stage that depends on parameters and one index alone, which is below a known bound since it gathers a row of
    something, and that has a product, a reduction or a function like tanh in it, becomes a buffer over an index set of the
    model with a row for each value of the index. Stages read it by the relation that its index array makes.
    ```mlir
    batch.stage @leaf over @Leaf { %w = batch.read_index "word"  %x = dyn.gather %E[%w]  %y = contract(%W, %x)  write %y, @leaf }
    batch.stage @next over @Leaf { %y = batch.read @leaf ... }
    ==>
    kernel.index_set model @table.Leaf.word ["word"] extent 1000
    batch.stage @leaf over @table.Leaf.word { ... write %y, @table.leaf }
    batch.stage @next over @Leaf { %y = batch.gather @table.leaf via @rel.Leaf.word ... }
    ```
    Afterwards all tables that a run looks up have at most `elements` elements together; the smallest came first. Parameters
    must not change while the model lives. With `train` they do. Then entries have no tables, and such a value of a loss is
    computed in each run for the values that the batch has, an index set of kind `distinct`, where it has a product with 32
    multiplications or more for each of its elements. With 0 `elements` there is none of either kind.
    ```mlir
    kernel.index_set distinct @table.Leaf.word ["row"] extent 1000
    batch.distinct @table.Leaf.word = [@Leaf] ["word"] rows ["word.row"]
    ```
  }];
  let options = [
    Option<"elements", "elements", "int64_t", "64 << 20", "elements that all tables together may have">,
    Option<"train", "train", "bool", "false", "parameters change from run to run: losses have tables of a run, entries none">];
  let statistics = [
    Statistic<"foldedTables", "folded-tables", "Tables that a run looks up">,
    Statistic<"tableElements", "table-elements", "Elements of these tables">];
}

def BatchPartition : Pass<"batch-partition", "::mlir::ModuleOp"> {
  let summary = "Find for each stage the loops that it runs in: before, by level or step, or after";
  let description = [{
    The stages and what they read from each other form a graph. A strongly connected component with a cycle is a loop:
    the edges that close it are reads carried by a recursion group or a scan. Inside a loop the edges carried by it are
    dropped and the search goes on, so scans inside a recursion nest. All else runs once. Afterwards each stage has its
    loops in the attribute `loops`, outermost first.
  }];
  let statistics = [Statistic<"foundLoops", "found-loops", "Loops that stages run in">];
}

def BatchOrderStages : Pass<"batch-order-stages", "::mlir::ModuleOp"> {
  let summary = "Put the stages in an order in which every value is there before it is read";
  let description = [{
    Afterwards each stage stands behind those that it reads from, but for reads that a loop around both carries, and stages
    of one loop stand together; among the possible orders the source's is kept.
  }];
  let statistics = [Statistic<"movedStages", "moved-stages", "Stages that changed their position">];
}

def BatchAssignLevels : Pass<"batch-assign-levels", "::mlir::ModuleOp"> {
  let summary = "Nest the stages in `batch.levels` and `batch.steps` and say which index sets run by time step";
  let description = [{
    Afterwards no stage has the attribute `loops`: it stands in these loops. An index set runs `by_time_step` where a stage
    over it stands in a loop, and the schedule has a `kernel.time_steps` for it, unless its rows are instances.
  }];
  let statistics = [Statistic<"madeLoops", "made-loops", "Loops made around stages">];
}

def BatchDifferentiate : Pass<"batch-differentiate", "::mlir::ModuleOp"> {
  let summary = "Reverse mode: a loss's program computes the gradient of its parameters too (manual, G1 to G3)";
  let description = [{
    Behind the stages of a loss come adjoint stages, in reverse order; a loop runs in reverse, too. The adjoint stage of a
    stage reads what the stage has written and what later stages contribute to the adjoint of that, and contributes to the
    adjoints of what the stage has read. What many rows contribute to one is summed over the transpose of the relation by
    which they read it, in their order. The gradient of a parameter is added up at the end, by one stage over all rows for
    each stage that uses it. That of a table of which nothing is used but rows, by numbers that the structure has, the stages
    compute or the source says, is sparse: it lies over an index set of these rows, and a stage over them sums what each lookup
    contributes. Fields and arguments
    that `inputs` names, by the name of the data type or loss, a point, and their own, get gradients like buffers, over all
    rows that they have in the batch. With `recompute` adjoint stages find some of what they need again, in place of reading
    what was kept of the forward pass; bits are the same. See passes/batch/Adjoints.h and passes/batch/RecomputedStages.h.
    ```mlir
    batch.levels @group { batch.stage @s over @S { %x = batch.gather @h via @rel.S.left carried @group  %y = tanh %x  write %y, @t } }
    ==>
    batch.transpose @of.S.left of @rel.S.left
    batch.levels @group reverse { batch.stage @S.adjoint over @S role adjoint {
      %y = batch.read @t  %a = batch.read @S.t.adjoint  %c = %a * (1 - %y * %y)  write %c, @S.h.adjoint } ... }
    ```
    Stands behind batch-assign-levels, which it needs, and before batch-fuse, which makes few stages of many. Afterwards each
    loss has a `batch.gradient` for each parameter that it depends on, and a `batch.input_gradient` for each field or argument
    of `inputs`.
  }];
  let options = [
    ListOption<"inputs", "inputs", "std::string", "fields and arguments with a gradient: `Tree.x`, `nll.y`">,
    Option<"recompute", "recompute", "::dbc::passes::Recompute", "::dbc::passes::Recompute::None",
           "what is computed again in place of being kept", [{::llvm::cl::values(
             clEnumValN(::dbc::passes::Recompute::None, "none", "nothing"),
             clEnumValN(::dbc::passes::Recompute::Cheap, "cheap", "what elementwise operations give of what is kept anyway"),
             clEnumValN(::dbc::passes::Recompute::Cells, "cells", "all that rows of a loop compute and no other row reads"))}]>];
  let statistics = [
    Statistic<"differentiatedLosses", "differentiated-losses", "Losses with gradients">,
    Statistic<"recomputedBuffers", "recomputed-buffers", "Buffers that are not kept for adjoint stages">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::linalg::LinalgDialect"];
}

def BatchFuse : Pass<"batch-fuse", "::mlir::ModuleOp"> {
  let summary = "Fuse stages over one index set in one loop";
  let description = [{
    Two stages merge if no stage between them needs the first and is needed by the second: the second moves up to the
    first, or, where it must stay behind a stage between them, the first down to it. A value that the fused stage wrote
    is not read back. Of buffers to which one stage writes the same value one stays. Afterwards each buffer is read by a stage
    or is an output.
  }];
  let statistics = [
    Statistic<"fusedStages", "fused-stages", "Stages that became part of another one">,
    Statistic<"droppedBuffers", "dropped-buffers", "Buffers that nobody reads any more">];
}

def BatchJoinGates : Pass<"batch-join-gates", "::mlir::ModuleOp"> {
  let summary = "Put adjoints of gates side by side instead of adding them up with zeros";
  let description = [{
    The adjoint of what is cut into gates is the sum of the gates' adjoints, each with zeros in front of it and behind it. Where
    of two summands each element is 0 in one of them, the sum becomes one concatenation. Afterwards no sum of two
    concatenations along one axis has pieces of which one is zeros wherever the other one has none.
    ```mlir
    %x = tensor.concat dim(0) %i, %zeros  %y = tensor.concat dim(0) %zeros, %f  %sum = arith.addf %x, %y
    ==>
    %sum = tensor.concat dim(0) %i, %f
    ```
  }];
  let statistics = [Statistic<"joinedSums", "joined-sums", "Sums that became a concatenation">];
}

def BatchSplitGates : Pass<"batch-split-gates", "::mlir::ModuleOp"> {
  let summary = "Compute gate by gate what is cut into gates afterwards";
  let description = [{
    `split(f(x, y))` becomes f of the slices of x and y, for elementwise f, where nothing uses f(x, y) as a whole and the
    slices are of equal size, one after the other. Afterwards nothing elementwise is used by such slices alone, but for
    constants and the sum of a product and its bias, which is cut where it is made.
  }];
  let statistics = [Statistic<"splitOps", "split-ops", "Operations computed gate by gate">];
}

def BatchNameStages : Pass<"batch-name-stages", "::mlir::ModuleOp"> {
  let summary = "Name stages after what they are computed for, in the source's words";
  let description = [{
    A stage is called like its index set, which is a cell, an arm, a binder or a table of the source; behind that stands its
    role, where that is another than `forward`. Of several that would be called the same each has the last word of
    what it writes, where that is one of the source: a name of `let`, a function. What is then still the same is numbered. Stands behind the
    passes that fuse stages and give them other roles. Afterwards no two stages of a program have one name.
    ```mlir
    batch.stage @encode.Node.value over @encode.Node { ... }
    batch.stage @encode.Node.adjoint over @encode.Node role adjoint { ... }
    ==>
    batch.stage @encode.Node over @encode.Node { ... }
    batch.stage @encode.Node.adjoint over @encode.Node role adjoint { ... }
    ```
  }];
  let statistics = [Statistic<"renamedStages", "renamed-stages", "Stages that got another name">];
}

def BatchSplitOperands : Pass<"batch-split-operands", "::mlir::ModuleOp"> {
  let summary = "Compute what a GPU's products multiply in a stage before";
  let description = [{
    A stage that computes what its products with matrices of parameters of at least `outputs` rows multiply is cut: what is
    multiplied is written to a buffer, with all that can be done before; the product's stage reads it there and does the rest. So
    blocks of threads may share the product's tiles, and none computes again what all of them need. What is joined of rows
    in memory need not be written for its product; where it is kept for others, that is a stage of its own, behind the
    loop if nobody needs it there.
    ```mlir
    batch.stage @s over @rows { %x = tanh ...  batch.write %x, @x  %y = contract(W, %x)  batch.write %y, @y }
    ==>
    batch.stage @s.operands over @rows { %x = tanh ...  batch.write %x, @x }
    batch.stage @s over @rows { %x = batch.read @x  %y = contract(W, %x)  batch.write %y, @y }
    ```
    Stages with `when`, and those in which something may fail, stay whole. Afterwards such products of others have vectors
    that lie in memory, or are joined of such by themselves.
  }];
  let options = [Option<"outputs", "outputs", "int64_t", "64", "outputs of a product from which it is taken">];
  let statistics = [
    Statistic<"cutStages", "cut-stages", "Stages cut in front of their products">,
    Statistic<"movedJoins", "moved-joins", "Joins that are written in a stage of their own">];
}

def BatchBlas : Pass<"batch-blas", "::mlir::ModuleOp"> {
  let summary = "Make stages of products that a library is to compute on a GPU";
  let description = [{
    A stage that runs once, outside of all loops, and has products with a matrix of parameters of at least `weights` elements
    is cut: what such a product needs is written to a buffer, unless it is one row of a buffer already; the product is a stage
    of its own with `blas`, from buffer to buffer, which adds the product's bias too: a parameter whose sum with it is all that
    is made of it. What is written as it is goes there at once; all else is in the stage behind, relu too, as the library's
    makes 0 of what is no number. What is only read is read again where it is needed, the rest is passed on through buffers.
    ```mlir
    batch.stage @s over @rows { %x = batch.gather @a via @rel.rows.word  %y = contract(W, %x) + b  %z = tanh %y  write %z, @z }
    ==>
    batch.stage @s.operands over @rows { %x = batch.gather @a via @rel.rows.word  write %x, @s.x }
    batch.stage @s.product over @rows blas { %x = batch.read @s.x  %y = contract(W, %x) + b  write %y, @s.y }
    batch.stage @s over @rows { %y = batch.read @s.y  %z = tanh %y  write %z, @z }
    ```
    Stages over masked index sets stay whole. A CPU has the same stages, and computes each by its own loops.
    Afterwards each stage with `blas` has one product and one write, and takes the vector from one read.
  }];
  let options = [Option<"weights", "weights", "int64_t", "1", "elements of a matrix from which its products are taken">];
  let statistics = [
    Statistic<"cutStages", "cut-stages", "Stages cut into substages">,
    Statistic<"productStages", "product-stages", "Stages of one product each">];
}

def BatchClassifyAccesses : Pass<"batch-classify-accesses", "::mlir::ModuleOp"> {
  let summary = "Say of each relation how many rows it joins with one, and drop those not needed";
  let description = [{
    A relation is `one_to_one` where no two rows name the same one, as far as the functions that push its index array show,
    else `many_to_one`. A gather from the rows of an index set that lie like the stage's own becomes a read. Afterwards a
    stage goes by each relation, and index arrays that nobody reads are left only where the schedule fills them in.
  }];
  let statistics = [
    Statistic<"alignedGathers", "aligned-gathers", "Gathers that became reads">,
    Statistic<"droppedIndexArrays", "dropped-index-arrays", "Index arrays that nobody reads">];
}

def BatchMarkConcurrent : Pass<"batch-mark-concurrent", "::mlir::ModuleOp"> {
  let summary = "Find loops that may run at the same time";
  let description = [{
    Outermost loops of which none needs what another one makes, as the two directions of a bidirectional network, are put
    into one `concurrent`; stages between them that the first does not need go before it.
    Afterwards no loop in a `concurrent` touches what another one in it writes.
  }];
  let statistics = [Statistic<"concurrentLoops", "concurrent-loops", "Loops that may run at the same time as others">];
}

def BatchPlanSteps : Pass<"batch-plan-steps", "::mlir::ModuleOp"> {
  let summary = "Keep of a recursion's buffers the rows of the last time steps alone, where no other ones are read later";
  let description = [{
    A buffer that is written and read in one outermost `batch.levels` gets `live`, the number of levels whose rows are kept:
    one where each level reads its own rows alone, as messages are; more where rows of earlier levels are read, and each read
    is of rows that lie a constant number of levels back (`ago`). That is known of one cell whose calls all lower a secondary
    key, an integer: the instances of a level are then those of one value of the key (`level_key` of the group). Behind the
    loop rows of the last level may be read: through calls with the greatest key that there is. A stage without products that
    writes some of the rows before the loop moves into it. Afterwards each read of such a buffer that its loop carries has
    `ago`.
    ```mlir
    batch.buffer @state.h over @state : f32
    batch.stage @state.copy over @state.then { ... scatter %x, @state.h via @rel.parent }
    batch.levels @state.group { batch.stage @state over @state.else { %h = gather @state.h via @rel.s carried @state.group  ... scatter %y, @state.h via @rel.parent } }
    ==>
    batch.buffer @state.h over @state : f32 live 2
    batch.levels @state.group {
      batch.stage @state.copy over @state.then { ... }
      batch.stage @state over @state.else { %h = gather @state.h via @rel.s carried @state.group ago 1  ... }
    }
    ```
    Inference on a CPU only: a gradient needs other rows, and blocks of a GPU's threads may wait for elements of which each is
    written once.
  }];
  let statistics = [
    Statistic<"plannedBuffers", "planned-buffers", "Buffers that keep some levels alone">,
    Statistic<"movedStages", "moved-stages", "Stages moved into a loop">];
}

def BatchPlanBuffers : Pass<"batch-plan-buffers", "::mlir::ModuleOp"> {
  let summary = "Give buffers storage; those whose lives do not overlap share it";
  let description = [{
    Afterwards each buffer has storage, but for outputs and what is computed when the model is made; buffers of one storage
    have elements of one type, and each is touched for the last time before the next one is touched at all.
  }];
  let statistics = [
    Statistic<"usedStorages", "used-storages", "Storages of all programs">,
    Statistic<"sharedBuffers", "shared-buffers", "Buffers that got the storage of another one">];
}

def ScheduleCpu : Pass<"schedule-cpu", "::mlir::ModuleOp"> {
  let summary = "Choose rows of a block, channels of a tile and grain of each stage for a CPU";
  let description = [{
    * `rows`: 1 without a product. With one as many as keep the block's scratch within 256 KiB, at most 36, a multiple of
      the 6 rows that the product kernel takes at once. Elementwise values and tiled products take no scratch. 128 where outer
      products are added up.
    * `channels`: 0 where no product's result is used element by element. Else the multiple of 16 with the least channels
      computed, those computed twice where the last tile overlaps included; a tile of one, two or three panels of 16 outputs
      counts as 1.25, 1.08 and 1.03 times as dear, as it has too few independent sums for a row or two; more than 6 panels
      do not fit the registers.
    * `grain`: rows that make 200,000 operations.

    Afterwards each stage has a `schedule`; one that it had stays.
  }];
  let statistics = [
    Statistic<"blockedStages", "blocked-stages", "Stages whose blocks have several rows">,
    Statistic<"tiledStages", "tiled-stages", "Stages computed in tiles of channels">];
}

def ScheduleCuda : Pass<"schedule-cuda", "::mlir::ModuleOp"> {
  let summary = "Choose rows of a block and channels of a tile of each stage for an NVIDIA GPU";
  let description = [{
    * `rows`: of a block of threads. 8 with a product; 8, as many as it has warps, where a row has a long reduction to one
      number, or one of a list; else 32, or as many as have 512 elements where a stage computes elements alone. Fewer, but two
      at least, where scratch would take more than 48 KiB. 512 where outer products are added up.
    * `channels`: 16 where a product's result is used element by element: each tile is a block of threads. 8 where such a
      block can have its weights resident in shared memory in a persistent kernel, and one of 16 channels cannot.

    Afterwards each stage has a `schedule`; one that it had stays.
  }];
  let options = [Option<"realBytes", "real-bytes", "int64_t", "4", "bytes of a number of the emitter's type">];
  let statistics = [
    Statistic<"shortenedBlocks", "shortened-blocks", "Stages with fewer rows in a block, as scratch is short">,
    Statistic<"tiledStages", "tiled-stages", "Stages computed in tiles of channels">];
}

def BatchToKernel : Pass<"batch-to-kernel", "::mlir::ModuleOp"> {
  let summary = "Lower stages to loops, as their schedules say";
  let description = [{
    Loops of one `concurrent` run one after the other where they may fail an input: which failure is reported depends on
    their order. Sums over a batch, of `batch.accumulate` and of what looks up a row of a table, take rows in the order of the
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
  let statistics = [
    Statistic<"loweredStages", "lowered-stages", "Stages lowered to loops">,
    Statistic<"sequencedGroups", "sequenced-groups", "Groups of concurrent loops that run one after the other, as they may fail an input">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelBlas : Pass<"kernel-blas", "::mlir::ModuleOp"> {
  let summary = "Have a library compute the stages that batch-blas made";
  let description = [{
    The loops of a stage with `blas` become one `kernel.gemm`, whose matrix has no tiles and no contract; its `init` is the
    product's bias, which the library adds. Afterwards each function with `blas` is one `kernel.gemm`, and each matrix has a product
    or a `kernel.gemm`.
  }];
  let options = [Option<"tf32", "tf32", "bool", "false", "let the library cut operands to tf32">];
  let statistics = [
    Statistic<"madeGemms", "made-gemms", "Products that a library computes">,
    Statistic<"droppedMatrices", "dropped-matrices", "Matrices whose products are all the library's">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelTensorCores : Pass<"kernel-tensor-cores", "::mlir::ModuleOp"> {
  let summary = "Compute products on a GPU's tensor cores";
  let description = [{
    Products of rows and a matrix of f32 get a contract: how many split-K slices are added up, in which order, by which
    instruction; sums of outer products get an instruction alone. Afterwards all products of a matrix with a contract have scratch
    for their `sums`, and no others. Those whose rows each have a matrix of their own, and those of a matrix whose products have operands of several lengths, stay
    as they are.
  }];
  let options = [Option<"tf32", "tf32", "bool", "false", "cut operands to the 11 bits of tf32">];
  let statistics = [
    Statistic<"contracts", "contracts", "Matrices that got a contract">,
    Statistic<"productsOnTensorCores", "products-on-tensor-cores", "Products on the tensor cores">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelPlanScratch : Pass<"kernel-plan-scratch", "::mlir::ModuleOp"> {
  let summary = "Say where a stage's scratch lies, on a CPU";
  let description = [{
    Small locals of a stage are on the stack, as far as that goes; others lie behind each other in the scratch of its thread, each
    at a cache line of its own. (They are not in each other's place: their pointers are declared to be of different memory.)
    What the runtime's kernels pack operands into becomes a local too, and where arithmetic is double what operands that are
    float are copied to. Afterwards each such operation has its `memory`, and a stage's `scratch` is what it needs.
  }];
  let options = [Option<"realBytes", "real-bytes", "int64_t", "4", "bytes of a number of the emitter's type">];
  let statistics = [
    Statistic<"placedLocals", "placed-locals", "Locals that lie in the scratch of a thread">,
    Statistic<"copiedOperands", "copied-operands", "Operands that are copied as double">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelFlattenLoops : Pass<"kernel-flatten-loops", "::mlir::ModuleOp"> {
  let summary = "Make one loop of a loop nest over elements that lie one after the other";
  let description = [{
    Two loops from 0 to constants, one directly inside the other and the inner one a `vector`, become one where each
    iteration reads and writes at offsets that follow from its number in the order of the loop nest, and touches nothing
    that another one writes. The last index then runs through all elements and the one before it stays, see `kernel.load`.
    ```mlir
    kernel.for %zero to %c16 { ^bb0(%j: i32): kernel.for vector %zero to %c2 { ^bb0(%k: i32): ... kernel.load @x[%row, %j, %k] ...
    ==>
    kernel.for vector %zero to %c32 { ^bb0(%j: i32): ... kernel.load @x[%row, %zero, %j] ...
    ```
    A short inner loop is one that compilers write out step by step before they think of vectors: then they must find these
    in what is left, which is slow, and which g++ 12 and before do wrongly. Loop nests that stretch an axis, transpose or
    gather stay. Afterwards no such loop nest is left whose indices are sums and multiples of its counters, alike wherever
    it touches an array that it writes.
  }];
  let statistics = [Statistic<"flattenedLoops", "flattened-loops", "Loops that the one inside took over">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::dbc::kernel::KernelDialect"];
}

def KernelSplitSums : Pass<"kernel-split-sums", "::mlir::ModuleOp"> {
  let summary = "Distribute sums over all rows to a GPU's blocks of threads";
  let description = [{
    In a stage that adds rows up a block of threads has a tile of 64 times 64 numbers of outer products, and a slice of the rows.
    Each slice has sums of its own in a buffer, the function's `of_slices`, which are added up in their order behind it; where
    tiles alone make enough blocks there are no slices. What else adds up the rows of an operand as they are, the gradient of a
    bias mostly, becomes the product's `bias`. Afterwards a function with `slices` has `of_slices` and `summed` too, and no loop
    adds up rows that a product of the same block could.
  }];
  let statistics = [
    Statistic<"takenBiases", "taken-biases", "Sums of an operand's rows that its product gives">,
    Statistic<"slicedStages", "sliced-stages", "Stages whose rows are cut into slices">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelMapLanes : Pass<"kernel-map-lanes", "::mlir::ModuleOp"> {
  let summary = "Map the reductions of a row to the lanes of a warp";
  let description = [{
    A row of a block of rows is a warp's where a sum, maximum or minimum of its elements is long: 32 elements or more, or a
    list, whose length is not known. Its lanes share these reductions, and loops of independent iterations beside them:
    ```mlir
    kernel.for %zero to %count { ^bb0(%i: i32): %s = kernel.for %zero to %n carry (%none) ... addf ...  kernel.write %s, ... }
    ==>
    kernel.warps %count { ^bb0(%i: i32): %s = kernel.lanes %zero to %n carry (%none) by add ... addf ...  kernel.write %s, ... }
    ```
    Other loops are kernel-map-threads's. So are rows in which a lane would read what another one wrote; where a check stands
    in the loops to share; and reductions inside a loop of independent iterations, of which each is a thread's.
    Afterwards each `kernel.lanes` stands in a `kernel.warps`, and no lane reads in a row what another one wrote there.
  }];
  let statistics = [
    Statistic<"warpRows", "warp-rows", "Loops over rows each of which is a warp's">,
    Statistic<"sharedLoops", "shared-loops", "Loops in these that lanes share">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelMapThreads : Pass<"kernel-map-threads", "::mlir::ModuleOp"> {
  let summary = "Map the loops of stages to the threads of a GPU's blocks";
  let description = [{
    A block of rows is one of threads. Its loops over rows that kernel-map-lanes left become `kernel.threads`: of a loop
    nest of independent loops each element is an iteration, of other loops each row. In a stage that adds rows up a thread has
    all rows of its elements, in order. Barriers stand where a thread reads
    what another one wrote, or replaces what another one reads. Scratch is shared memory if it all fits into 96 KiB, else
    the largest is global. Stages whose blocks are one M tile of the tensor cores may have large-M ones too: the attribute
    `large_m` of the function. The stages of the model itself, which run when it is made, stay as they are. Afterwards the
    others' loops have no `vector`, and all their locals a `memory`.
  }];
  let options = [Option<"realBytes", "real-bytes", "int64_t", "4", "bytes of a number of the emitter's type">];
  let statistics = [
    Statistic<"mappedLoops", "mapped-loops", "Loops that threads share">,
    Statistic<"barriers", "barriers", "Barriers between what threads do">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelPersist : Pass<"kernel-persist", "::mlir::ModuleOp"> {
  let summary = "Find loops over levels or steps that a GPU may run in one launch";
  let description = [{
    Outermost loops that hold launches alone, of stages over rows that the loop itself orders, whose scratch is shared
    memory. All their blocks of threads must be resident at once, and wait for each other behind each stage: a
    `kernel.block_group_barrier`. First each copies those matrices for which shared memory has room beside that scratch: a
    `kernel.first`. Others are launched stage by stage. Afterwards each outermost loop is `persistent`, or its attribute
    `not_persistent_reason` says why not: a `while` drops rows, or another loop stands inside.
  }];
  let statistics = [
    Statistic<"persistentLoops", "persistent-loops", "Loops that may be one launch">,
    Statistic<"residentMatrices", "resident-matrices", "Matrices that are resident in shared memory in such a launch">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelSyncElements : Pass<"kernel-sync-elements", "::mlir::ModuleOp"> {
  let summary = "Find persistent kernels that can synchronise element by element instead of by barriers";
  let description = [{
    Of loops that may be one launch: what a stage writes there and a stage reads there, the buffers `syncs`, must be elements
    of f32, each written once, and each that is read must be one that is written. They get memory of their own where
    something else was written in theirs before. Of the other loops the attribute `barrier_reason` says why blocks need
    barriers: integers are passed between them, what a check finds wrong or what was computed before may lead to rows that
    nobody writes, or a product that is not on the tensor cores would wait for each of its elements by itself. Afterwards
    each loop that may be one launch has `syncs` or `barrier_reason`.
  }];
  let statistics = [
    Statistic<"syncedLoops", "synced-loops", "Loops whose blocks wait for the elements that they need">,
    Statistic<"unaliasedBuffers", "unaliased-buffers", "Buffers that got memory of their own">];
  let options = [Option<"realBytes", "real-bytes", "int64_t", "4", "bytes of a number of the emitter's type">];
}

def KernelGraph : Pass<"kernel-graph", "::mlir::ModuleOp"> {
  let summary = "Find programs that a GPU may run as one graph of launches";
  let description = [{
    Which stages are launched, and how often, must follow from the number of levels and steps alone: then one graph serves
    all batches that have as many. Others are launched one by one. Afterwards each program's run has `graph`, or its
    `no_graph_reason` says why not: a `while` drops rows, a loop stands in another one, a library computes a product,
    which asks the host for the number of rows, or a run may want no gradients.
  }];
  let statistics = [Statistic<"graphs", "graphs", "Programs that may run as one graph">];
}

def KernelShareStages : Pass<"kernel-share-stages", "::mlir::ModuleOp"> {
  let summary = "Find stages that several programs have, so that they are printed once";
  let description = [{
    Entries and losses of a model often run the same recursion. A stage is the same as one of a program before if name and
    body are equal, and all arrays that it names have equal declarations in both programs. Not shared, but on a GPU, are
    stages that may fail an input, for the position of a failure in the order of evaluation is the entry's, and those that
    find their rows by the levels of a group. A persistent loop is the same as one of a program before if it launches the
    same stages.
    ```mlir
    kernel.program @sentiment ... { kernel.func stage @stage.encode.Node(...) { ... } }
    kernel.program @nll ... { kernel.func stage @stage.encode.Node(...) { ... } }
    ==>
    kernel.program @nll ... { kernel.func stage @stage.encode.Node(...) attributes {same_as = @sentiment::@stage.encode.Node} { ... } }
    ```
    Afterwards each stage that can be printed once has the attribute `same_as`, but the first one of its kind; so has each
    persistent loop.
  }];
  let options = [Option<"device", "device", "bool", "false", "Whether a GPU computes the stages">];
  let statistics = [Statistic<"sharedStages", "shared-stages", "Stages that are the same as one before">,
                    Statistic<"sharedLoops", "shared-loops", "Persistent loops that are the same as one before">];
}

#endif // DBC_PASSES
