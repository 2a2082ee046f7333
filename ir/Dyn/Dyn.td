// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect: what a model means for ONE input.

#ifndef DBC_DYN
#define DBC_DYN

include "mlir/IR/OpBase.td"
include "Dyn/DynTypes.td"
include "Dyn/DynInterfaces.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===-- Declarations ------------------------------------------------------------------------------------------===//

class Dyn_Op<string m, list<Trait> t = []> : Op<Dyn_Dialect, m, t>;

/// An operation that names symbols.
class Dyn_UserOp<string m, list<Trait> t = []>
    : Dyn_Op<m, !listconcat(t, [DeclareOpInterfaceMethods<SymbolUserOpInterface>])>;

/// An operation on the numbers of one row.
class Dyn_RowOp<string m, string kind, list<Trait> t = []> : Dyn_Op<m, !listconcat([Pure, Dyn_RowOpInterface], t)> {
  let extraClassDeclaration = "RowKind getRowKind() { return RowKind::" # kind # "; }";
}

def Dyn_DataOp : Dyn_Op<"data", [Symbol, HasParent<"::mlir::ModuleOp">, NoTerminator, SingleBlock, NoRegionArguments]> {
  let summary = "A data type: what the application feeds in";
  let description = "Holds one `dyn.ctor` a constructor, in the order of the source; a node's kind is its number.";
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<CtorOp> getCtors();
    /// The constructor called `name`, or null.
    CtorOp getCtor(::llvm::StringRef name);
  }];
}

def Dyn_CtorOp : Dyn_UserOp<"ctor", [HasParent<"DataOp">]> {
  let summary = "A constructor with the surface types of its fields";
  let arguments = (ins StrAttr:$name, StrArrayAttr:$fields, TypeArrayAttr:$types);
  let assemblyFormat = "$name $fields $types attr-dict";
  let hasVerifier = 1;
}

def Dyn_ParamOp : Dyn_Op<"param", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A parameter or a tensor const, by its path";
  let description = "A const (manual, N7) has no initialiser and no gradient.";
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Dyn_Number>:$type, OptionalAttr<Dyn_InitAttr>:$init, UnitAttr:$constant);
  let assemblyFormat = "(`const` $constant^)? $sym_name `:` $type (`=` $init^)? attr-dict";
  let hasVerifier = 1;
}

def Dyn_MovedProductOp : Dyn_Op<"moved_product", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "What became of a product of the source, for reports";
  let description = [{
    Its location is the product's; `params` are the parameters that it multiplies by. It is computed: `behind_sum`, once
    behind the sum at the location `of`; `by_instance`, once for each instance of the cell `of`; `outside`, a part of it once
    outside the binder at `of`; `nowhere`, by those that read instances of the cell `of`, each of which is taken to have
    one reader.
  }];
  let arguments = (ins StrAttr:$params, Dyn_MovedToAttr:$to, StrAttr:$of);
  let assemblyFormat = "$params $to $of attr-dict";
}

