// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect itself, and its enums.

#ifndef DBC_BATCH_BASE
#define DBC_BATCH_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Batch_Dialect : Dialect {
  let name = "batch";
  let cppNamespace = "::dbc::batch";
  let summary = "When and where a batch is computed";
  let description = [{
    One `kernel.program` an entry or loss. Every binder, match arm and cell of the model is an INDEX SET of rows
    (`kernel.index_set`); what makes the rows from the structure of a batch is integer code that is final already and kept
    as `kernel.func`. What the passes of this dialect decide about are the STAGES: each computes row-level values over one
    index set, reading and writing buffers through explicit ops that name their relation. A stage runs once, or inside
    `kernel.levels` (levels of a recursion) and `kernel.steps` (steps of a scan).

    Rows of two index sets are joined by a RELATION (`batch.relation`, `batch.list_relation`): a call of the model by one
    from the caller's rows to the callee's rows, a list by one from its owner's rows to those of its elements. What a stage
    reads or writes at other rows than its own it names by a relation. `carried` on a read names the loop whose earlier time
    steps wrote what is read.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::dbc::dyn::DynDialect", "::dbc::kernel::KernelDialect"];
}

class Batch_Enum<string n, string d, list<I32EnumCase> c> : I32Enum<n, d, c> { let cppNamespace = "::dbc::batch"; }
def Batch_Multiplicity : Batch_Enum<"Multiplicity", "how many rows a relation joins with one", [
    I32EnumCase<"OneToOne", 0, "one_to_one">, I32EnumCase<"ManyToOne", 1, "many_to_one">]>;
def Batch_Access : Batch_Enum<"Access", "how the rows that a stage reads or writes lie, as reports say it", [
    I32EnumCase<"Unknown", 0, "unknown">, I32EnumCase<"Contiguous", 1, "contiguous">, I32EnumCase<"Strided", 2, "strided">,
    I32EnumCase<"Unique", 3, "unique">, I32EnumCase<"Shared", 4, "shared">]>;
// Of stages that are fused, the first one here says what they are together.
def Batch_StageRole : Batch_Enum<"StageRole", "what a stage computes", [
    I32EnumCase<"Forward", 0, "forward">, I32EnumCase<"Adjoint", 1, "adjoint">, I32EnumCase<"Gradient", 2, "gradient">,
    I32EnumCase<"Again", 3, "again">, I32EnumCase<"Clear", 4, "clear">]>;

def Batch_MultiplicityAttr : EnumAttr<Batch_Dialect, Batch_Multiplicity, "multiplicity">;
def Batch_StageRoleAttr : EnumAttr<Batch_Dialect, Batch_StageRole, "stage_role">;

#endif // DBC_BATCH_BASE
