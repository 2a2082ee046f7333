// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Operations that declare: what the program is for, its programs, and the arrays of each. Part of Kernel.td.

#ifndef DBC_KERNEL_DECLARATIONS
#define DBC_KERNEL_DECLARATIONS

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
    `arg_types` and `surface` are the surface types in the source. `kernel.output` says where each flat result lies. Until
    batch-to-kernel it holds stages and relations of `batch`, then a `kernel.run`.
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
    their keys alone. `shared`: nodes that are alike in these share instances, where a run wants that (set by
    kernel-plan-slots).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$cells,
                       TypedArrayAttrBase<AnyAttrOf<[FlatSymbolRefAttr, UnitAttr]>, "data types">:$datas,
                       OptionalAttr<TypedArrayAttrBase<StrArrayAttr, "names of keys of each cell">>:$keys,
                       FlatSymbolRefArrayAttr:$calls, UnitAttr:$of_fields, OptionalAttr<I32Attr>:$level_key, UnitAttr:$shared);
  let assemblyFormat = "$sym_name $cells `of` $datas (`keys` $keys^)? `by` $calls (`level_key` $level_key^)? (`shared` $shared^)? attr-dict";
  let extraClassDeclaration = [{
    /// The names of a cell's secondary keys.
    ::llvm::SmallVector<::llvm::StringRef> getSecondaryKeys(unsigned cell);
    /// The data type of a cell's first key; empty if that is the input.
    ::llvm::StringRef getDataOf(unsigned cell);
    /// The only secondary key of a cell if it is fixed; else null.
    KeyOp getFixedKey(unsigned cell);
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
    Buffers with the same `storage` share memory (set by batch-plan-buffers): their lives do not overlap. `type` is a scalar
    or a static tensor of f32, i32 or i1. `live`: only the rows of the last so many levels of a recursion are kept, while it
    runs and behind it (set by batch-plan-steps); rows of such an index set lie in the order of the levels, and indices of
    kernels are row numbers less a `kernel.window`. `stride`: so many numbers behind each other rows begin (absent: as many as
    a row has; set by kernel-pad-rows).
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$index_set, TypeAttrOf<Kernel_Stored>:$type,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$storage,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntPositive]>>:$live, OptionalAttr<Kernel_Positive>:$stride);
  let assemblyFormat = "$sym_name `over` $index_set `:` $type (`live` $live^)? (`storage` $storage^)? (`stride` $stride^)? attr-dict";
  // With memory of its own, one row behind the other.
  let builders = [OpBuilder<(ins "const ::llvm::Twine &":$name, "::llvm::StringRef":$index_set, "::mlir::Type":$type), [{
    build($_builder, $_state, name.str(), index_set, type, /*storage=*/::mlir::IntegerAttr(), /*live=*/::mlir::IntegerAttr(),
          /*stride=*/::mlir::IntegerAttr());
  }]>];
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
  // first column, rows and columns of the block. Matrices of a parameter of rank 3 are taken for one, one below the other.
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefArrayAttr:$submatrices,
                       DenseI64ArrayAttr:$positions, Kernel_Positive:$out, Kernel_Positive:$in,
                       OptionalAttr<Kernel_Positive>:$tables, OptionalAttr<FlatSymbolRefAttr>:$init,
                       OptionalAttr<Kernel_Positive>:$gates, OptionalAttr<Kernel_Positive>:$width,
                       OptionalAttr<Kernel_ContractAttr>:$contract, UnitAttr:$turned);
  let assemblyFormat = "$sym_name `=` $submatrices `at` $positions `:` $out `by` $in (`turned` $turned^)? (`tables` $tables^)? (`init` $init^)? (`gates` $gates^ `in` `tiles` `of` $width)? (`contract` $contract^)? attr-dict";
  let extraClassDeclaration = [{
    /// What is packed, by which two are the same whatever they are called; and the matrix of it, however it is laid out.
    ::mlir::DictionaryAttr getPacked();
    ::mlir::DictionaryAttr getMatrix();
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

#endif // DBC_KERNEL_DECLARATIONS
