// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect: how a batch is computed. All C++ is printed from these ops.

#ifndef DBC_KERNEL
#define DBC_KERNEL

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "Dyn/DynBase.td"
include "Kernel/KernelBase.td"
include "Kernel/KernelInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Kernel_Type<string n, string m> : TypeDef<Kernel_Dialect, n> { let mnemonic = m; }
def Kernel_LocalType : Kernel_Type<"Local", "local"> {
  let summary = "Scratch of a thread, or of a GPU's block of threads: an array of a static shape";
  let description = "`!kernel.local<16x750xf32>`: for a block of 16 rows, 750 elements each.";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$element);
  let hasCustomAssemblyFormat = 1;
}
def Kernel_RowsType : Kernel_Type<"Rows", "rows"> {
  let summary = "The rows of a product's operand, see kernel.rows";
}
def Kernel_Local : Type<CPred<"::llvm::isa<::dbc::kernel::LocalType>($_self)">, "local", "::dbc::kernel::LocalType">;
def Kernel_Rows : Type<CPred<"::llvm::isa<::dbc::kernel::RowsType>($_self)">, "rows", "::dbc::kernel::RowsType">,
    BuildableType<"$_builder.getType<::dbc::kernel::RowsType>()">;
def Kernel_Scalar : AnyTypeOf<[F32, I32, I1]>;
def Kernel_Stored : Type<CPred<"::dbc::dyn::isNumber(::dbc::kernel::stored($_self))">, "number or node">;

def Kernel_Positive : ConfinedAttr<I64Attr, [IntPositive]>;
def Kernel_Bytes : ConfinedAttr<I64Attr, [IntNonNegative]>;

def Kernel_ContractAttr : AttrDef<Kernel_Dialect, "Contract"> {
  let mnemonic = "contract";
  let summary = "How a GPU's tensor cores add up the products with a matrix";
  let description = [{
    What decides the bits of a result, whichever kernel computes it, for however many rows. Operands of the given `lengths`
    are cut into K tiles of 16 inputs, each by itself. K tile n belongs to split-K slice n mod `slices`; a slice is added up K
    tile by K tile by `instruction`, then slice after slice is added to the bias. `tf32`: operands are rounded to 11 bits;
    `tf32x3`: they are sums of two such, and three products are added. `n_tiles` N tiles of 16 outputs are computed at once,
    which decides nothing.
    ```mlir
    #kernel.contract<tf32x3, slices = 8, n_tiles = 5, lengths = [150, 150]>
    ```
  }];
  let parameters = (ins EnumParameter<Kernel_Instruction>:$instruction, "int64_t":$slices, "int64_t":$n_tiles,
                        ArrayRefParameter<"int64_t">:$lengths);
  let assemblyFormat = "`<` $instruction `,` `slices` `=` $slices `,` `n_tiles` `=` $n_tiles `,` `lengths` `=` `[` $lengths `]` `>`";
}

def Kernel_ElementsAttr : AttrDef<Kernel_Dialect, "Elements"> {
  let mnemonic = "elements";
  let summary = "What a stage reads of each element of a list that it reduces, for the profile";
  let description = [{
    `reals` numbers of the emitter's type and `bytes` of other numbers; `gathered`: its row is found through an index array. How
    many elements a row has says the index array `array` of `of`, the row's index set; or, where that is of kind `transpose`,
    "begin" at the row that the index array `at` names, which is empty where that is the row itself.
    ```mlir
    #kernel.elements<reals = 100, bytes = 0, gathered = true, of = @input, array = "length", at = "">
    #kernel.elements<reals = 100, bytes = 0, gathered = true, of = @of.encode.left, array = "begin", at = "parent">
    ```
  }];
  let parameters = (ins "int64_t":$reals, "int64_t":$bytes, "bool":$gathered, "::mlir::FlatSymbolRefAttr":$list,
                        "::mlir::StringAttr":$array, "::mlir::StringAttr":$at);
  let assemblyFormat = [{ `<` `reals` `=` $reals `,` `bytes` `=` $bytes `,` `gathered` `=` $gathered `,` `of` `=` $list `,`
                          `array` `=` $array `,` `at` `=` $at `>` }];
}

