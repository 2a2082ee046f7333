// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What passes over stages ask of operations.

#ifndef DBC_BATCH_INTERFACES
#define DBC_BATCH_INTERFACES

include "mlir/IR/OpBase.td"

def Batch_AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::dbc::batch";
  let description = "An operation of a stage that reads or writes an array of the batch.";
  let methods = [
    InterfaceMethod<"The buffer, field or argument.", "::mlir::FlatSymbolRefAttr", "getArrayAttr">,
    InterfaceMethod<"Whether it writes there.", "bool", "isWrite">,
    InterfaceMethod<"The relations that it goes by, list relations too; none: it stays at its own row.",
                    "::llvm::SmallVector<::mlir::FlatSymbolRefAttr>", "getRelations", (ins), "", "return {};">,
    InterfaceMethod<"The group or scan whose recursion it is a read of; null: of none.", "::mlir::FlatSymbolRefAttr",
                    "getCarriedAttr", (ins), "", "return {};">];
  let extraClassDeclaration = "::llvm::StringRef getArray() { return getArrayAttr().getValue(); }";
}

#endif // DBC_BATCH_INTERFACES
