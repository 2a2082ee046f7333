// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Operations within functions: of the structure, and of stages. Part of Kernel.td.

#ifndef DBC_KERNEL_FUNCTIONS
#define DBC_KERNEL_FUNCTIONS

//===-- Functions ---------------------------------------------------------------------------------------------===//

def Kernel_FuncOp : Kernel_UserOp<"func", [Symbol, SingleBlock, NoTerminator]> {
  let summary = "A function of the program";
  let description = [{
    | kind | arguments | called for |
    |---|---|---|
    | `roots` | the input's number | each input that has not failed |
    | `calls` | the node (or input), secondary keys | each instance when it is discovered; adds its calls |
    | `index` | the row, its node (or input), secondary keys | each row of `index_set`, in order; pushes rows of nested index sets |
    | `slot` | the node (or input), secondary keys | each call of a cell with secondary keys; yields the instance's slot |
    | `stage` | begin, end | a range of rows of `index_set` (of its order list where it runs `by_time_step` of a scan) |
    | `stage` with `tiles` | begin, end, tile_begin, tile_end | these tiles of these rows: all tiles make the stage, in any order, but on a CPU the last one behind the one before, by one thread; a GPU's blocks compute what both have twice, alike |
    `doc` lines are printed as the function's comment. `blas`: it is one product, which a GPU leaves to a library. `tiles`:
    how many there are (absent: 1). `sums`: it adds rows up, in their order, so all of them are one thread's, which may have some
    of the tiles; on a GPU a block has a tile and, with `slices`, one of these slices of the rows. `clears`: all that it does is to
    make its rows of these buffers 0. `large_m`: on a GPU a launch of many rows may have blocks of kLargeMRows instead, with
    scratch for them. `most_blocks`: a launch has no more blocks of a GPU's threads, as each has scratch in global memory.
    `grain`: the number of rows that are worth a thread. `work` and, of each list's element, `elements` are for the profile.
    `same_as`: a stage of a program before, which computes the same of arrays that are called and look the same there (set by
    kernel-share-stages). `backward`: a stage of the backward pass, which computes gradients, or again what they need. `scratch`:
    bytes of its thread's scratch that a stage needs on a CPU (set by kernel-plan-scratch).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Kernel_FuncKindAttr:$kind,
      OptionalAttr<FlatSymbolRefAttr>:$index_set, OptionalAttr<StrArrayAttr>:$doc, UnitAttr:$blas, OptionalAttr<I64Attr>:$tiles,
      UnitAttr:$large_m, UnitAttr:$sums, OptionalAttr<I64Attr>:$grain, OptionalAttr<Kernel_WorkAttr>:$work,
      OptionalAttr<TypedArrayAttrBase<Kernel_ElementsAttr, "elements of lists">>:$elements, OptionalAttr<SymbolRefAttr>:$same_as,
      UnitAttr:$backward, OptionalAttr<Kernel_Bytes>:$scratch, OptionalAttr<Kernel_SlicesAttr>:$slices,
      OptionalAttr<FlatSymbolRefArrayAttr>:$clears, OptionalAttr<Kernel_Positive>:$most_blocks);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "FuncKind":$kind, "::mlir::FlatSymbolRefAttr":$indexSet,
                                 "::mlir::ArrayAttr":$doc), [{
    auto &properties = $_state.getOrAddProperties<Properties>();
    properties.sym_name = $_builder.getStringAttr(name);
    properties.kind = FuncKindAttr::get($_builder.getContext(), kind);
    properties.index_set = indexSet;
    properties.doc = doc;
    $_state.addRegion();
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// What a stage is called in reports: its symbol without "stage.".
    ::llvm::StringRef getStageName();
    /// Slices of the rows that it adds up, at most; 1: they are not cut.
    int64_t getSliceCount();
  }];
  let hasVerifier = 1;
}
def Kernel_YieldOp : Kernel_Op<"yield", [Pure, Terminator,
    ParentOneOf<["FuncOp", "ForOp", "IfOp", "BlocksOp", "ThreadsOp", "WarpsOp", "LanesOp", "KeyOp"]>]> {
  let summary = "The values of a region";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===-- Control flow ------------------------------------------------------------------------------------------===//

def Kernel_ForOp : Kernel_Op<"for", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A counted loop, in order";
  let description = [{
    The block's arguments are the counter (i32) and the carried values, of which it yields the next. `vector` says that
    iterations are independent and consecutive in memory, so the loop may run in vectors.
    ```mlir
    %sum = kernel.for %k = %lo to %hi carry (%zero) : (f32) { ^bb0(%k: i32, %acc: f32): ... kernel.yield %next : f32 }
    ```
  }];
  let arguments = (ins I32:$low, I32:$high, Variadic<Kernel_Scalar>:$init, UnitAttr:$vector);
  let results = (outs Variadic<Kernel_Scalar>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`vector` $vector^)? $low `to` $high (`carry` `(` $init^ `)` `:` `(` type($init) `)`)? attr-dict-with-keyword (`->` `(` type($results)^ `)`)? $body";
  let hasVerifier = 1;
}
def Kernel_IfOp : Kernel_Op<"if", [SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "One of two regions; both yield the results";
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<Kernel_Scalar>:$results);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "$condition attr-dict-with-keyword (`->` `(` type($results)^ `)`)? $then `else` $otherwise";
  let hasVerifier = 1;
}
def Kernel_BlocksOp : Kernel_Op<"blocks", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Rows begin .. end - 1 in blocks of at most `size`";
  let description = "The block's arguments are the first row of the block and the number of its rows.";
  let arguments = (ins I32:$begin, I32:$end, Kernel_Positive:$size);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$begin `to` $end `by` $size attr-dict-with-keyword $body";
  let hasVerifier = 1;
}