class Kernel_Op<string m, list<Trait> t = []> : Op<Kernel_Dialect, m, t>;

/// An operation that names symbols.
class Kernel_UserOp<string m, list<Trait> t = []>
    : Kernel_Op<m, !listconcat(t, [DeclareOpInterfaceMethods<SymbolUserOpInterface>])>;

//===-- Interface ---------------------------------------------------------------------------------------------===//

def Kernel_DataOp : Kernel_Op<"data", [Symbol, HasParent<"::mlir::ModuleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "A data type of the model's interface; its constructors in order";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
}
def Kernel_CtorOp : Kernel_UserOp<"ctor", [HasParent<"DataOp">]> {
  let summary = "A constructor; `columns` numbers its fields' columns in the data type";
  let description = "Surface types are those of `dyn` (`!dyn.index`, `!dyn.list`, ...).";
  let arguments = (ins StrAttr:$name, StrArrayAttr:$fields, TypeArrayAttr:$types, DenseI32ArrayAttr:$columns);
  let assemblyFormat = "$name $fields $types `in` $columns attr-dict";
  let hasVerifier = 1;
}
def Kernel_ParamOp : Kernel_Op<"param", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A parameter or tensor const, by its path";
  let description = "`init` is `#dyn.init` or absent (a const). Its rows lie along the first axis, so it can be loaded like any array.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$type, OptionalAttr<AnyAttr>:$init);
  let assemblyFormat = "$sym_name `:` $type (`=` $init^)? attr-dict";
}

def Kernel_EvaluationOp : Kernel_UserOp<"evaluation", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "The order in which an entry evaluates an input's structure, for telling the first error (manual, E2)";
  let description = [{
    Made before any pass moves anything; a program of that name has it. `words` and `code` are those that the runtime's
    dbc/first_error.h describes (dbc::EvaluationOrder).
  }];
  let arguments = (ins FlatSymbolRefAttr:$entry, StrArrayAttr:$words, DenseI32ArrayAttr:$code);
  let assemblyFormat = "$entry `words` $words `code` $code attr-dict";
  let hasVerifier = 1;
}

def Kernel_ProgramOp : Kernel_UserOp<"program", [Symbol, SymbolTable, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "How one entry or loss is computed for a batch";
  let description = [{
    `arg_types` and `surface` are the surface types in the source. `kernel.output` says where each flat result lies.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names, TypeArrayAttr:$arg_types, TypeAttr:$surface,
                       UnitAttr:$loss);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`loss` $loss^)? $sym_name $arg_names $arg_types `->` $surface attr-dict-with-keyword $body";
}

//===-- Arrays ------------------------------------------------------------------------------------------------===//

