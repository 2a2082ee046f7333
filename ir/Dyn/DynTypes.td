// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Types and attributes of the `dyn` dialect. Part of Dyn.td.

#ifndef DBC_DYN_TYPES
#define DBC_DYN_TYPES

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypes.td"
include "Dyn/DynBase.td"

//===-- Types -------------------------------------------------------------------------------------------------===//

class Dyn_Type<string n, string m> : TypeDef<Dyn_Dialect, n> { let mnemonic = m; }

def Dyn_NodeType : Dyn_Type<"Node", "node"> {
  let summary = "A reference to a node of a data type";
  let parameters = (ins "::mlir::FlatSymbolRefAttr":$data);
  let assemblyFormat = "`<` $data `>`";
}
def Dyn_ListType : Dyn_Type<"List", "list"> {
  let summary = "A list of any length";
  let description = "The element is a flat type: a node, a scalar, a tensor, or a list of these.";
  let parameters = (ins "::mlir::Type":$element);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$element), [{
    return $_get(element.getContext(), element);
  }]>];
  let assemblyFormat = "`<` $element `>`";
}
def Dyn_IndexType : Dyn_Type<"Index", "index"> {
  let summary = "Surface type: an integer 0 .. bound - 1";
  let parameters = (ins "int64_t":$bound);
  let assemblyFormat = "`<` $bound `>`";
}
def Dyn_TensorType : Dyn_Type<"IndexTensor", "index_tensor"> {
  let summary = "Surface type: a tensor of integers 0 .. bound - 1";
  let parameters = (ins "int64_t":$bound, ArrayRefParameter<"int64_t">:$extents);
  let assemblyFormat = "`<` $bound `,` `[` $extents `]` `>`";
}
def Dyn_RecordType : Dyn_Type<"Record", "record"> {
  let summary = "Surface type: a record, with its name in the source";
  let parameters = (ins "::mlir::StringAttr":$name, "::mlir::ArrayAttr":$names, ArrayRefParameter<"::mlir::Type">:$types);
  let assemblyFormat = "`<` $name `,` $names `,` `[` $types `]` `>`";
}

def Dyn_AnyNode : Type<CPred<"::llvm::isa<::dbc::dyn::NodeType>($_self)">, "node", "::dbc::dyn::NodeType">;
def Dyn_AnyList : Type<CPred<"::llvm::isa<::dbc::dyn::ListType>($_self)">, "list", "::dbc::dyn::ListType">;
def Dyn_Number : Type<CPred<"::dbc::dyn::isNumber($_self)">,
    "f32, i32 or i1, or a statically shaped tensor of one of them">;
def Dyn_Flat : Type<CPred<"::dbc::dyn::isFlat($_self)">, "flat type (number, node, or list of these)">;
def Dyn_Ints : Type<And<[Dyn_Number.predicate, CPred<"::dbc::dyn::scalar($_self).isInteger(32)">]>,
    "i32, or a statically shaped tensor of it">;
def Dyn_Reals : Type<And<[Dyn_Number.predicate, CPred<"::dbc::dyn::scalar($_self).isF32()">]>,
    "f32, or a statically shaped tensor of it">;
def Dyn_Key : AnyTypeOf<[Dyn_AnyNode, I32, I1]>;
class Dyn_ListOf<Type element> : Type<And<[Dyn_AnyList.predicate,
    SubstLeaves<"$_self", "::llvm::cast<::dbc::dyn::ListType>($_self).getElement()", element.predicate>]>,
    "list of " # element.summary, "::dbc::dyn::ListType">;

//===-- Attributes --------------------------------------------------------------------------------------------===//


def Dyn_InitAttr : AttrDef<Dyn_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "How a parameter is drawn when no weights are given (manual, N6)";
  let description = "`a` is the constant, the low end or the mean; `b` the high end or the deviation.";
  let parameters = (ins EnumParameter<Dyn_InitKind>:$kind, "::mlir::FloatAttr":$a, "::mlir::FloatAttr":$b);
  let assemblyFormat = "`<` $kind `,` $a `,` $b `>`";
}

#endif // DBC_DYN_TYPES
