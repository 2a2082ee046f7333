// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `dyn` dialect itself, and its enums. Those that the other dialects use too are here alone.

#ifndef DBC_DYN_BASE
#define DBC_DYN_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Dyn_Dialect : Dialect {
  let name = "dyn";
  let cppNamespace = "::dbc::dyn";
  let summary = "What a model means for one input";
  let description = [{
    A `dyn` module is a pure, typed, single-instance program with static shapes: structure types, cells, matches and
    calls. There is no batch and no order of execution beyond data dependence. The arithmetic inside is upstream's
    (`arith`, `math`, `tensor`; every product is a `linalg.contract`); the ops here say what upstream lacks.

    Source functions (`fn`) are inlined, layers are expanded to the path of their parameter, and records and tuples are
    flattened to one SSA value a component, in the order of declaration, depth first. A list of records is one list a
    component. Surface types (`!dyn.index`, `!dyn.record`, `tuple`) appear only in declarations, where the API and the
    readers of instances need them; SSA values have flat types:

    | surface | flat |
    |---|---|
    | `index[n]`, `int` | `i32` |
    | `bool` | `i1` |
    | `f32` | `f32` |
    | tensor of these | `tensor<...xf32>`, `tensor<...xi32>`, `tensor<...xi1>` |
    | data type | `!dyn.node<@Tree>` |
    | list | `!dyn.list<flat>` |
    | record, tuple | one value a component |

    Integers have 32 bits. `i32` values that a list, a key or an index is made from are structural (manual, S1).
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::linalg::LinalgDialect"];
  // `dyn.dims` of a module: the dims of the source, by name, as they were bound.
  let discardableAttrs = (ins "::mlir::DictionaryAttr":$dims);
  let hasOperationAttrVerify = 1;
}

class Dyn_Enum<string n, string d, list<I32EnumCase> c> : I32Enum<n, d, c> {
  let cppNamespace = "::dbc::dyn";
}
def Dyn_InitKind : Dyn_Enum<"InitKind", "how a parameter is drawn", [
    I32EnumCase<"Constant", 0, "constant">, I32EnumCase<"Uniform", 1, "uniform">, I32EnumCase<"Normal", 2, "normal">,
    I32EnumCase<"Glorot", 3, "glorot">]>;
def Dyn_IntKind : Dyn_Enum<"IntKind", "checked 32-bit arithmetic", [
    I32EnumCase<"Add", 0, "add">, I32EnumCase<"Sub", 1, "sub">, I32EnumCase<"Mul", 2, "mul">,
    I32EnumCase<"Div", 3, "div">, I32EnumCase<"Rem", 4, "rem">, I32EnumCase<"Max", 5, "max">,
    I32EnumCase<"Min", 6, "min">]>;
def Dyn_FunctionKind : Dyn_Enum<"FunctionKind", "elementwise functions that math lacks", [
    I32EnumCase<"Sigmoid", 0, "sigmoid">, I32EnumCase<"Relu", 1, "relu">, I32EnumCase<"Gelu", 2, "gelu">,
    I32EnumCase<"Softplus", 3, "softplus">]>;
// The last one is batch.segment's alone: the source's `xs[i]`.
def Dyn_ReduceKind : Dyn_Enum<"ReduceKind", "reductions of lists, of tensor axes and of segments", [
    I32EnumCase<"Sum", 0, "sum">, I32EnumCase<"Mean", 1, "mean">, I32EnumCase<"Max", 2, "max">,
    I32EnumCase<"Min", 3, "min">, I32EnumCase<"LogSumExp", 4, "logsumexp">, I32EnumCase<"ArgMax", 5, "argmax">,
    I32EnumCase<"Any", 6, "any">, I32EnumCase<"All", 7, "all">, I32EnumCase<"Pick", 8, "pick">]>;

// From Join on a stage gives each a loop of its own; what comes before is written where it is used.
def Dyn_RowKind : Dyn_Enum<"RowKind", "what an element of a row operation's result is made of", [
    I32EnumCase<"Elementwise", 0, "elementwise">, // the operands' elements at its position; scalars stand at each
    I32EnumCase<"View", 1, "view">,               // one element of the first operand, found by its position
    I32EnumCase<"Join", 2, "join">,               // one element of one of the operands
    I32EnumCase<"Reduction", 3, "reduction">,     // many elements of one operand
    I32EnumCase<"Product", 4, "product">]>;       // a sum of products of two operands' elements

def Dyn_MovedTo : Dyn_Enum<"MovedTo", "where a product of the source is computed", [
    I32EnumCase<"BehindSum", 0, "behind_sum">, I32EnumCase<"ByInstance", 1, "by_instance">,
    I32EnumCase<"Outside", 2, "outside">, I32EnumCase<"Nowhere", 3, "nowhere">]>;

// In an operation they stand bare: `dyn.int add %a, %b`.
def Dyn_IntKindAttr : EnumAttr<Dyn_Dialect, Dyn_IntKind, "int_kind">;
def Dyn_FunctionKindAttr : EnumAttr<Dyn_Dialect, Dyn_FunctionKind, "function_kind">;
def Dyn_ReduceKindAttr : EnumAttr<Dyn_Dialect, Dyn_ReduceKind, "reduce_kind">;
def Dyn_MovedToAttr : EnumAttr<Dyn_Dialect, Dyn_MovedTo, "moved_to">;

#endif // DBC_DYN_BASE
