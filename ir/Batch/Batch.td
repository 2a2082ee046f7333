// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect: when and where the values of a whole batch are computed.

#ifndef DBC_BATCH
#define DBC_BATCH

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "Batch/BatchBase.td"
include "Batch/BatchInterfaces.td"
include "Dyn/DynBase.td"
include "Dyn/DynInterfaces.td"
include "Kernel/KernelInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"


def Batch_ScheduleAttr : AttrDef<Batch_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a stage is computed on a target";
  let description = [{
    `rows`: rows of a block, which share one pass over the weights. `grain`: fewest rows for a thread. `channels` (0: none):
    products whose results are used element by element are computed in tiles of so many elements, all gates of a tile
    together, and what is done with them follows at once, tile by tile. The last tile may have elements of the one before.
  }];
  let parameters = (ins "int64_t":$rows, "int64_t":$grain, DefaultValuedParameter<"int64_t", "0">:$channels);
  let assemblyFormat = "`<` `rows` `=` $rows `,` `grain` `=` $grain (`,` `channels` `=` $channels^)? `>`";
  let genVerifyDecl = 1;
}
def Batch_Number : Type<CPred<"::dbc::dyn::isNumber($_self)">, "number">;

def Batch_LoopAttr : AttrDef<Batch_Dialect, "Loop"> {
  let mnemonic = "loop";
  let summary = "A loop that a stage is to stand in";
  let description = [{
    `carrier`: the recursion group or scan that it goes over. Stages of different `run`s of one carrier need not share a loop.
  }];
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$carrier, "int64_t":$run);
  let assemblyFormat = "`<` $carrier `,` $run `>`";
}
class Batch_Op<string m, list<Trait> t = []> : Op<Batch_Dialect, m, t>;

/// What reads or writes an array.
def Batch_Accesses : TraitList<[Batch_AccessOpInterface, DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]>;

/// An operation that names symbols.
class Batch_UserOp<string m, list<Trait> t = []>
    : Batch_Op<m, !listconcat(t, [DeclareOpInterfaceMethods<SymbolUserOpInterface>])>;

