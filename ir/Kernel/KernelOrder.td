// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Operations that say what runs when: of a schedule, and of a run. Part of Kernel.td.

#ifndef DBC_KERNEL_ORDER
#define DBC_KERNEL_ORDER

//===-- Order -------------------------------------------------------------------------------------------------===//

def Kernel_ScheduleOp : Kernel_Op<"schedule", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Structure in, index arrays out: which structure functions run, in order";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}
def Kernel_RunOp : Kernel_Op<"run", [HasParent<"ProgramOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "The stages, in order";
  let description = [{
    `graph`: on a GPU all launches may be one graph, the same for all batches with as many levels and steps. Else
    `no_graph_reason` says why not.
  }];
  let arguments = (ins UnitAttr:$graph, OptionalAttr<StrAttr>:$no_graph_reason);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, /*graph=*/nullptr, /*no_graph_reason=*/nullptr); }]>];
  let assemblyFormat = "(`graph` $graph^)? $body attr-dict";
}
def Kernel_StartOp : Kernel_UserOp<"start", [HasParent<"ScheduleOp">]> {
  let summary = "Calls a `roots` function for each input that has not failed; finds all instances that they need";
  let arguments = (ins FlatSymbolRefAttr:$func);
  let assemblyFormat = "$func attr-dict";
}
def Kernel_SortOp : Kernel_UserOp<"sort", [HasParent<"ScheduleOp">]> {
  let summary = "Sorts the instances of a group by level and arm: sets the rows of its `instances` index sets";
  let arguments = (ins FlatSymbolRefAttr:$group);
  let assemblyFormat = "$group attr-dict";
}
def Kernel_IndexOp : Kernel_UserOp<"index", [HasParent<"ScheduleOp">]> {
  let summary = "Calls an `index` function for each row of its index set, in order";
  let arguments = (ins FlatSymbolRefAttr:$func);
  let assemblyFormat = "$func attr-dict";
}
def Kernel_TimeStepsOp : Kernel_UserOp<"time_steps", [HasParent<"ScheduleOp">]> {
  let summary = "Finds the row ranges of an index set's time steps";
  let description = [{
    For an index set of kind `steps`: time steps are pairs (time step of the owner in the parent, step), numbered one after
    the other; makes the order list. Without `nested` all owners belong to one time step. For other index sets that run
    `by_time_step`: the time steps of the parent's rows.
  }];
  let arguments = (ins FlatSymbolRefAttr:$index_set, UnitAttr:$nested);
  let assemblyFormat = "(`nested` $nested^)? $index_set attr-dict";
}
def Kernel_TransposeOp : Kernel_UserOp<"transpose", [ParentOneOf<["ScheduleOp", "RunOp", "GradientsOp"]>]> {
  let summary = "Sorts the rows of an index set by what an index array says: makes an index set of kind `transpose`";
  let description = [{
    `to` is the index set whose rows the index array names; one of kind `distinct` is made before. By counting sort, so equal
    ones stay in order, or in that of `order`, an index set of kind `by_input` that has all rows of `from`. In a run it may go
    by `numbers`, a buffer over `from` with numbers that an index set of kind `distinct` is made of, in place of an index array.
  }];
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefAttr:$from, OptionalAttr<StrAttr>:$index_array,
                       OptionalAttr<FlatSymbolRefAttr>:$numbers, FlatSymbolRefAttr:$to, OptionalAttr<FlatSymbolRefAttr>:$order);
  let assemblyFormat = "$index_set `=` $from ($index_array^)? (`numbers` $numbers^)? `to` $to (`ordered_by` $order^)? attr-dict";
}
def Kernel_SortByInputOp : Kernel_UserOp<"sort_by_input", [HasParent<"ScheduleOp">]> {
  let summary = "Puts the rows of an index set in the order of the inputs: makes an index set of kind `by_input`";
  let description = [{
    Those of an input are in the order of its nodes, those of a node in their own. By counting sort. `path` are the index sets
    from the rows to the instances of a recursion: the first index array of each names the row of the next one, that of the
    last the node, or the input. Empty: the rows lie in this order.
    ```mlir
    kernel.index_set by_input @encode.Node.by_input in @encode.Node []
    kernel.sort_by_input @encode.Node.by_input along [@encode.Node, @encode]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefArrayAttr:$path);
  let assemblyFormat = "$index_set `along` $path attr-dict";
}
def Kernel_DistinctOp : Kernel_UserOp<"distinct", [ParentOneOf<["ScheduleOp", "RunOp", "GradientsOp"]>]> {
  let summary = "Collects the numbers that index arrays hold: makes an index set of kind `distinct`";
  let description = [{
    Index array number i is one of index set number i of `from`; all its numbers are below the extent. Index array number i of
    `rows`, of the same index set, gets the rows of these numbers. In a run there may be
    `numbers` too, buffers of i32; of these, numbers that are not below the extent, or below 0, make no row. `always` are
    numbers that it has in any case. In time that grows with the numbers that they hold, not with the extent.
    ```mlir
    kernel.index_set arm @encode.Leaf in @encode ["parent", "word", "word.row"]
    kernel.index_set distinct @E.rows ["row"] extent 20000
    kernel.distinct @E.rows = [@encode.Leaf] ["word"] rows ["word.row"] always [0]
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefArrayAttr:$from, StrArrayAttr:$index_arrays,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$rows, OptionalAttr<FlatSymbolRefArrayAttr>:$numbers,
                       OptionalAttr<DenseI32ArrayAttr>:$always);
  let assemblyFormat = "$index_set `=` $from $index_arrays (`rows` $rows^)? (`numbers` $numbers^)? (`always` $always^)? attr-dict";
}
def Kernel_LaunchOp : Kernel_UserOp<"launch", [ParentOneOf<["RunOp", "GradientsOp", "LevelsOp", "StepsOp"]>]> {
  let summary = "Runs a stage: over all rows of its index set, or over those of the current time step inside a loop";
  let description = [{
    `active`: of these, over the active ones. With `order`, an index set of kind `by_input` whose parent is the stage's, and
    outside of loops: over all its rows. Which rows a masked one has is found before the launch.
  }];
  let arguments = (ins FlatSymbolRefAttr:$func, UnitAttr:$active, OptionalAttr<FlatSymbolRefAttr>:$order);
  let assemblyFormat = "(`active` $active^)? $func (`ordered_by` $order^)? attr-dict";
}
def Kernel_MaskOp : Kernel_UserOp<"mask", [ParentOneOf<["RunOp", "GradientsOp", "LevelsOp", "StepsOp"]>]> {
  let summary = "Of the rows that a launch here would run over, those are active for which `alive` holds, in their order";
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefAttr:$alive);
  let assemblyFormat = "$index_set `by` $alive attr-dict";
}
class Kernel_TimeStepLoop<string m>
    : Kernel_UserOp<m, [NoTerminator, SingleBlock, NoRegionArguments, Kernel_TimeStepLoopInterface]> {
  let arguments = (ins FlatSymbolRefAttr:$carrier, UnitAttr:$reverse, UnitAttr:$persistent, OptionalAttr<FlatSymbolRefArrayAttr>:$syncs,
                       OptionalAttr<StrAttr>:$not_persistent_reason, OptionalAttr<StrAttr>:$barrier_reason,
                       OptionalAttr<FlatSymbolRefAttr>:$same_as);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$carrier), [{
    $_state.getOrAddProperties<Properties>().carrier = ::mlir::FlatSymbolRefAttr::get($_builder.getContext(), carrier);
    $_state.addRegion();
  }]>];
  let assemblyFormat = "(`persistent` $persistent^)? $carrier (`reverse` $reverse^)? (`syncs` $syncs^)? $body attr-dict";
}
def Kernel_LevelsOp : Kernel_TimeStepLoop<"levels"> {
  let summary = "For each level of a group, in order, or `reverse` from the last one";
}
def Kernel_StepsOp : Kernel_TimeStepLoop<"steps"> {
  let summary = "For each step of a scan, in order, or `reverse` from the last one; inside another loop: the steps that belong to its current time step";
}
def Kernel_FirstOp : Kernel_Op<"first", [ParentOneOf<["LevelsOp", "StepsOp"]>, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "What each block of threads does first in a persistent kernel";
  let description = [{
    Where a GPU has the shared memory for it; else it is left out, and products read their matrices where they are.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
}
def Kernel_CopyAsyncOp : Kernel_UserOp<"copy_async", [HasParent<"FirstOp">]> {
  let summary = "Begins to copy a matrix into shared memory, where it is resident for the loop";
  let description = [{
    Of a matrix in tiles that blocks share the tile that the block computes. Products of the loop read the copy, which begins at
    byte `offset`, behind the scratch of the loop's stages. It is there behind kernel.wait_copies, for the thread, and behind a
    kernel.barrier after that, for the block.
  }];
  let arguments = (ins FlatSymbolRefAttr:$weights, Kernel_Bytes:$offset);
  let assemblyFormat = "$weights `to` $offset attr-dict";
}
def Kernel_WaitCopiesOp : Kernel_Op<"wait_copies", [HasParent<"FirstOp">]> {
  let summary = "Until all copies are there that the thread began";
  let assemblyFormat = "attr-dict";
}
def Kernel_BlockGroupBarrierOp : Kernel_Op<"block_group_barrier", [ParentOneOf<["LevelsOp", "StepsOp"]>]> {
  let summary = "In a persistent kernel: the blocks of threads that have the same inputs wait for each other";
  let description = "All blocks of the launch, or a group of them to which some inputs were distributed; groups do not wait for each other.";
  let assemblyFormat = "attr-dict";
}
def Kernel_ConcurrentOp : Kernel_UserOp<"concurrent", [NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Its loops need nothing of one another, and no input fails in them: they may run at the same time";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

def Kernel_GradientsOp : Kernel_Op<"gradients", [HasParent<"RunOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "Launches and loops that a run leaves out where no gradients are wanted: no result needs what they write";
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasVerifier = 1;
}

#endif // DBC_KERNEL_ORDER
