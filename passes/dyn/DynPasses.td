// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Passes on `dyn`, in the order of the pipeline. One file a pass, named as its flag.

#ifndef DBC_PASSES_DYN
#define DBC_PASSES_DYN

include "mlir/Pass/PassBase.td"

def DynUnrollFolds : Pass<"dyn-unroll-folds", "::mlir::ModuleOp"> {
  let summary = "Write folds over layers out, so that each layer is parameters of its own";
  let description = [{
    A fold over a range whose bounds the source says, without `while`, in which a matrix of a parameter is chosen by the range's
    number, as in `fold(l in blocks, y = x) l(y)`, becomes its rounds, one behind the other, if they are not too many. A matrix
    at a constant is cut out of its parameter. Afterwards products with such matrices are like those with a parameter.
    ```mlir
    %n = dyn.range %c0 to %c2
    %y = dyn.fold(%n) from (%x) { ^bb0(%l, %y): %w = dyn.gather %W[%l]  dyn.yield product(%w, %y) }
    ==>
    %w0 = tensor.extract_slice %W[0, 0, 0] [1, 8, 8] [1, 1, 1]  %y0 = product(%w0, %x)
    %w1 = tensor.extract_slice %W[1, 0, 0] [1, 8, 8] [1, 1, 1]  %y = product(%w1, %y0)
    ```
  }];
  let statistics = [
    Statistic<"unrolledFolds", "unrolled-folds", "Folds that are written out">,
    Statistic<"slicedMatrices", "sliced-matrices", "Matrices at constants that are cut out of their parameters">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

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

def DynHoistCaptured : Pass<"dyn-hoist-captured", "::mlir::ModuleOp"> {
  let summary = "Compute once outside a recursion what uses only captured arguments that do not change in it (manual, C4)";
  let description = [{
    Work as in dyn-hoist, of captured arguments that every call inside the recursion passes on unchanged, where entries alone call
    it: numbers and maps are computed before these calls, once for calls that give the same, and captured in their place.
    ```mlir
    dyn.cell @decode(%t, %m captured) { ... dyn.match %t { ... %k = dyn.map (%m) { ^bb0(%y): contract(%K, %y) } ... } }
    dyn.entry @e(%t, %m) { dyn.call @decode(%t) captured (%m) }
    ==>
    dyn.cell @decode(%t, %k captured) { ... dyn.match %t { ... %k ... } }
    dyn.entry @e(%t, %m) { %k = dyn.map (%m) { ^bb0(%y): contract(%K, %y) }  dyn.call @decode(%t) captured (%k) }
    ```
    It leaves an arm of a match or if, too, that stands in no other, where the cell is recursive or called for each element of a
    list: some instance takes most arms. What may fail an input stays, and so do what has a list whose length is computed, recursions of more than 16 cells, and cells with
    more than 16 such values.

    Afterwards no captured argument is only passed on.
  }];
  let statistics = [Statistic<"hoistedValues", "hoisted-values", "Values that are captured in place of what they are made of">];
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
    stays 0: where there are none, what it would be divided by, or multiplied with if that may be infinite, is 1, and an
    addend of all elements that may be infinite is 0. Parameters that are trained are taken to be finite.
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

#endif // DBC_PASSES_DYN