def Kernel_ThreadsOp : Kernel_Op<"threads", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Iterations 0 .. count - 1, which the threads of a GPU's block share, in any order";
  let description = [{
    The block's argument is the number of the iteration. What stands around it in `kernel.blocks` is done by all threads of
    the block alike: they compute the same integers, take the same loops, and meet at its barriers and in its products.
  }];
  let arguments = (ins I32:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def Kernel_BarrierOp : Kernel_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The threads of a GPU's block wait for each other, and see what each wrote before";
  let assemblyFormat = "attr-dict";
}

//===-- Warps and their lanes ---------------------------------------------------------------------------------===//

def Kernel_WarpsOp : Kernel_Op<"warps", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "Iterations 0 .. count - 1, which the warps of a GPU's block share, in any order";
  let description = [{
    The block's argument is the number of the iteration. The 32 lanes of a warp do what stands in it alike, and take the same
    branches, but share the loops `kernel.lanes`. What is written, or found to be wrong, outside of these, the first lane writes.
    Lanes do not wait for each other's writes: none reads in an iteration what another one wrote in it.
  }];
  let arguments = (ins I32:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
  let hasVerifier = 1;
}
def Kernel_LanesOp : Kernel_Op<"lanes", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "A loop low .. high - 1, whose iterations the lanes of a warp share";
  let description = [{
    Lane l does iterations low + l, low + l + 32, ... in this order. It may carry a value, from `init` on, which is 0 where
    values are added. What the lanes have in the end is combined `by` an operation: of each lane with that of the lane
    whose number has another bit of value 16, then 8, 4, 2 and 1. All lanes have the result. The order of a sum follows from
    `low` and `high` alone; of equal maxima or minima the result is `init`, or that of the first iteration, as in a loop.
    ```mlir
    %sum = kernel.lanes %lo to %hi carry (%zero) by add : f32 -> f32 { ^bb0(%k: i32, %acc: f32): ... kernel.yield %next : f32 }
    ```
  }];
  let arguments = (ins I32:$low, I32:$high, Optional<Kernel_Scalar>:$init, OptionalAttr<Kernel_CombineAttr>:$combine);
  let results = (outs Optional<Kernel_Scalar>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$low `to` $high (`carry` `(` $init^ `)` `by` $combine `:` type($init))? attr-dict-with-keyword (`->` type($result)^)? $body";
  let hasVerifier = 1;
}

//===-- Memory ------------------------------------------------------------------------------------------------===//