def Batch_RelationOp : Batch_Op<"relation", [Symbol, HasParent<"::dbc::kernel::ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Each row of an index set names one row of another";
  let description = [{
    Of one index array there is one relation to the rows of `to`. `index_array` of `from` has the number of the row of `to`:
    an index set, a data type (the rows are the batch's nodes), or a field or argument that is a list (its elements);
    without, the inputs of the batch. `multiplicity`, set by batch-classify-accesses: whether no two rows name the same one.
    The name in the source is the index array's, its location the operation's.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$from, OptionalAttr<FlatSymbolRefAttr>:$to, StrAttr:$index_array,
                       OptionalAttr<Batch_MultiplicityAttr>:$multiplicity);
  let assemblyFormat = "$sym_name `:` $from `->` ($to^)? `by` $index_array (`,` $multiplicity^)? attr-dict";
}
def Batch_ListRelationOp : Batch_Op<"list_relation", [Symbol, HasParent<"::dbc::kernel::ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Each row of an index set names the rows of a list, in order";
  let description = [{
    They are rows first, first + stride, ... of `to` (as for batch.relation), `length` of them; `first` and `length` are
    index arrays of `from`. `stride` is 1, or -1 for a list that is turned round.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$from, OptionalAttr<FlatSymbolRefAttr>:$to, StrAttr:$first,
                       StrAttr:$length, I32Attr:$stride);
  let assemblyFormat = "$sym_name `:` $from `->` ($to^)? `by` $first `,` $length `stride` $stride attr-dict";
}

def Batch_TransposeOp : Batch_Op<"transpose", [Symbol, HasParent<"::dbc::kernel::ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Each row that a relation leads to names the rows that it leads there from, in order";
  let description = [{
    A list relation from the rows of the relation's `to`, an index set, to those of its `from`. The schedule makes it once a
    batch, by counting sort, when all rows are there. Sums of adjoints go by it. Rows that name
    the same one are in their order; where those are of several inputs, as of a table's row, in that of the inputs.
    ```mlir
    batch.relation @rel.encode.Node.left : @encode.Node -> @encode by "left"
    batch.transpose @of.encode.Node.left of @rel.encode.Node.left
    ```
    Without a relation: each row of `to`, an index set of kind `distinct`, has the rows for which `numbers`, a buffer, holds
    its number. It is made in a run, when the numbers are there.
    ```mlir
    batch.transpose @of.best numbers @best to @E.rows
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$relation,
                       OptionalAttr<FlatSymbolRefAttr>:$numbers, OptionalAttr<FlatSymbolRefAttr>:$to);
  let assemblyFormat = "$sym_name (`of` $relation^)? (`numbers` $numbers^)? (`to` $to^)? attr-dict";
}

def Batch_DistinctOp : Batch_Op<"distinct", [HasParent<"::dbc::kernel::ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "What the rows of an index set of kind `distinct` are: the numbers that index arrays and buffers hold";
  let description = [{
    The schedule makes them, see kernel.distinct. With `numbers`, buffers of i32, the run does, when these are there; a number
    that is not below the extent, or below 0, makes no row. `rows` are further index arrays of `from`, one for each of
    `index_arrays`: the rows of their numbers, by which relations lead here.
    ```mlir
    kernel.index_set arm @encode.Leaf in @encode ["parent", "word", "word.row"]
    kernel.index_set distinct @E.rows ["row"] extent 20000
    batch.distinct @E.rows = [@encode.Leaf] ["word"] rows ["word.row"] numbers [@best]
    batch.relation @rel.encode.Leaf.word.row : @encode.Leaf -> @E.rows by "word.row"
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$index_set, FlatSymbolRefArrayAttr:$from, StrArrayAttr:$index_arrays,
                       DefaultValuedAttr<StrArrayAttr, "{}">:$rows, OptionalAttr<FlatSymbolRefArrayAttr>:$numbers,
                       OptionalAttr<DenseI32ArrayAttr>:$always);
  let assemblyFormat = "$index_set `=` $from $index_arrays (`rows` $rows^)? (`numbers` $numbers^)? (`always` $always^)? attr-dict";
}

def Batch_StageOp : Batch_UserOp<"stage", [ParentOneOf<["::dbc::kernel::ProgramOp", "::dbc::kernel::LevelsOp", "::dbc::kernel::StepsOp"]>, SingleBlock, NoTerminator, NoRegionArguments,
    DeclareOpInterfaceMethods<Kernel_AccessOpInterface>]> {
  let summary = "Row-level code over an index set";
  let description = [{
    The region is computed for each row, in any order of rows: no row reads what another row of the same time step writes.
    It consists of `arith`, `math`, `tensor`, `linalg.contract` and the tensor ops of `dyn` on values of ONE row, and the
    reads and writes below. Sums inside run in their written order whatever the schedule says. Its name is for people and
    for the manifest: it is no symbol, and nothing refers to it, but what the stage is lowered to is called by it.
    batch-name-stages gives it. `role`: whether it computes
    what the model says, adjoints of that, gradients of what they are asked for, what was not kept once more, or zeros. With
    `when` it is run for the rows only for which that buffer over its index set holds, in any time step: what a `while` has ended is not computed (manual, S4). `blas`: it is one product, of its row
    of a buffer and a matrix of parameters, and the parameter that is added to it as its bias if there is one, written to
    another buffer, for all rows: on a GPU a library computes it. `loops`, outermost first, is what batch-partition found
    and batch-assign-levels makes.
  }];
  let arguments = (ins SymbolNameAttr:$name, FlatSymbolRefAttr:$index_set,
                       DefaultValuedAttr<Batch_StageRoleAttr, "::dbc::batch::StageRole::Forward">:$role,
                       OptionalAttr<FlatSymbolRefAttr>:$when, OptionalAttr<Batch_ScheduleAttr>:$schedule, UnitAttr:$blas,
                       OptionalAttr<TypedArrayAttrBase<Batch_LoopAttr, "loops">>:$loops);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::llvm::StringRef":$indexSet,
                                 CArg<"::dbc::batch::StageRole", "::dbc::batch::StageRole::Forward">:$role), [{
    build($_builder, $_state, $_builder.getStringAttr(name), ::mlir::FlatSymbolRefAttr::get($_builder.getContext(), indexSet),
          ::dbc::batch::StageRoleAttr::get($_builder.getContext(), role), nullptr, nullptr, nullptr, nullptr);
  }]>];
  let extraClassDeclaration = [{
    /// Whether it adds values of all its rows up: then it does nothing else.
    bool accumulates();
    /// Whether it may compute elements of its results twice: not where it reads what it replaces.
    bool mayRepeat();
  }];
  let assemblyFormat = "$name `over` $index_set (`role` $role^)? (`blas` $blas^)? (`when` $when^)? (`schedule` $schedule^)? attr-dict-with-keyword $body";
}

def Batch_ReadOp : Batch_UserOp<"read", [MemoryEffects<[MemRead]>, Batch_Accesses]> {
  let summary = "The value of a buffer at this row";
  let arguments = (ins FlatSymbolRefAttr:$buffer);
  let results = (outs Batch_Number:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    ::mlir::FlatSymbolRefAttr getArrayAttr() { return getBufferAttr(); }
    bool isWrite() { return false; }
  }];
}
// Of no memory effect: what it reads was written before its stage (its verifier), so equal ones have equal values wherever they stand.
def Batch_GatherOp : Batch_Op<"gather", [NoMemoryEffect, Batch_Accesses, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of an array at the row that this one is joined with";
  let description = [{
    `array`, over the relation's `to`, is a buffer, a field of the batch's nodes, or an argument. `carried` names the group or scan whose recursion
    this read is. `ago`: the row was written exactly so many time steps before, 0 without; of buffers with `live` rows.
  }];
  let arguments = (ins FlatSymbolRefAttr:$array, FlatSymbolRefAttr:$relation, OptionalAttr<FlatSymbolRefAttr>:$carried, OptionalAttr<I32Attr>:$ago);
  let results = (outs Batch_Number:$result);
  let assemblyFormat = "$array `via` $relation (`carried` $carried^)? (`ago` $ago^)? attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getRelations() { return {getRelationAttr()}; }
    bool isWrite() { return false; }
  }];
}
def Batch_ReadIndexOp : Batch_UserOp<"read_index", [Pure]> {
  let summary = "The integer that an index array of this index set holds at this row";
  let arguments = (ins StrAttr:$index_array);
  let results = (outs AnyTypeOf<[I32, I1]>:$result);
  let assemblyFormat = "$index_array attr-dict `:` type($result)";
}
def Batch_SegmentOp : Batch_Op<"segment", [MemoryEffects<[MemRead]>, AttrSizedOperandSegments, Dyn_RowOpInterface,
                                           Batch_Accesses,
                                           DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail"]>,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Elementwise reduction of the rows of an array that make a list of this row";
  let description = [{
    The list's elements are the rows of `array` that the list relation names, or with `via`, a relation, those that the rows
    that it names are joined with. The list relation may be a transpose, `numbers` the buffer that it is made of. `at`, a relation: the list is that of the row that
    this one is joined with. Elements are taken in list order. `carried`, `ago` as for gather. `pick` gives the element
    number `index`, which is computed; outside the list the row's input fails, or where `when` is false gives 0. With `count`
    only so many elements are there, the first ones, or `at_end` the last; where one is needed and none is, the input fails,
    unless `when` is false.
  }];
  let arguments = (ins Dyn_ReduceKindAttr:$kind, FlatSymbolRefAttr:$array, FlatSymbolRefAttr:$list,
                       OptionalAttr<FlatSymbolRefAttr>:$via, OptionalAttr<FlatSymbolRefAttr>:$carried, Optional<I32>:$index,
                       Optional<I1>:$when, Optional<I32>:$count, UnitAttr:$at_end, OptionalAttr<FlatSymbolRefAttr>:$at,
                       OptionalAttr<I32Attr>:$ago, OptionalAttr<FlatSymbolRefAttr>:$numbers);
  let results = (outs Batch_Number:$result);
  let assemblyFormat = [{ $kind (`[` $index^ `]`)? (`when` $when^)? $array `over` $list (`numbers` $numbers^)? (`via` $via^)? (`count` $count^ (`at_end` $at_end^)?)? (`carried` $carried^)?
                          (`at` $at^)? (`ago` $ago^)? attr-dict `:` type($result) }];
  let hasVerifier = 1;
  // Over all elements of the list.
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::dbc::dyn::ReduceKind":$kind, "::mlir::FlatSymbolRefAttr":$array,
                                 "::mlir::FlatSymbolRefAttr":$list, CArg<"::mlir::FlatSymbolRefAttr", "{}">:$via,
                                 CArg<"::mlir::FlatSymbolRefAttr", "{}">:$carried, CArg<"::mlir::FlatSymbolRefAttr", "{}">:$at), [{
    build($_builder, $_state, result, ::dbc::dyn::ReduceKindAttr::get($_builder.getContext(), kind), array, list, via, carried,
          /*index=*/::mlir::Value(), /*when=*/::mlir::Value(), /*count=*/::mlir::Value(), /*at_end=*/::mlir::UnitAttr(), at,
          /*ago=*/::mlir::IntegerAttr(), /*numbers=*/::mlir::FlatSymbolRefAttr());
  }]>];
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getRelations() {
      ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> relations = {getListAttr()};
      for (::mlir::FlatSymbolRefAttr other : {getViaAttr(), getAtAttr()})
        if (other)
          relations.push_back(other);
      return relations;
    }
    bool isWrite() { return false; }
    ::dbc::dyn::RowKind getRowKind() { return ::dbc::dyn::RowKind::Reduction; }
  }];
}
def Batch_WriteOp : Batch_UserOp<"write", [MemoryEffects<[MemWrite]>, Batch_Accesses]> {
  let summary = "Sets a buffer at this row";
  let arguments = (ins Batch_Number:$value, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value)";
  let extraClassDeclaration = [{
    ::mlir::FlatSymbolRefAttr getArrayAttr() { return getBufferAttr(); }
    bool isWrite() { return true; }
  }];
}
def Batch_ScatterOp : Batch_Op<"scatter", [MemoryEffects<[MemWrite]>, Batch_Accesses,
                                           DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Sets a buffer at the row that this one is joined with; in one time step no two rows are joined with the same";
  let arguments = (ins Batch_Number:$value, FlatSymbolRefAttr:$buffer, FlatSymbolRefAttr:$relation);
  let assemblyFormat = "$value `,` $buffer `via` $relation attr-dict `:` type($value)";
  let extraClassDeclaration = [{
    ::mlir::FlatSymbolRefAttr getArrayAttr() { return getBufferAttr(); }
    ::llvm::SmallVector<::mlir::FlatSymbolRefAttr> getRelations() { return {getRelationAttr()}; }
    bool isWrite() { return true; }
  }];
}

def Batch_AccumulateOp : Batch_UserOp<"accumulate", [MemoryEffects<[MemRead, MemWrite]>, AttrSizedOperandSegments, Batch_Accesses]> {
  let summary = "Adds the values of all rows, in the order of their inputs, to the one row of a buffer over the batch";
  let description = [{
    With `index` it is added to row `index` of the buffer's first axis. With `outer` the outer product of two vectors is added: to
    element (i, j) value[i] * outer[j], where neither vector is all zeros. A stage that accumulates does nothing else, stands in
    no loop, and one thread adds to an element; on a GPU to that of a slice of the rows. Of an input the rows are added in the order of its nodes, of a node in their own.
  }];
  let arguments = (ins Batch_Number:$value, FlatSymbolRefAttr:$buffer, Optional<I32>:$index, Optional<Batch_Number>:$outer);
  let assemblyFormat = "$value (`outer` $outer^ `:` type($outer))? `,` $buffer (`[` $index^ `]`)? attr-dict `:` type($value)";
  let extraClassDeclaration = [{
    ::mlir::FlatSymbolRefAttr getArrayAttr() { return getBufferAttr(); }
    bool isWrite() { return true; }
  }];
}

#endif // DBC_BATCH