def Kernel_IndexSetOp : Kernel_UserOp<"index_set", [Symbol]> {
  let summary = "A set of rows with int32 index arrays";
  let description = [{
    * `inputs`: the inputs that have not failed; index array `input` is the input's number.
    * `instances`: instances of one cell, sorted by level, then arm; `group` and `cell` (a number in the group). The first
      index array is `node`, or `input` where no node is a key; the next ones are the secondary keys.
    * `elements`, `arm`: rows made by `kernel.push` from rows of `parent`, in their order.
    * `steps`: elements of a scan: as `elements`, run step by step; index array `step` is the number of the step of its owner.
    * `states`: rows reserved by `kernel.reserve`, or made by `kernel.push`, with an index array for each value pushed.
    * `model`: rows that are computed when the model is made. One, which every stage may read; or, for a table, `extent` of
      them, whose one index array is the row's own number.
    * `batch`: one row in each run, without index arrays.
    * `transpose`: the rows of another index set, sorted by what one of its index arrays, or a buffer, says, in index array
      `row`; those that say r begin at position `begin`[r], which has one element more than there are such r. See kernel.transpose.
    * `distinct`: numbers below `extent` that index arrays or buffers hold, such as the rows of a table that are looked up: each once,
      ascending, in index array `row`. See kernel.distinct.
    * `column`: the rows of `parent`, a field's or argument's `value` or `items` in the batch: one a node, an input, or an
      element of their lists, whether anything reads it or not. Fields of one data type have the same rows, and so have
      arguments.
    * `by_input`: the rows of `parent`, an index set, in the order of the inputs; `masked`: of these the active ones. They are
      reached through an order list, and have no index arrays of their own. See kernel.sort_by_input.
    `by_time_step`: rows are run in ranges of one time step of the innermost loop that encloses them: a level of `group`
    (rows are in that order already), or a step of the scan `steps_of` (an index set of kind `steps`, itself or an ancestor;
    rows are then reached through an order list). `masked`: a stage may say which rows of a time step are active
    (`kernel.mask`); rows are then reached through an order list too. `filled`: the last so many index arrays are `rows` of a
    kernel.distinct. `sites`: which calls from outside of a recursion lead to the instances, as coordinates of an event (see
    dbc/first_error.h): pairs of a coordinate and of the number of a call.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Kernel_IndexSetKindAttr:$kind,
      OptionalAttr<FlatSymbolRefAttr>:$parent, StrArrayAttr:$index_arrays, OptionalAttr<FlatSymbolRefAttr>:$group,
      OptionalAttr<I32Attr>:$cell, UnitAttr:$by_time_step, OptionalAttr<FlatSymbolRefAttr>:$steps_of,
      UnitAttr:$masked, OptionalAttr<I32Attr>:$extent,
      DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$filled, OptionalAttr<DenseI64ArrayAttr>:$sites);
  // Of no group, run at once. `extent` below 0: none.
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "IndexSetKind":$kind, "::llvm::ArrayRef<::llvm::StringRef>":$index_arrays,
                                 CArg<"::mlir::FlatSymbolRefAttr", "{}">:$parent, CArg<"int64_t", "-1">:$extent), [{
    build($_builder, $_state, name, kind, parent, $_builder.getStrArrayAttr(index_arrays), /*group=*/::mlir::FlatSymbolRefAttr(),
          /*cell=*/::mlir::IntegerAttr(), /*by_time_step=*/false, /*steps_of=*/::mlir::FlatSymbolRefAttr(), /*masked=*/false,
          extent < 0 ? ::mlir::IntegerAttr() : $_builder.getI32IntegerAttr(static_cast<int32_t>(extent)), /*filled=*/0,
          /*sites=*/::mlir::DenseI64ArrayAttr());
  }]>];
  let assemblyFormat = "$kind $sym_name (`in` $parent^)? $index_arrays (`group` $group^ `cell` $cell)? (`by_time_step` $by_time_step^)? (`steps` $steps_of^)? (`masked` $masked^)? (`extent` $extent^)? (`filled` $filled^)? attr-dict";
  let extraClassDeclaration = [{
    /// Whether it has one row, which is the model's: no table.
    bool isOfModel() { return getKind() == IndexSetKind::Model && !getExtent(); }
    /// Whether it has one row in all: the model's, or that of a run.
    bool hasOneRow() { return isOfModel() || getKind() == IndexSetKind::Batch; }
    /// Whether its rows are those of a table of the model.
    bool isTable() { return getKind() == IndexSetKind::Model && getExtent(); }
    /// How many index arrays have a value from where a row is made.
    size_t getPushedArrays() { return getIndexArrays().size() - getFilled(); }
    /// Adds an index array that a kernel.distinct fills, called after `number`, another one; gives its name.
    ::mlir::StringAttr addFilled(::llvm::StringRef number);
  }];
  let hasVerifier = 1;
}
def Kernel_GroupOp : Kernel_UserOp<"group", [Symbol]> {
  let summary = "Cells that call each other; levelled together";
  let description = [{
    `cells` are the cells' names in the source, `datas` the data types of their first keys (unit: no node is a key, so an
    instance belongs to an input), `keys` the names of each one's secondary keys ("": messages do not tell it), `calls`
    their `calls` functions. `level_key` (of one cell): each call lowers this secondary key, so a level holds the instances
    of one value of it, the least first. `of_fields`: what they give is made of numbers and fields that can be reached from
    their keys alone, so nodes that are alike in these may share an instance.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$cells,
                       TypedArrayAttrBase<AnyAttrOf<[FlatSymbolRefAttr, UnitAttr]>, "data types">:$datas,
                       OptionalAttr<TypedArrayAttrBase<StrArrayAttr, "names of keys of each cell">>:$keys,
                       FlatSymbolRefArrayAttr:$calls, UnitAttr:$of_fields, OptionalAttr<I32Attr>:$level_key);
  let assemblyFormat = "$sym_name $cells `of` $datas (`keys` $keys^)? `by` $calls (`level_key` $level_key^)? attr-dict";
  let extraClassDeclaration = [{
    /// The names of a cell's secondary keys.
    ::llvm::SmallVector<::llvm::StringRef> getSecondaryKeys(unsigned cell);
    /// The data type of a cell's first key; empty if that is the input.
    ::llvm::StringRef getDataOf(unsigned cell);
  }];
  let hasVerifier = 1;
}
def Kernel_RelationOp : Kernel_UserOp<"relation", [Symbol]> {
  let summary = "A call site whose callees, instances of a cell, keep who calls them";
  let description = "`keeps`: how many values. `where` is \"file:line:col\" of the cell. It is a `dyn.relation` of the entry's.";
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$group, I32Attr:$cell,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$keeps, StrAttr:$where);
  let assemblyFormat = "$sym_name `to` $group $cell `keeps` $keeps `at` $where attr-dict";
}
def Kernel_BufferOp : Kernel_UserOp<"buffer", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "One value of `type` for each row of an index set";
  let description = [{
    Buffers with the same `storage` share memory: their lives do not overlap. `type` is a scalar or a static tensor of f32,
    i32 or i1. `live`: only the rows of the last so many levels of the index set's group are kept: indices are row numbers
    less a `kernel.window`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$index_set, TypeAttrOf<Kernel_Stored>:$type,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$storage,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$live);
  let assemblyFormat = "$sym_name `over` $index_set `:` $type (`live` $live^)? (`storage` $storage^)? attr-dict";
}
def Kernel_FieldOp : Kernel_UserOp<"field", [Symbol]> {
  let summary = "A column of a data type's nodes in the batch";
  let description = [{
    Row n belongs to node n. `value`: the field itself; `begin`, `end`: the bounds of node n's list in `items`;
    `items`: the elements, whose rows are numbered by those bounds; `kind`: the constructor numbers.
    In lists of lists `level` (absent: 0) says which level's `begin` and `end` are meant. `in_cells`: a cell
    reads it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$data, I32Attr:$column, StrAttr:$name,
      Kernel_FieldArrayAttr:$array, TypeAttr:$type, OptionalAttr<I32Attr>:$level, UnitAttr:$in_cells);
  let assemblyFormat = "$sym_name `=` $data $name $column $array `:` $type attr-dict";
}
def Kernel_ArgumentOp : Kernel_Op<"argument", [Symbol]> {
  let summary = "An argument of the entry; row i belongs to input i";
  let description = "`component` numbers the flattened components of all arguments. `level`: see kernel.field.";
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$name, I32Attr:$component,
      Kernel_FieldArrayAttr:$array, TypeAttr:$type, OptionalAttr<I32Attr>:$level);
  let assemblyFormat = "$sym_name `=` $name $component $array `:` $type attr-dict";
  let hasVerifier = 1;
}
def Kernel_WeightsOp : Kernel_UserOp<"weights", [Symbol, HasParent<"ProgramOp">]> {
  let summary = "A matrix of parameters, packed at load for products";
  let description = [{
    The matrix has `out` rows (outputs) and `in` columns (inputs). It is made of `submatrices`, names of parameters of
    rank 2; submatrix i stands at row positions[2 i] and column positions[2 i + 1], and all of them cover the whole. With
    `tables` = n the one submatrix has rank 3 and n matrices are packed. `init` is a parameter of `out` elements that
    products start from (a bias), or absent (0). With `gates` = g the outputs are g gates of out / g channels, gate after
    gate, and are packed in tiles: all gates of `width` neighbouring channels. The last tile ends at the last channel, so it
    may overlap the one before; what both have is then computed once where that saves work. `turned`: of the one submatrix the
    columns are the outputs. With `contract` they are laid
    out for a GPU's tensor cores.
  }];
  // Where submatrices are blocks of parameters, `positions` has six numbers for each: where it stands, and the first row,
  // first column, rows and columns of the block.
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$submatrices,
                       DenseI64ArrayAttr:$positions, Kernel_Positive:$out, Kernel_Positive:$in,
                       OptionalAttr<Kernel_Positive>:$tables, OptionalAttr<FlatSymbolRefAttr>:$init,
                       OptionalAttr<Kernel_Positive>:$gates, OptionalAttr<Kernel_Positive>:$width,
                       OptionalAttr<Kernel_ContractAttr>:$contract, UnitAttr:$turned);
  let assemblyFormat = "$sym_name `=` $submatrices `at` $positions `:` $out `by` $in (`turned` $turned^)? (`tables` $tables^)? (`init` $init^)? (`gates` $gates^ `in` `tiles` `of` $width)? (`contract` $contract^)? attr-dict";
  let extraClassDeclaration = [{
    /// Of a matrix with a contract: tiles, and of each K tiles of inputs and N tiles of outputs. These are a multiple of those that
    /// are computed at once, so the last ones may be empty.
    int64_t getTileCount();
    int64_t getKTileCount();
    int64_t getNTileCount();
    /// Bytes of a tile.
    int64_t getTileBytes();
    /// Whether its tiles, one behind the other, are what is packed of a matrix without tiles.
    bool isTiledWhole() { return getGates() == 1 && getOut() % *getWidth() == 0; }
  }];
  let hasVerifier = 1;
}
def Kernel_GradientOp : Kernel_UserOp<"gradient", [HasParent<"ProgramOp">]> {
  let summary = "Where the gradient of a parameter lies: the one row of a buffer over the batch, or the rows of a sparse one";
  let description = [{
    The memory is the caller's or the session's results', not a buffer that others share. A buffer over an index set of kind
    `distinct` has the gradient of a table sparse: that of the table's row number `row` at each row of the index set, and the
    others' is 0.
  }];
  let arguments = (ins FlatSymbolRefAttr:$param, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$param `=` $buffer attr-dict";
}
def Kernel_InputGradientOp : Kernel_UserOp<"input_gradient", [HasParent<"ProgramOp">]> {
  let summary = "Where the gradient of a field or an argument lies: a buffer over the rows of its array in the batch";
  let description = "The memory is the caller's or the session's results', not a buffer that others share.";
  let arguments = (ins FlatSymbolRefAttr:$array, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$array `=` $buffer attr-dict";
}
def Kernel_OutputOp : Kernel_UserOp<"output", [HasParent<"ProgramOp">]> {
  let summary = "Where a flat result of the entry lies";
  let description = [{
    Row r of `buffer`'s index set belongs to the input that its chain of `parent` index arrays (one an enclosing list, `depth`
    of them) leads to. Depth 0: the index set is `inputs`. `active`: only active rows count.
  }];
  let arguments = (ins I32Attr:$component, FlatSymbolRefAttr:$buffer, I32Attr:$depth, UnitAttr:$active);
  let assemblyFormat = "$component `=` $buffer `depth` $depth (`active` $active^)? attr-dict";
}

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
    of the tiles; on a GPU a block has a tile and, with `slices`, one of at most so many slices of the rows, which has sums of
    its own of the arrays `summed`, one behind the other, in the buffer `of_slices`: what is added up there is added to the
    arrays, slice after slice, behind the stage. `clears`: all that it does is to make its rows of these buffers 0. `large_m`: on a GPU a launch of many rows may have blocks of so many instead, with
    scratch for them. `grain`: the number of rows that are worth a thread. The others are for one row, for the profile:
    `reals_read` and `reals_written` numbers of the emitter's type, `bytes_read` and `bytes_written` of other numbers,
    `gathers`, `operations` of products (two a multiply-add); `elements` of each list's element. `same_as`: a stage of a program before, which computes the
    same of arrays that are called and look the same there (set by kernel-share-stages). `backward`: a stage of the
    backward pass, which computes gradients, or again what they need. `scratch`: bytes of its thread's scratch that a stage
    needs on a CPU (set by kernel-plan-scratch).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Kernel_FuncKindAttr:$kind,
      OptionalAttr<FlatSymbolRefAttr>:$index_set, OptionalAttr<StrArrayAttr>:$doc, UnitAttr:$blas, OptionalAttr<I64Attr>:$tiles,
      OptionalAttr<I64Attr>:$large_m, UnitAttr:$sums, OptionalAttr<I64Attr>:$grain, OptionalAttr<I64Attr>:$reals_read,
      OptionalAttr<I64Attr>:$reals_written, OptionalAttr<I64Attr>:$bytes_read, OptionalAttr<I64Attr>:$bytes_written,
      OptionalAttr<I64Attr>:$gathers, OptionalAttr<I64Attr>:$operations,
      OptionalAttr<TypedArrayAttrBase<Kernel_ElementsAttr, "elements of lists">>:$elements, OptionalAttr<SymbolRefAttr>:$same_as,
      UnitAttr:$backward, OptionalAttr<Kernel_Bytes>:$scratch, OptionalAttr<I64Attr>:$slices,
      OptionalAttr<FlatSymbolRefAttr>:$of_slices, OptionalAttr<FlatSymbolRefArrayAttr>:$summed,
      OptionalAttr<FlatSymbolRefArrayAttr>:$clears);
  let regions = (region SizedRegion<1>:$body);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "FuncKind":$kind, "::mlir::FlatSymbolRefAttr":$indexSet,
                                 "::mlir::ArrayAttr":$doc), [{
    build($_builder, $_state, $_builder.getStringAttr(name), FuncKindAttr::get($_builder.getContext(), kind), indexSet, doc,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
          nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// What a stage is called in reports: its symbol without "stage.".
    ::llvm::StringRef getStageName();
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

def Kernel_LoadOp : Kernel_UserOp<"load", [MemoryEffects<[MemRead]>]> {
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
def Kernel_StoreOp : Kernel_UserOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes one scalar of a buffer";
  let arguments = (ins Kernel_Scalar:$value, FlatSymbolRefAttr:$array, Variadic<I32>:$indices);
  let assemblyFormat = "$value `,` $array `[` $indices `]` attr-dict `:` type($value)";
}
def Kernel_LocalOp : Kernel_Op<"local", [MemoryEffects<[MemAlloc]>]> {
  let summary = "Scratch of the running thread, unset; with `memory` that of a GPU's block of threads";
  let description = "On a CPU `offset` says at which byte of the thread's scratch it begins; without, it is on the stack.";
  let arguments = (ins OptionalAttr<Kernel_MemoryAttr>:$memory, OptionalAttr<Kernel_Bytes>:$offset);
  let results = (outs Kernel_Local:$result);
  let builders = [OpBuilder<(ins "LocalType":$type), [{ build($_builder, $_state, type, MemoryAttr(), ::mlir::IntegerAttr()); }]>];
  let assemblyFormat = "(`in` $memory^)? (`offset` $offset^)? attr-dict `:` type($result)";
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
def Kernel_RowsOp : Kernel_UserOp<"rows", [Pure, AttrSizedOperandSegments]> {
  let summary = "Where the rows of a product's operand lie";
  let description = [{
    Row i of the block is row `via`[i] of `array` (a buffer, field, argument or parameter of f32), or row `from` + i where
    there is no `via`; or row i of the local. It starts at element `offset` of that row. With `copy` the rows of an operand are
    first copied there, as numbers of the function's type: an input's are float where arithmetic is double.
  }];
  let arguments = (ins OptionalAttr<FlatSymbolRefAttr>:$array, Optional<Kernel_Local>:$via, Optional<I32>:$from,
                       Optional<Kernel_Local>:$local, Optional<Kernel_Local>:$copy,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs Kernel_Rows:$result);
  let assemblyFormat = "($array^)? (`via` $via^ `:` type($via))? (`from` $from^)? (`local` $local^ `:` type($local))? (`copy` $copy^ `:` type($copy))? `at` $offset attr-dict";
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

def Kernel_MultiplyOp : Kernel_Op<"multiply", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
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

def Kernel_OuterOp : Kernel_UserOp<"outer", [AttrSizedOperandSegments, MemoryEffects<[MemRead, MemWrite]>]> {
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

def Kernel_GemmOp : Kernel_UserOp<"gemm", [MemoryEffects<[MemRead, MemWrite]>]> {
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
    of the input's nodes of `data`, and the region is empty. `where` is where the key is declared.
  }];
  let arguments = (ins FlatSymbolRefAttr:$group, I32Attr:$cell, I32Attr:$key, I32:$outer, I32:$value,
                       OptionalAttr<FlatSymbolRefAttr>:$data, StrAttr:$where);
  let regions = (region MaxSizedRegion<1>:$range);
  let results = (outs I32:$result);
  let assemblyFormat = "$group $cell $key `[` $outer `]` `=` $value (`of` $data^)? `at` $where attr-dict-with-keyword $range";
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
def Kernel_LevelsOp : Kernel_UserOp<"levels", [NoTerminator, SingleBlock, NoRegionArguments, Kernel_TimeStepLoopInterface]> {
  let summary = "For each level of a group, in order, or `reverse` from the last one";
  let arguments = (ins FlatSymbolRefAttr:$group, UnitAttr:$reverse, UnitAttr:$persistent, OptionalAttr<FlatSymbolRefArrayAttr>:$syncs,
                       OptionalAttr<StrAttr>:$not_persistent_reason, OptionalAttr<StrAttr>:$barrier_reason,
                       OptionalAttr<FlatSymbolRefAttr>:$same_as);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = "::llvm::StringRef getCarrier() { return getGroup(); }";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$group, CArg<"bool", "false">:$reverse), [{
    build($_builder, $_state, ::mlir::FlatSymbolRefAttr::get($_builder.getContext(), group),
          reverse ? $_builder.getUnitAttr() : nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  }]>];
  let assemblyFormat = "(`persistent` $persistent^)? $group (`reverse` $reverse^)? (`syncs` $syncs^)? $body attr-dict";
}
def Kernel_StepsOp : Kernel_UserOp<"steps", [NoTerminator, SingleBlock, NoRegionArguments, Kernel_TimeStepLoopInterface]> {
  let summary = "For each step of a scan, in order, or `reverse` from the last one; inside another loop: the steps that belong to its current time step";
  let arguments = (ins FlatSymbolRefAttr:$index_set, UnitAttr:$reverse, UnitAttr:$persistent, OptionalAttr<FlatSymbolRefArrayAttr>:$syncs,
                       OptionalAttr<StrAttr>:$not_persistent_reason, OptionalAttr<StrAttr>:$barrier_reason,
                       OptionalAttr<FlatSymbolRefAttr>:$same_as);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = "::llvm::StringRef getCarrier() { return getIndexSet(); }";
  let builders = [OpBuilder<(ins "::llvm::StringRef":$indexSet, CArg<"bool", "false">:$reverse), [{
    build($_builder, $_state, ::mlir::FlatSymbolRefAttr::get($_builder.getContext(), indexSet),
          reverse ? $_builder.getUnitAttr() : nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  }]>];
  let assemblyFormat = "(`persistent` $persistent^)? $index_set (`reverse` $reverse^)? (`syncs` $syncs^)? $body attr-dict";
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
    Of a matrix in tiles that blocks share the tile that the block computes. Products of the loop read the copy. It is there
    behind kernel.wait_copies, for the thread, and behind a kernel.barrier after that, for the block.
  }];
  let arguments = (ins FlatSymbolRefAttr:$weights);
  let assemblyFormat = "$weights attr-dict";
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
def Kernel_ConcurrentOp : Kernel_Op<"concurrent", [NoTerminator, SingleBlock, NoRegionArguments]> {
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

#endif // DBC_KERNEL