def Kernel_LoadOp : Kernel_UserOp<"load", [MemoryEffects<[MemRead]>, DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "One scalar of an array";
  let description = [{
    `array` is a buffer, field, argument or parameter; with `index_array` it is an index set, of which that array is read.
    Indices: the row, then one an axis of the row's shape. (A parameter's row is its first axis.) Elements lie in row-major
    order, and an index may run beyond its axis, into the next row of that axis: the offset counts. So it is of locals.
  }];
  let arguments = (ins FlatSymbolRefAttr:$array, OptionalAttr<StrAttr>:$index_array, Variadic<I32>:$indices);
  let results = (outs Kernel_Scalar:$result);
  let assemblyFormat = "$array ($index_array^)? `[` $indices `]` attr-dict `:` type($result)";
}
def Kernel_WindowOp : Kernel_UserOp<"window", [Pure]> {
  let summary = "What a row number is lowered by where a buffer keeps the rows of the last `live` levels";
  let description = "For the rows of the level `ago` levels before the current one; behind the loop the current one is the last.";
  let arguments = (ins FlatSymbolRefAttr:$index_set, ConfinedAttr<I32Attr, [IntPositive]>:$live,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$ago);
  let results = (outs I32:$first);
  let assemblyFormat = "$index_set `live` $live `ago` $ago attr-dict";
}
def Kernel_StoreOp : Kernel_UserOp<"store", [MemoryEffects<[MemWrite]>, DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "Writes one scalar of a buffer";
  let arguments = (ins Kernel_Scalar:$value, FlatSymbolRefAttr:$array, Variadic<I32>:$indices);
  let assemblyFormat = "$value `,` $array `[` $indices `]` attr-dict `:` type($value)";
}
def Kernel_LocalOp : Kernel_Op<"local", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Scratch of the running thread, unset; with `memory` that of a GPU's block of threads";
  let description = [{
    `offset` says at which byte it begins: on a CPU of the thread's scratch (absent: it is on the stack), on a GPU of the
    block's memory of this kind (set by kernel-map-threads), and `large_m` where that is in large-M tiles.
  }];
  let arguments = (ins OptionalAttr<Kernel_MemoryAttr>:$memory, OptionalAttr<Kernel_Bytes>:$offset, OptionalAttr<Kernel_Bytes>:$large_m);
  let results = (outs Kernel_Local:$result);
  let builders = [OpBuilder<(ins "LocalType":$type), [{
    build($_builder, $_state, type, MemoryAttr(), /*offset=*/::mlir::IntegerAttr(), /*large_m=*/::mlir::IntegerAttr());
  }]>];
  let assemblyFormat = "(`in` $memory^)? (`offset` $offset^)? (`large_m` $large_m^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}
