// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Passes on `kernel`, in the order of the pipeline. One file a pass, named as its flag.

#ifndef DBC_PASSES_KERNEL
#define DBC_PASSES_KERNEL

include "mlir/Pass/PassBase.td"

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

def KernelForwardRows : Pass<"kernel-forward-rows", "::mlir::ModuleOp"> {
  let summary = "Find the rows of operands in index arrays, not in a copy of their numbers";
  let description = [{
    For a GPU, whose threads read a number as soon from the index array as from the memory that a block shares: the copy costs
    a wait of all threads.
    ```mlir
    %rows = kernel.local
    kernel.for %zero to %count { ^bb0(%i): %r = kernel.load @set "left"[%first + %i]  kernel.write %r, %rows[%i] }
    %x = kernel.rows @h via %rows
    ==>
    %x = kernel.rows @h through @set "left" from %first
    ```
    Afterwards no local is left that is such a copy and nothing else, for all rows of a block of rows.
  }];
  let statistics = [Statistic<"forwardedRows", "forwarded-rows", "Copies of row numbers that are gone">];
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
    others' loops have no `vector`, and all their locals that are used a `memory` and an `offset`.
  }];
  let options = [Option<"realBytes", "real-bytes", "int64_t", "4", "bytes of a number of the emitter's type">];
  let statistics = [
    Statistic<"mappedLoops", "mapped-loops", "Loops that threads share">,
    Statistic<"barriers", "barriers", "Barriers between what threads do">];
  let dependentDialects = ["::dbc::kernel::KernelDialect"];
}

def KernelPadRows : Pass<"kernel-pad-rows", "::mlir::ModuleOp"> {
  let summary = "Let the rows of a GPU's buffers begin where four numbers are read at once";
  let description = [{
    Rows of 16 numbers or more get a `stride` that is a multiple of 4. Gradients lie as whoever asked for them has them, and what is
    computed when the model is made lies as the host has it. Afterwards all other such rows begin at multiples of four numbers.
  }];
  let statistics = [Statistic<"paddedBuffers", "padded-buffers", "Buffers with room between their rows">];
}

def KernelPersist : Pass<"kernel-persist", "::mlir::ModuleOp"> {
  let summary = "Find loops over levels or steps that a GPU may run in one launch";
  let description = [{
    Outermost loops that hold launches alone, of stages over rows that the loop itself orders, whose scratch is shared
    memory. All their blocks of threads must be resident at once, and wait for each other behind each stage: a
    `kernel.block_group_barrier`. First each copies those matrices for which shared memory has room beside that scratch: a
    `kernel.first`. Others are launched stage by stage. Afterwards each outermost loop is `persistent`, or its attribute
    `not_persistent_reason` says why not: a `while` drops rows, another loop stands inside, a stage runs over rows that the loop
    does not order, or its scratch is too large for shared memory.
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

def KernelPlanSlots : Pass<"kernel-plan-slots", "::mlir::ModuleOp"> {
  let summary = "Say where instances of cells have their slots, and which are of nodes that are alike";
  let description = [{
    The only secondary key of a cell is `fixed` where its range is the same for every node, and short: each node then has a slot
    for each value, and none is looked for. A group is `shared` where its `of_fields` and such slots let nodes that are alike share
    instances, and where nobody asks of a node by itself: for its gradient, or whether it was called. Afterwards no other range of
    constants is of up to 16 values and its cell's only secondary key, and no other group may be shared.
  }];
  let statistics = [
    Statistic<"fixedKeys", "fixed-keys", "Keys for whose values each node has slots">,
    Statistic<"sharedGroups", "shared-groups", "Groups whose instances nodes that are alike may share">];
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

#endif // DBC_PASSES_KERNEL
