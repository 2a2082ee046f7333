// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect itself, and its enums.

#ifndef DBC_KERNEL_BASE
#define DBC_KERNEL_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::dbc::kernel";
  let summary = "How a batch is computed: loops, loads, stores, products";
  let description = [{
    A `kernel` module describes one model: its interface (`kernel.data`, `kernel.param`) and one `kernel.program` an entry
    or loss. A program declares its arrays (index sets with int32 index arrays, buffers of rows, fields of the batch, weights),
    holds functions, and says in `kernel.schedule` and `kernel.run` in which order they are called. Functions consist of
    `arith` and `math` on scalars (i32, f32, i1; `f32` is the emitter's real number) and the ops here.

    Arrays are symbols of the program. An array has rows of a static shape; `kernel.load @h[%row, %j]` reads one scalar.
    Sums run in the order of their loops, or in the one that an op says, as `kernel.lanes`: none may be reassociated.

    **Structure functions** (`structure` kernels) hold integers only. A failed `kernel.require` or `kernel.check` records an
    error for the input in hand and leaves the function. **Stage functions** compute rows `begin .. end - 1` of an index set.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::dbc::dyn::DynDialect"];
}

class Kernel_Enum<string n, string d, list<I32EnumCase> c> : I32Enum<n, d, c> { let cppNamespace = "::dbc::kernel"; }
def Kernel_IndexSetKind : Kernel_Enum<"IndexSetKind", "what the rows of an index set are", [
    I32EnumCase<"Inputs", 0, "inputs">, I32EnumCase<"Instances", 1, "instances">, I32EnumCase<"Elements", 2, "elements">,
    I32EnumCase<"Arm", 3, "arm">, I32EnumCase<"Steps", 4, "steps">, I32EnumCase<"States", 5, "states">,
    I32EnumCase<"Model", 6, "model">, I32EnumCase<"Batch", 7, "batch">, I32EnumCase<"Transpose", 8, "transpose">,
    I32EnumCase<"Distinct", 9, "distinct">, I32EnumCase<"Column", 10, "column">, I32EnumCase<"ByInput", 11, "by_input">]>;
def Kernel_FieldArray : Kernel_Enum<"FieldArray", "which array of a field's column", [
    I32EnumCase<"Value", 0, "value">, I32EnumCase<"Begin", 1, "begin">, I32EnumCase<"End", 2, "end">,
    I32EnumCase<"Items", 3, "items">, I32EnumCase<"Kind", 4, "kind">, I32EnumCase<"LossWeight", 5, "loss_weight">]>;
def Kernel_FuncKind : Kernel_Enum<"FuncKind", "what a function is for", [
    I32EnumCase<"Roots", 0, "roots">, I32EnumCase<"Calls", 1, "calls">, I32EnumCase<"Index", 2, "index">,
    I32EnumCase<"Stage", 3, "stage">, I32EnumCase<"Slot", 4, "slot">]>;
def Kernel_Memory : Kernel_Enum<"Memory", "where the scratch of a GPU's block of threads lies", [
    I32EnumCase<"Shared", 0, "shared">, I32EnumCase<"Global", 1, "global">]>;

def Kernel_Combine : Kernel_Enum<"Combine", "how the lanes of a warp combine what each has", [
    I32EnumCase<"Add", 0, "add">, I32EnumCase<"Maximum", 1, "maximum">, I32EnumCase<"Minimum", 2, "minimum">]>;

def Kernel_ErrorKind : Kernel_Enum<"ErrorKind", "what can be wrong with an input", [
    I32EnumCase<"Index", 1, "index">, I32EnumCase<"ListIndex", 2, "list_index">, I32EnumCase<"Slice", 3, "slice">,
    I32EnumCase<"Lengths", 4, "lengths">, I32EnumCase<"Empty", 5, "empty">, I32EnumCase<"Conversion", 9, "conversion">,
    I32EnumCase<"StateLength", 13, "state_length">]>;

def Kernel_Instruction : Kernel_Enum<"Instruction", "what a GPU's tensor cores do with two operands of f32", [
    I32EnumCase<"TF32", 0, "tf32">, I32EnumCase<"TF32x3", 1, "tf32x3">]>;

def Kernel_InstructionAttr : EnumAttr<Kernel_Dialect, Kernel_Instruction, "instruction">;
def Kernel_IndexSetKindAttr : EnumAttr<Kernel_Dialect, Kernel_IndexSetKind, "index_set_kind">;
def Kernel_FieldArrayAttr : EnumAttr<Kernel_Dialect, Kernel_FieldArray, "field_array">;
def Kernel_CombineAttr : EnumAttr<Kernel_Dialect, Kernel_Combine, "combine">;
def Kernel_MemoryAttr : EnumAttr<Kernel_Dialect, Kernel_Memory, "memory">;
def Kernel_FuncKindAttr : EnumAttr<Kernel_Dialect, Kernel_FuncKind, "func_kind">;
def Kernel_ErrorKindAttr : EnumAttr<Kernel_Dialect, Kernel_ErrorKind, "error_kind">;

#endif // DBC_KERNEL_BASE