def Kernel_ReadOp : Kernel_Op<"read", [MemoryEffects<[MemRead]>]> {
  let summary = "One scalar of a local";
  let arguments = (ins Kernel_Local:$local, Variadic<I32>:$indices);
  let results = (outs Kernel_Scalar:$result);
  let assemblyFormat = "$local `[` $indices `]` attr-dict `:` type($local) `->` type($result)";
  let hasVerifier = 1;
}
def Kernel_WriteOp : Kernel_Op<"write", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes one scalar of a local";
  let arguments = (ins Kernel_Scalar:$value, Kernel_Local:$local, Variadic<I32>:$indices);
  let assemblyFormat = "$value `,` $local `[` $indices `]` attr-dict `:` type($value) `,` type($local)";
  let hasVerifier = 1;
}
def Kernel_RowsOp : Kernel_UserOp<"rows", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "Where the rows of a product's operand lie";
  let description = [{
    Row i of the block is row `via`[i] of `array` (a buffer, field, argument or parameter of f32), or row `from` + i where
    there is no `via`, or the row that an index array names at row `from` + i of its index set (`through`, set by
    kernel-forward-rows); or row i of the local. It starts at element `offset` of that row. With `copy` the rows of an operand are
    first copied there, as numbers of the function's type: an input's are float where arithmetic is double.
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$array, Optional<Kernel_Local>:$via, Optional<I32>:$from,
                       Optional<Kernel_Local>:$local, Optional<Kernel_Local>:$copy,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$offset, OptionalAttr<FlatSymbolRefAttr>:$index_set,
                       OptionalAttr<StrAttr>:$index_array);
  let results = (outs Kernel_Rows:$result);
  let assemblyFormat = "($array^)? (`through` $index_set^ $index_array)? (`via` $via^ `:` type($via))? (`from` $from^)? (`local` $local^ `:` type($local))? (`copy` $copy^ `:` type($copy))? `at` $offset attr-dict";
  // Not through an index array.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::FlatSymbolRefAttr":$array, "::mlir::Value":$via,
                                 "::mlir::Value":$from, "::mlir::Value":$local, "::mlir::Value":$copy, "int64_t":$offset), [{
    build($_builder, $_state, result, array, via, from, local, copy, $_builder.getI64IntegerAttr(offset),
          /*index_set=*/::mlir::FlatSymbolRefAttr(), /*index_array=*/::mlir::StringAttr());
  }]>];
  let extraClassDeclaration = [{
    /// Whether a product writes there.
    bool isWritten();
  }];
  let hasVerifier = 1;
}
def Kernel_ProductOp : Kernel_UserOp<"product", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Rows times packed weights";
  let description = [{
    into[i][o] = init[o] + sum over k in order of x[i][k] * weights[o][k]; x[i] is made of the segments `x`, of the given
    lengths, one after the other. One accumulator an output, k in order. `init` is that of the weights.
    With `table` (weights with tables) row i uses matrix table[i]. With `some` x[i] is zeros where some[i] is 0 (a sum of
    nothing), and into[i] may be `init` without multiplying. Without `tile` all outputs are computed: the weights have no gates, or one whose
    tiles do not overlap. With `tile` (weights with gates) only the outputs of that tile are computed: into[i][g][j] is gate g of the tile's channel number j. The last tile may take what the one
    before has from `into`: `tile` is the counter of a loop in which nothing else writes there.
    With `sums` (weights with a contract) the order of additions is the contract's, and the warps of a GPU's block of threads
    add up there. `large_m_tiles`: in blocks of the function's `large_m` rows so many tiles of the stage are computed at once
    into as many arrays, before what else is done for each tile. With `relu`, its epilogue, it writes relu of the sums of
    one matrix. Where `into` are `kernel.rows` it writes rows of a buffer. Neither is of tiles, or for a GPU.
  }];
  let arguments = (ins I32:$count, Variadic<Kernel_Rows>:$x, DenseI64ArrayAttr:$lengths, FlatSymbolRefAttr:$weights,
      Optional<Kernel_Local>:$table, Optional<Kernel_Local>:$some, Optional<I32>:$tile, Optional<Kernel_Local>:$sums,
      AnyTypeOf<[Kernel_Local, Kernel_Rows]>:$into, UnitAttr:$relu, OptionalAttr<Kernel_Positive>:$large_m_tiles);
  let assemblyFormat = "$count `rows` `(` $x `)` $lengths `with` $weights (`table` $table^ `:` type($table))? (`some` $some^ `:` type($some))? (`tile` $tile^)? (`sums` $sums^ `:` type($sums))? (`relu` $relu^)? `into` $into `:` type($into) attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The type of the scratch that it writes to.
    LocalType getIntoType() { return ::mlir::cast<LocalType>(getInto().getType()); }
  }];
}

def Kernel_MultiplyOp : Kernel_UserOp<"multiply", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "A product of two matrices of one row of the block";
  let description = [{
    into[row][i][j] = sum over k in order of a[i][k] * b[k][j] for i below `height` and j below `outputs`; vectors are matrices
    of one row or one column. b's rows k are those of the operands `b`, of which each has `lengths` of them, one behind the
    other. The block has `count` rows. On a CPU b is packed into `memory` (given by kernel-plan-scratch).
  }];
  let arguments = (ins I32:$row, I32:$count, Kernel_Rows:$a, Kernel_Positive:$height, Variadic<Kernel_Rows>:$b,
                       DenseI64ArrayAttr:$lengths, Kernel_Positive:$outputs, Optional<Kernel_Local>:$memory, Kernel_Local:$into);
  let assemblyFormat = "$row `of` $count `rows` $a `height` $height `by` `(` $b `)` $lengths `outputs` $outputs (`memory` $memory^ `:` type($memory))? `into` $into attr-dict `:` type($into)";
  let hasVerifier = 1;
}