class Dyn_FuncLike<string m> : Dyn_UserOp<m, [Symbol, HasParent<"::mlir::ModuleOp">, IsolatedFromAbove, SingleBlock]> {
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dyn_CellOp : Dyn_FuncLike<"cell"> {
  let summary = "A cell: one value for each instance, computed once";
  let description = [{
    The block's arguments are the keys: nodes, and numbers (i32 of an index or ranged int, i1) whose ranges are `ranges`,
    a region each in the order of the keys. A range's arguments are the keys before; it yields the least key and the one
    behind the last, structurally. `results` are the flat types; `surface` is the type in the source. An instance is one
    tuple of keys; only called instances are computed, a call outside of a range fails the input (manual, C2). The last
    `value_count` arguments are captured: a call from outside of the recursion gives their values to all instances that it
    leads to (manual, C4); instances of different calls are different. `dyn-lambda-lift` makes keys of them, and tells of a
    cell that it makes: `source_name`, what the source calls it, `frame`, which keys stand for the captured arguments (the
    first, and how many), and `sites`, by which calls from outside its instances are reached: see kernel.index_set.
    ```mlir
    dyn.cell @encode(%t: !dyn.node<@Tree>) -> (tensor<150xf32>, tensor<150xf32>) { ... dyn.return %h, %c : ... }
    dyn.cell @state(%v: !dyn.node<@Atom>, %t: i32) -> (tensor<100xf32>) { ... }
      range { ^bb0(%v: !dyn.node<@Atom>): ... dyn.yield %zero, %five : i32, i32 }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$results, TypeAttr:$surface, OptionalAttr<I32Attr>:$value_count,
                       OptionalAttr<StrAttr>:$source_name, OptionalAttr<DenseI64ArrayAttr>:$frame,
                       OptionalAttr<DenseI64ArrayAttr>:$sites);
  let regions = (region SizedRegion<1>:$body, VariadicRegion<SizedRegion<1>>:$ranges);
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::ArrayAttr":$results, "::mlir::Type":$surface,
                                 "unsigned":$ranges), [{
    build($_builder, $_state, $_builder.getStringAttr(name), results, ::mlir::TypeAttr::get(surface), nullptr, nullptr, nullptr,
          nullptr, ranges);
  }]>];
  let extraClassDeclaration = [{
    static ::llvm::StringRef getKeyword() { return "cell"; }
    ::mlir::Block::BlockArgListType getKeys();
    ::mlir::Block::BlockArgListType getValues();
    /// The range of a key; null for a node.
    ::mlir::Region *getRange(unsigned key);
  }];
}

def Dyn_RelationOp : Dyn_UserOp<"relation", [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let summary = "A call site as a relation that can be asked for its transpose while instances are discovered";
  let description = [{
    From the instances of `from`, an entry or a cell, at each position of the binders around the call, to those of `to`. Of
    cells whose captured values change along the recursion (manual, C5): what they are depends on the call. So all calls of
    such a cell are edges of relations, and an instance that two edges lead to, of one relation or of two, fails the input.
    `keeps`: how many values an instance keeps of the edge that leads to it, the caller's keys and the positions, or none.
    ```mlir
    dyn.relation @rel.lead.down : @lead -> @down keeps 0
    dyn.relation @rel.down.down : @down -> @down keeps 2
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$from, FlatSymbolRefAttr:$to,
                       ConfinedAttr<I32Attr, [IntNonNegative]>:$keeps);
  let assemblyFormat = "$sym_name `:` $from `->` $to `keeps` $keeps attr-dict";
}

def Dyn_EntryOp : Dyn_FuncLike<"entry"> {
  let summary = "An entry or a loss: what the application calls";
  let description = [{
    The block's arguments are the flat arguments in order; `arg_names` and `arg_types` are the surface ones. A loss
    (`loss` set) gives its f32 first, outputs after it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$arg_names, TypeArrayAttr:$arg_types, TypeArrayAttr:$results,
                       TypeAttr:$surface, UnitAttr:$loss);
  let extraClassDeclaration = [{ static ::llvm::StringRef getKeyword() { return "entry"; } }];
}

def Dyn_ReturnOp : Dyn_Op<"return", [Pure, Terminator, ParentOneOf<["CellOp", "EntryOp"]>]> {
  let summary = "The value of a cell, an entry or a loss";
  let arguments = (ins Variadic<Dyn_Flat>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Dyn_YieldOp : Dyn_Op<"yield", [Pure, Terminator,
    ParentOneOf<["CellOp", "MatchOp", "IfOp", "MapOp", "FilterOp", "ScanOp", "FoldOp"]>]> {
  let summary = "The value of a region";
  let arguments = (ins Variadic<Dyn_Flat>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===-- Structure ---------------------------------------------------------------------------------------------===//

def Dyn_FieldOp : Dyn_UserOp<"field", [Pure, Dyn_FailureOpInterface]> {
  let summary = "A field of a node";
  let description = [{
    `ctor` is set where the constructor is known (inside a match arm, or a type with one constructor); otherwise every
    constructor has the field with this type (manual, T6). The field's flat type is the result's.
  }];
  let arguments = (ins Dyn_AnyNode:$node, StrAttr:$name, OptionalAttr<StrAttr>:$ctor);
  let results = (outs Dyn_Flat:$result);
  let assemblyFormat = "$node $name (`of` $ctor^)? attr-dict `:` type($node) `->` type($result)";
}

def Dyn_CallOp : Dyn_Op<"call", [AlwaysSpeculatable, Dyn_FailureOpInterface, AttrSizedOperandSegments, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a cell at its keys, with captured arguments";
  let description = [{
    A call site is a RELATION from the caller's instances to the callee's: lowered to an index array, its transpose is
    what an adjoint sums over. A call `from` a `dyn.relation` is an edge of it: the callee's instance keeps `origin`, the
    caller's keys and the positions in the binders around the call, for `dyn.caller`. So it stays, whether its results are
    used or not, and where it is computed by another cell it is the same edge.
    With `every` the first result is the list of the first keys, nodes, of all instances of the callee that the call leads to,
    itself included, in the order of their numbers; the secondary keys are those of the call. The other results are the lists
    of what these instances give (manual, C5); `dyn-lambda-lift` leaves the nodes alone, in calls of cells that nothing else
    calls from outside.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Dyn_Flat>:$keys, Variadic<Dyn_Flat>:$values,
                       OptionalAttr<FlatSymbolRefAttr>:$relation, Variadic<Dyn_Key>:$origin, UnitAttr:$every);
  let results = (outs Variadic<Dyn_Flat>:$results);
  let assemblyFormat = "(`every` $every^)? $callee `(` $keys `)` (`captured` `(` $values^ `)`)? (`from` $relation^ `(` $origin `)`)? attr-dict `:` functional-type(operands, results)";
}

def Dyn_NeedOp : Dyn_Op<"need", [MemoryEffects<[MemWrite]>]> {
  let summary = "Computes a value that nothing may read, for it may fail the input";
  let description = "Where `dyn-lambda-lift` lets others compute what an operation gave, this stands for its failures.";
  let arguments = (ins Dyn_Flat:$value);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Dyn_OptimizationBarrierOp : Dyn_Op<"optimization_barrier", [Pure, SameOperandsAndResultType]> {
  let summary = "The same number, of which nothing is known until there are stages";
  let description = [{
    A number that a call gives is computed in a cell (manual, S2), whatever it is where the call stands: a constant must not
    decide what the cell computes, and what the source says of an untaken arm, such as that a field must be given, stands all
    the same; an integer that follows from structure does not make the cell's own integers structural, whose errors would come
    first (E2). `dyn-to-batch` writes integers to the rows of the cell, and drops it of other numbers.
  }];
  let arguments = (ins Dyn_Number:$value);
  let results = (outs Dyn_Number:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

def Dyn_CalledByOp : Dyn_UserOp<"called_by", [Pure, Dyn_FailureOpInterface]> {
  let summary = "Whether it is by an edge of a `dyn.relation` that an instance is called, by its keys";
  let arguments = (ins FlatSymbolRefAttr:$relation, Variadic<Dyn_Flat>:$keys);
  let results = (outs I1:$result);
  let assemblyFormat = "$relation `(` $keys `)` attr-dict `:` type($keys)";
}

def Dyn_CallerOp : Dyn_UserOp<"caller", [Pure, Dyn_FailureOpInterface]> {
  let summary = "A `dyn.relation` the other way: from an instance that it leads to, by its keys, to who calls it";
  let description = "The first values of the call's `origin`: the caller's keys, then positions.";
  let arguments = (ins FlatSymbolRefAttr:$relation, Variadic<Dyn_Flat>:$keys);
  let results = (outs Variadic<Dyn_Flat>:$results);
  let assemblyFormat = "$relation `(` $keys `)` attr-dict `:` functional-type($keys, $results)";
}

def Dyn_ArgumentOp : Dyn_Op<"argument", [Pure, Dyn_FailureOpInterface]> {
  let summary = "A flat argument of the entry that is being computed, inside a cell";
  let description = "Cells that `dyn-lambda-lift` made of an entry's operations read its arguments so.";
  let arguments = (ins I32Attr:$component);
  let results = (outs Dyn_Flat:$result);
  let assemblyFormat = "$component attr-dict `:` type($result)";
}

def Dyn_MatchOp : Dyn_UserOp<"match", [RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "One arm by the node's constructor";
  let description = [{
    One region a name in `ctors`; the name `_` (last) stands for all others. Exhaustive. Only the arm of the node's
    constructor is computed.
  }];
  let arguments = (ins Dyn_AnyNode:$node, StrArrayAttr:$ctors);
  let results = (outs Variadic<Dyn_Flat>:$results);
  let regions = (region VariadicRegion<SizedRegion<1>>:$arms);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Dyn_IfOp : Dyn_Op<"if", [RecursiveMemoryEffects, SingleBlock, NoRegionArguments]> {
  let summary = "One of two regions, by a structural condition (manual, S3)";
  let arguments = (ins I1:$condition);
  let results = (outs Variadic<Dyn_Flat>:$results);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat = "$condition attr-dict `->` `(` type($results) `)` $then `else` $otherwise";
  let hasVerifier = 1;
}

def Dyn_NodesOp : Dyn_Op<"nodes", [Pure, Dyn_FailureOpInterface,
    TypesMatchWith<"the result is a list of the node's type", "node", "result", "::dbc::dyn::ListType::get($_self)">]> {
  let summary = "All nodes of the same type that can be reached (manual, D3)";
  let description = "Each once, in the application's numbering. Only in entries and losses.";
  let arguments = (ins Dyn_AnyNode:$node);
  let results = (outs Dyn_AnyList:$result);
  let assemblyFormat = "$node attr-dict `:` type($node) `->` type($result)";
}

def Dyn_SameOp : Dyn_Op<"same", [Pure, SameTypeOperands]> {
  let summary = "Whether two references are the same node";
  let arguments = (ins Dyn_AnyNode:$a, Dyn_AnyNode:$b);
  let results = (outs I1:$result);
  let assemblyFormat = "$a `,` $b attr-dict `:` type($a) `,` type($b)";
}

def Dyn_IntOp : Dyn_RowOp<"int", "Elementwise", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail", "getCheckedOperands"]>]> {
  let summary = "32-bit integer arithmetic; overflow and division by 0 are errors of the input";
  let description = "`div` and `rem` floor. On tensors elementwise.";
  let arguments = (ins Dyn_IntKindAttr:$kind, Dyn_Ints:$a, Dyn_Ints:$b);
  let results = (outs Dyn_Ints:$result);
  let assemblyFormat = "$kind $a `,` $b attr-dict `:` type($result)";
}

def Dyn_NarrowOp : Dyn_RowOp<"narrow", "Elementwise", [SameOperandsAndResultType,
    DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["getCheckedOperands"]>]> {
  let summary = "Integers that must be 0 .. bound - 1, else the input fails (manual, T4)";
  let arguments = (ins Dyn_Ints:$value, ConfinedAttr<I64Attr, [IntPositive]>:$bound);
  let results = (outs Dyn_Ints:$result);
  let assemblyFormat = "$value `below` $bound attr-dict `:` type($value)";
}

//===-- Lists -------------------------------------------------------------------------------------------------===//

def Dyn_RangeOp : Dyn_Op<"range", [Pure, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail"]>]> {
  let summary = "The integers low .. high - 1; empty if high <= low";
  let arguments = (ins I32:$low, I32:$high);
  let results = (outs Dyn_ListOf<I32>:$result);
  let assemblyFormat = "$low `to` $high attr-dict `:` type($result)";
  // 0 .. length - 1.
  let builders = [OpBuilder<(ins "::mlir::Value":$length), [{
    ::mlir::Value zero = ::mlir::arith::ConstantOp::create($_builder, $_state.location, $_builder.getI32IntegerAttr(0));
    build($_builder, $_state, ListType::get($_builder.getI32Type()), zero, length);
  }]>];
}

def Dyn_EmptyOp : Dyn_UserOp<"empty", [Pure]> {
  let summary = "The empty list of nodes";
  let arguments = (ins);
  let results = (outs Dyn_ListOf<Dyn_AnyNode>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Dyn_LenOp : Dyn_Op<"len", [Pure]> {
  let summary = "The length of a list";
  let arguments = (ins Dyn_AnyList:$list);
  let results = (outs I32:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dyn_ZipOp : Dyn_Op<"zip", [Pure, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail"]>]> {
  let summary = "The same lists, after a test that their lengths are equal";
  let arguments = (ins Variadic<Dyn_AnyList>:$lists);
  let results = (outs Variadic<Dyn_AnyList>:$results);
  let assemblyFormat = "$lists attr-dict `:` functional-type($lists, $results)";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$lists), [{
    $_state.addOperands(lists);
    $_state.addTypes(lists.getTypes());
  }]>];
}

def Dyn_ReverseOp : Dyn_Op<"reverse", [Pure, SameOperandsAndResultType]> {
  let summary = "The list from its end";
  let arguments = (ins Dyn_AnyList:$list);
  let results = (outs Dyn_AnyList:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

def Dyn_SliceOp : Dyn_Op<"slice", [Pure, Dyn_FailureOpInterface, AllTypesMatch<["list", "result"]>]> {
  let summary = "Elements low .. high - 1; outside the list the input fails";
  let arguments = (ins Dyn_AnyList:$list, I32:$low, I32:$high);
  let results = (outs Dyn_AnyList:$result);
  let assemblyFormat = "$list `from` $low `to` $high attr-dict `:` type($list) `->` type($result)";
}

def Dyn_AtOp : Dyn_Op<"at", [Pure, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["getCheckedOperands"]>,
    TypesMatchWith<"the result is an element of the list", "list", "result",
                   "::llvm::cast<::dbc::dyn::ListType>($_self).getElement()">]> {
  let summary = "One element; outside the list the input fails";
  let description = [{
    The index of a list of numbers may be computed (manual, S3). Where the computed `when` is given and false nothing
    fails: what is outside the list is then 0.
  }];
  let arguments = (ins Dyn_AnyList:$list, I32:$index, Optional<I1>:$when);
  let results = (outs Dyn_Flat:$result);
  let assemblyFormat = "$list `[` $index `]` (`when` $when^)? attr-dict `:` type($list) `->` type($result)";
}

def Dyn_MapOp : Dyn_Op<"map", [RecursiveMemoryEffects, SingleBlock, Dyn_BinderOpInterface]> {
  let summary = "A value for each element of lists of one length";
  let description = [{
    The lists have one length (one list, or results of one `dyn.zip`, or of one scan or map). The block's arguments are
    their elements, in order.
    ```mlir
    %hs = dyn.map (%kids) -> (!dyn.list<tensor<150xf32>>) { ^bb0(%k: !dyn.node<@Tree>): ... dyn.yield %h : ... }
    ```
  }];
  let arguments = (ins Variadic<Dyn_AnyList>:$lists);
  let results = (outs Variadic<Dyn_AnyList>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $lists `)` attr-dict `:` functional-type($lists, $results) $body";
  let hasVerifier = 1;
}

def Dyn_FilterOp : Dyn_Op<"filter", [RecursiveMemoryEffects, SingleBlock, Dyn_BinderOpInterface]> {
  let summary = "The elements of lists of one length for which a condition holds";
  let description = [{
    The block's arguments are the elements, in order; it yields whether they stay. The condition is structural (manual,
    S2), so the results' one length is known before any arithmetic.
    ```mlir
    %near = dyn.filter (%bonds) : (!dyn.list<!dyn.node<@Bond>>) -> (!dyn.list<!dyn.node<@Bond>>) { ^bb0(%k: !dyn.node<@Bond>): ... dyn.yield %c : i1 }
    ```
  }];
  let arguments = (ins Variadic<Dyn_AnyList>:$lists);
  let results = (outs Variadic<Dyn_AnyList>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $lists `)` attr-dict `:` functional-type($lists, $results) $body";
  let hasVerifier = 1;
}

def Dyn_ScanOp : Dyn_Op<"scan", [RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments, Dyn_BinderOpInterface,
    Dyn_RecurrenceOpInterface, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail"]>]> {
  let summary = "All states of a recurrence along lists of one length, but the first";
  let description = [{
    The block's arguments are the elements and then the states; it yields the next states. With `back` the lists are
    walked from their end and the result stands in the lists' order (manual, L2). With `stops` the last state, an i1, says
    whether there is a further step: where it is false the results end (manual, S4), and their length is computed.
    A list in the state keeps its length, else the input fails (manual, C6); then the scan does not stop.
  }];
  let arguments = (ins Variadic<Dyn_AnyList>:$lists, Variadic<Dyn_Flat>:$init, UnitAttr:$back, UnitAttr:$stops);
  let results = (outs Variadic<Dyn_AnyList>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`back` $back^)? (`stops` $stops^)? `(` $lists `)` `from` `(` $init `)` attr-dict `:` `(` type($lists) `)` `,` `(` type($init) `)` `->` `(` type($results) `)` $body";
  let hasVerifier = 1;
}

def Dyn_FoldOp : Dyn_Op<"fold", [RecursiveMemoryEffects, SingleBlock, AttrSizedOperandSegments, Dyn_BinderOpInterface,
    Dyn_RecurrenceOpInterface, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail"]>]> {
  let summary = "The last state of a recurrence along lists of one length; the first where they are empty";
  let description = [{
    `stops` as for `dyn.scan`. A list in the state keeps its length, else the input fails (manual, C6).
  }];
  let arguments = (ins Variadic<Dyn_AnyList>:$lists, Variadic<Dyn_Flat>:$init, UnitAttr:$stops);
  let results = (outs Variadic<Dyn_Flat>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "(`stops` $stops^)? `(` $lists `)` `from` `(` $init `)` attr-dict `:` `(` type($lists) `)` `,` `(` type($init) `)` `->` `(` type($results) `)` $body";
  let hasVerifier = 1;
}

def Dyn_ReduceListOp : Dyn_Op<"reduce_list", [Pure, DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail", "getCheckedOperands"]>]> {
  let summary = "Elementwise reduction over the elements of a list";
  let description = [{
    In list order. Empty: `sum` 0, `logsumexp` -inf, `any` false, `all` true; `mean max min argmax` fail the input
    (manual, L3). `argmax` takes scalars and gives the position of the first of the largest. Where the computed `when` is
    given and false nothing fails that depends on a `while`.
  }];
  let arguments = (ins Dyn_ReduceKindAttr:$kind, Dyn_AnyList:$list, Optional<I1>:$when);
  let results = (outs Dyn_Number:$result);
  let assemblyFormat = "$kind $list (`when` $when^)? attr-dict `:` type($list) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_SoftmaxListOp : Dyn_Op<"softmax_list", [Pure, SameOperandsAndResultType]> {
  let summary = "Elementwise softmax over the elements of a list: the list of weights";
  let arguments = (ins Dyn_ListOf<Dyn_Reals>:$list);
  let results = (outs Dyn_ListOf<Dyn_Reals>:$result);
  let assemblyFormat = "$list attr-dict `:` type($list)";
}

//===-- Numbers and tensors -----------------------------------------------------------------------------------===//

def Dyn_GetOp : Dyn_Op<"get", [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "The value of a parameter";
  let arguments = (ins FlatSymbolRefAttr:$param);
  let results = (outs Dyn_Number:$result);
  let assemblyFormat = "$param attr-dict `:` type($result)";
}

def Dyn_GatherOp : Dyn_RowOp<"gather", "View", [DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail", "getCheckedOperands"]>]> {
  let summary = "Rows of a tensor along axis 0 by a dynamic index";
  let description = [{
    An `i32` index drops axis 0; a tensor of indices puts its shape in front. `checked` where the index is not known to
    be in range: out of range the input fails.
  }];
  let arguments = (ins Dyn_Number:$tensor, Dyn_Number:$index, UnitAttr:$checked);
  let results = (outs Dyn_Number:$result);
  let assemblyFormat = "$tensor `[` $index `]` (`checked` $checked^)? attr-dict `:` type($tensor) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_FunctionOp : Dyn_RowOp<"function", "Elementwise", [SameOperandsAndResultType]> {
  let summary = "Elementwise functions of f32 that `math` lacks";
  let arguments = (ins Dyn_FunctionKindAttr:$kind, Dyn_Reals:$x);
  let results = (outs Dyn_Reals:$result);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}

def Dyn_DetachOp : Dyn_RowOp<"detach", "Elementwise", [SameOperandsAndResultType]> {
  let summary = "The same number, without a gradient (manual, G1)";
  let description = "Where nothing is differentiated dyn-decompose drops it.";
  let arguments = (ins Dyn_Reals:$x);
  let results = (outs Dyn_Reals:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def Dyn_DropoutOp : Dyn_RowOp<"dropout", "Elementwise", [AttrSizedOperandSegments, AllTypesMatch<["x", "result"]>]> {
  let summary = "Elements are dropped, the others divided by 1 - rate, by a mask (manual, G2)";
  let description = [{
    Only in losses that are trained: in an entry it is x. The mask follows from the run, the input, the `place`, a number
    of the dropout's own, and the `keys`: those of the instance, positions in binders, indices of tables of layers. Nodes among
    them count by their number in the input. So wherever it is computed, with the same operands it is the same. With `of_run`
    all inputs of a run share it. In stages `input` is the input's position in the batch, unless `of_run`, and keys are
    numbers.
    ```mlir
    %y = dyn.dropout %x rate 0.5 place 7 keys (%t, %i : !dyn.node<@Tree>, i32) : tensor<150xf32>
    ```
  }];
  let arguments = (ins Dyn_Reals:$x, Optional<I32>:$input, Variadic<Dyn_Key>:$keys, F32Attr:$rate, I64Attr:$place,
                       UnitAttr:$of_run);
  let results = (outs Dyn_Reals:$result);
  let assemblyFormat = "$x `rate` $rate `place` $place (`of_run` $of_run^)? (`input` $input^)? (`keys` `(` $keys^ `:` type($keys) `)`)? attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Dyn_BroadcastOp : Dyn_RowOp<"broadcast", "View"> {
  let summary = "NumPy's broadcast of a scalar or tensor to a tensor's shape";
  let arguments = (ins Dyn_Number:$x);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_TransposeOp : Dyn_RowOp<"transpose", "View"> {
  let summary = "All axes in reverse order";
  let arguments = (ins AnyStaticShapeTensor:$x);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_PatchesOp : Dyn_RowOp<"patches", "View"> {
  let summary = "What a window sees that is moved over a picture: the operand of a convolution's product";
  let description = [{
    Of `x[channel, row, column]` element [channel, i, j, y, x] of the result is
    x[channel, y * stride[0] + i - padding[0], x * stride[1] + j - padding[1]], and 0 outside of the picture. The window is as
    large as the result says.
  }];
  let arguments = (ins AnyStaticShapeTensor:$x, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$x `stride` $stride `padding` $padding attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_SumPatchesOp : Dyn_RowOp<"sum_patches", "Reduction"> {
  let summary = "The transpose of patches: at each pixel the sum of the window elements that saw it (col2im)";
  let description = [{
    The elements of `x[channel, i, j, y, x]` of one pixel are added in row-major order of (i, j). What the windows saw
    outside of the picture is dropped.
  }];
  let arguments = (ins AnyStaticShapeTensor:$x, DenseI64ArrayAttr:$stride, DenseI64ArrayAttr:$padding);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$x `stride` $stride `padding` $padding attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_ReduceOp : Dyn_RowOp<"reduce", "Reduction", [DeclareOpInterfaceMethods<Dyn_FailureOpInterface, ["mayFail", "getCheckedOperands"]>]> {
  let summary = "Reduction of a tensor along one axis, or of all its elements";
  let description = [{
    Without `axis` over all elements in row-major order, giving a scalar. With it the axis is dropped. Elements are
    added in order. `argmax` gives the first of the largest.
  }];
  let arguments = (ins Dyn_ReduceKindAttr:$kind, AnyStaticShapeTensor:$x, OptionalAttr<I64Attr>:$axis);
  let results = (outs Dyn_Number:$result);
  let assemblyFormat = "$kind $x (`axis` $axis^)? attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_TopKOp : Dyn_RowOp<"topk", "Reduction"> {
  let summary = "Where the largest elements of a vector stand, the largest first; of equals the first (manual, G1)";
  let description = "As many as the result has. A NaN is none of them; where nothing else is left the position is 0.";
  let arguments = (ins StaticShapeTensorOf<[F32, I32]>:$x);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let hasVerifier = 1;
}

def Dyn_SoftmaxOp : Dyn_RowOp<"softmax", "Reduction", [SameOperandsAndResultType]> {
  let summary = "Softmax along an axis; with `log` its logarithm";
  let arguments = (ins StaticShapeTensorOf<[F32]>:$x, I64Attr:$axis, UnitAttr:$log);
  let results = (outs StaticShapeTensorOf<[F32]>:$result);
  let assemblyFormat = "(`log` $log^)? $x `axis` $axis attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // DBC_DYN
