// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Passes on `batch`, in the order of the pipeline. One file a pass, named as its flag.

#ifndef DBC_PASSES_BATCH
#define DBC_PASSES_BATCH

include "mlir/Pass/PassBase.td"

def BatchRematerialiseGathers : Pass<"batch-rematerialise-gathers", "::mlir::ModuleOp"> {
  let summary = "Gather rows of parameters again where they are used";
  let description = [{
    Afterwards a buffer that holds nothing but a `dyn.gather` of a parameter, not `checked`, at an index that is a
    `batch.read_index` or a buffer of the same index set, is not read by other stages over that index set: they gather the
    row themselves. A matrix for each row would be moved through memory otherwise, and products with it could not use packed
    weights. Stages over other index sets, as of a scan in a layer that data chooses, get the index of a matrix by their relation in
    place of the matrix.
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
  let summary = "Nest the stages in `kernel.levels` and `kernel.steps` and say which index sets run by time step";
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
    kernel.levels @group { batch.stage @s over @S { %x = batch.gather @h via @rel.S.left carried @group  %y = tanh %x  write %y, @t } }
    ==>
    batch.transpose @of.S.left of @rel.S.left
    kernel.levels @group reverse { batch.stage @S.adjoint over @S role adjoint {
      %y = batch.read @t  %a = batch.read @S.t.adjoint  %c = %a * (1 - %y * %y)  write %c, @S.h.adjoint } ... }
    ```
    Stands behind batch-assign-levels, which it needs, and before batch-fuse, which makes few stages of many. Afterwards each
    loss has a `kernel.gradient` for each parameter that it depends on, and a `kernel.input_gradient` for each field or argument
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
    or holds a result of the program.
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
    Afterwards no loop in a `concurrent` touches what another one in it writes, and no input fails in one.
  }];
  let statistics = [Statistic<"concurrentLoops", "concurrent-loops", "Loops that may run at the same time as others">];
}

def BatchPlanSteps : Pass<"batch-plan-steps", "::mlir::ModuleOp"> {
  let summary = "Keep of a recursion's buffers the rows of the last time steps alone, where no other ones are read later";
  let description = [{
    A buffer that is written and read in one outermost `kernel.levels` gets `live`, the number of levels whose rows are kept:
    one where each level reads its own rows alone, as messages are; more where rows of earlier levels are read, and each read
    is of rows that lie a constant number of levels back (`ago`). That is known of one cell whose calls all lower a secondary
    key, an integer: the instances of a level are then those of one value of the key (`level_key` of the group). Behind the
    loop rows of the last level may be read: through calls with the greatest key that there is. A stage without products that
    writes some of the rows before the loop moves into it. Afterwards each read of such a buffer that its loop carries has
    `ago`.
    ```mlir
    kernel.buffer @state.h over @state : f32
    batch.stage @state.copy over @state.then { ... scatter %x, @state.h via @rel.parent }
    kernel.levels @state.group { batch.stage @state over @state.else { %h = gather @state.h via @rel.s carried @state.group  ... scatter %y, @state.h via @rel.parent } }
    ==>
    kernel.buffer @state.h over @state : f32 live 2
    kernel.levels @state.group {
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
    Afterwards each buffer has storage, but for results, gradients among them, and what is computed when the model is made; buffers of one storage
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

#endif // DBC_PASSES_BATCH