def Kernel_OuterOp : Kernel_UserOp<"outer", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>,
    DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "Adds the outer products of the rows of a block to the one row of a buffer over the batch";
  let description = [{
    into[0][i][j] += sum over the block's rows r in order of a[r][i] * x[r][j], for i below `height` and j below `outputs`; rows
    of which a or x is all zeros add nothing. The block has `count` rows, at most `most`. With `tiles`, the bounds of the
    tiles that its function is asked for, only their share of the rows i. On a CPU both are packed into `memory` (given by
    kernel-plan-scratch). On a GPU tiles are of 64 times 64 numbers, and with `instruction` (given by kernel-tensor-cores) the
    tensor cores add in an order of their own, in `memory` that threads share (given by kernel-map-threads). With `bias`
    (given by kernel-split-sums) bias[0][i] += sum over the rows r of a[r][i], too.
  }];
  let arguments = (ins I32:$count, Kernel_Positive:$most, Kernel_Rows:$a, Kernel_Positive:$height, Kernel_Rows:$x,
                       Kernel_Positive:$outputs, FlatSymbolRefAttr:$into, Variadic<I32>:$tiles, Optional<Kernel_Local>:$memory,
                       OptionalAttr<FlatSymbolRefAttr>:$bias, OptionalAttr<Kernel_InstructionAttr>:$instruction);
  let assemblyFormat = "$count `of` $most `rows` $a `height` $height `by` $x `outputs` $outputs (`memory` $memory^ `:` type($memory))? `into` $into (`bias` $bias^)? (`on` $instruction^)? (`tiles` `(` $tiles^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def Kernel_GemmOp : Kernel_UserOp<"gemm", [MemoryEffects<[MemRead, MemWrite]>, DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "Rows of an array times a matrix, by a library of the GPU's vendor";
  let description = [{
    Rows begin .. end - 1: to[row][o] = sum over k of from[row][k] * weights[o][k], in the library's order, which may depend on
    the number of rows; the `init` of the weights, if there is one, is added to the sum. It is all that its function does, and
    begun by the host. With `tf32` operands may be cut to 11 bits, else they are never.
  }];
  let arguments = (ins I32:$begin, I32:$end, FlatSymbolRefAttr:$from, FlatSymbolRefAttr:$weights, FlatSymbolRefAttr:$to,
                       UnitAttr:$tf32);
  let assemblyFormat = "$begin `to` $end `rows` $from `with` $weights `into` $to (`tf32` $tf32^)? attr-dict";
}

//===-- Structure ---------------------------------------------------------------------------------------------===//

def Kernel_CountOp : Kernel_UserOp<"count", [MemoryEffects<[MemRead]>]> {
  let summary = "The number of rows that an index set has so far: the row of the next push";
  let arguments = (ins FlatSymbolRefAttr:$index_set);
  let results = (outs I32:$result);
  let assemblyFormat = "$index_set attr-dict";
}
def Kernel_PushOp : Kernel_UserOp<"push", [MemoryEffects<[MemWrite]>]> {
  let summary = "Adds a row: one value for each index array but those that a kernel.distinct fills";
  let arguments = (ins FlatSymbolRefAttr:$index_set, Variadic<I32>:$values);
  let assemblyFormat = "$index_set `(` $values `)` attr-dict";
}
def Kernel_SetOp : Kernel_UserOp<"set", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sets an element of an index array, at an existing row (of an instances or inputs index set)";
  let arguments = (ins FlatSymbolRefAttr:$index_set, StrAttr:$index_array, I32:$row, I32:$value);
  let assemblyFormat = "$index_set $index_array `[` $row `]` `,` $value attr-dict";
}
def Kernel_ReserveMemoryOp : Kernel_UserOp<"reserve_memory", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Reserves memory for `count` more rows in each of `index_sets`; an input that asks for too much fails here";
  let description = [{
    Stands before loops whose length the size of the input does not bound: over ranges, and over a list once for each of
    several others. Without index sets the rounds of a loop that asks for instances are counted. What rows take is counted
    from the index arrays and buffers of the index sets; what one input may take is the session's to say. `where` is
    "file:line:col" in the source.
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$index_sets, I32:$count, StrAttr:$where);
  let assemblyFormat = "$index_sets $count `at` $where attr-dict";
}
def Kernel_ReserveOp : Kernel_UserOp<"reserve", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Adds `count` rows to an index set of kind `states`; gives the first";
  let arguments = (ins FlatSymbolRefAttr:$index_set, I32:$count);
  let results = (outs I32:$first);
  let assemblyFormat = "$index_set $count attr-dict";
}
def Kernel_InputOp : Kernel_Op<"input", [Pure]> {
  let summary = "The number of the input that a structure function runs for";
  let results = (outs I32:$result);
  let assemblyFormat = "attr-dict";
}
def Kernel_NodeNumberOp : Kernel_UserOp<"node_number", [Pure]> {
  let summary = "A node's number among the nodes of its data type of the input that a structure function runs for";
  let arguments = (ins FlatSymbolRefAttr:$data, I32:$node);
  let results = (outs I32:$result);
  let assemblyFormat = "$data `(` $node `)` attr-dict";
}
def Kernel_SlotOp : Kernel_UserOp<"slot", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The slot of an instance in its cell's table";
  let description = [{
    `func` is the cell's `slot` function; of a cell without a node for a key the input is that of the function this stands
    in. A key outside of its range fails the input, and the function is left. `where` is "file:line:col" of the call.
  }];
  let arguments = (ins FlatSymbolRefAttr:$func, Variadic<I32>:$keys, StrAttr:$where);
  let results = (outs I32:$result);
  let assemblyFormat = "$func `(` $keys `)` `at` $where attr-dict";
}
def Kernel_KeyOp : Kernel_UserOp<"key", [MemoryEffects<[MemRead, MemWrite]>, NoRegionArguments]> {
  let summary = "The slot of one more key: only in `slot` functions";
  let description = [{
    `outer` is the slot of the keys before, `value` the key number `key` behind the first. The region yields the key's
    range (the least, and the one behind the last); it runs when `outer` is met for the first time. A node's range is that
    of the input's nodes of `data`, and the region is empty. `where` is where the key is declared. `fixed`: each node has
    slots for all values of the range, which is constant (set by kernel-plan-slots).
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, I32Attr:$cell, I32Attr:$key, I32:$outer, I32:$value,
                       OptionalAttr<FlatSymbolRefAttr>:$data, UnitAttr:$fixed, StrAttr:$where);
  let regions = (region MaxSizedRegion<1>:$range);
  let results = (outs I32:$result);
  let assemblyFormat = "$group $cell $key `[` $outer `]` `=` $value (`of` $data^)? (`fixed` $fixed^)? `at` $where attr-dict-with-keyword $range";
  let extraClassDeclaration = [{
    /// Its range if that is constant; else nothing.
    ::std::optional<KeyRange> getConstantRange();
  }];
  let hasVerifier = 1;
}
def Kernel_CallOp : Kernel_UserOp<"call", [MemoryEffects<[MemWrite]>]> {
  let summary = "Says that a cell is called";
  let description = [{
    `slot` is the node, or what `kernel.slot` says where the cell has secondary keys. Inside a `calls` function of the same
    group it adds an edge; elsewhere the instance and all that it needs are visited. `from` a relation the instance keeps
    `origin`, where it was called from; another call of it fails the input, and the function is left.
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, I32Attr:$cell, I32:$slot, OptionalAttr<FlatSymbolRefAttr>:$relation,
                       Variadic<I32>:$origin);
  let assemblyFormat = "$group $cell `(` $slot `)` (`from` $relation^ `(` $origin `)`)? attr-dict";
}
def Kernel_CalledByOp : Kernel_UserOp<"called_by", [MemoryEffects<[MemRead]>]> {
  let summary = "Whether it is by a relation that an instance is called";
  let arguments = (ins FlatSymbolRefAttr:$relation, I32:$slot);
  let results = (outs I1:$result);
  let assemblyFormat = "$relation `[` $slot `]` attr-dict";
}
def Kernel_CallerOp : Kernel_UserOp<"caller", [MemoryEffects<[MemRead]>]> {
  let summary = "One of the values that an instance keeps of who calls it by a relation";
  let arguments = (ins FlatSymbolRefAttr:$relation, I32:$slot, ConfinedAttr<I32Attr, [IntNonNegative]>:$number);
  let results = (outs I32:$result);
  let assemblyFormat = "$relation `[` $slot `]` $number attr-dict";
}
def Kernel_CalledOp : Kernel_UserOp<"called", [MemoryEffects<[MemRead]>]> {
  let summary = "Whether an instance is one that is called, by its node or input and its secondary keys";
  let arguments = (ins FlatSymbolRefAttr:$group, I32Attr:$cell, Variadic<I32>:$keys);
  let results = (outs I1:$result);
  let assemblyFormat = "$group $cell `(` $keys `)` attr-dict";
}
def Kernel_RowOfOp : Kernel_UserOp<"row_of", [MemoryEffects<[MemRead]>]> {
  let summary = "The row of an instance in its cell's index set, by its slot";
  let arguments = (ins FlatSymbolRefAttr:$index_set, I32:$slot);
  let results = (outs I32:$result);
  let assemblyFormat = "$index_set `(` $slot `)` attr-dict";
}
def Kernel_RequireOp : Kernel_UserOp<"require", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "The field must be given at this node (or the argument for this input), else the input fails";
  let arguments = (ins FlatSymbolRefAttr:$array, I32:$node, DefaultValuedAttr<StrAttr, "\"\"">:$where);
  let assemblyFormat = "$array `[` $node `]` (`at` $where^)? attr-dict";
}
def Kernel_CheckOp : Kernel_Op<"check", [MemoryEffects<[MemWrite]>, Kernel_FailsInput]> {
  let summary = "The condition must hold, else the input fails and the function is left";
  let description = [{
    `error` says what is wrong, `values` are its numbers and `what` its word, as `dbc::ErrorKind` in the runtime's
    messages.h lists them; `where` is "file:line:col" in the source. The error is reported at the node or input that the
    function runs for. In a stage the first of `values` is the row of the stage's index set, to whose node or input the
    error belongs, and the stage goes on: what follows must be harmless.
  }];
  let arguments = (ins Kernel_ErrorKindAttr:$error, I1:$condition, StrAttr:$what, StrAttr:$where, Variadic<I32>:$values);
  let assemblyFormat = "$error $condition `,` $what `at` $where `(` $values `)` attr-dict";
  let hasVerifier = 1;
}
def Kernel_IntOp : Kernel_Op<"int", [MemoryEffects<[MemWrite]>, Kernel_FailsInput]> {
  let summary = "Checked integer arithmetic: overflow or division by 0 fails the input";
  let description = [{
    In a stage `row`, the row of its index set, says which input; the work goes on with 0. `max` and `min` cannot fail: they
    are `arith`'s.
  }];
  let arguments = (ins Dyn_IntKindAttr:$kind, I32:$a, I32:$b, StrAttr:$where, Optional<I32>:$row);
  let results = (outs I32:$result);
  let assemblyFormat = "$kind $a `,` $b `at` $where (`row` $row^)? attr-dict";
  let hasVerifier = 1;
}
def Kernel_CollectNodesOp : Kernel_UserOp<"collect_nodes", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Lists the nodes of the same data type that can be reached (manual, D3)";
  let description = "The nodes stand in the index array `node` of `index_set` (kind `states`) from row `first` on, in the application's order.";
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefAttr:$data, I32:$node);
  let results = (outs I32:$first, I32:$length);
  let assemblyFormat = "$index_set $data `(` $node `)` attr-dict";
}
def Kernel_FunctionOp : Kernel_Op<"function", [Pure, SameOperandsAndResultType]> {
  let summary = "A function of one number that math lacks";
  let arguments = (ins Dyn_FunctionKindAttr:$kind, F32:$x);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}
def Kernel_DropoutOp : Kernel_Op<"dropout", [Pure, AttrSizedOperandSegments]> {
  let summary = "An element of what a dropout gives, see dyn.dropout; x where the run drops nothing";
  let description = "`element` is its number, row-major. Without `input` the mask is that of the run.";
  let arguments = (ins F32:$x, I32:$element, Optional<I32>:$input, Variadic<I32>:$keys, F32Attr:$rate, I64Attr:$place);
  let results = (outs F32:$result);
  let assemblyFormat = "$x `[` $element `]` `rate` $rate `place` $place (`input` $input^)? (`keys` `(` $keys^ `)`)? attr-dict";
}
def Kernel_OrderOp : Kernel_UserOp<"order", [MemoryEffects<[MemRead]>]> {
  let summary = "The row at a position of an index set's order list";
  let description = "Of an index set of kind `by_input`: the row of its parent.";
  let arguments = (ins FlatSymbolRefAttr:$index_set, I32:$position);
  let results = (outs I32:$row);
  let assemblyFormat = "$index_set `[` $position `]` attr-dict";
}

#endif // DBC_KERNEL_FUNCTIONS
