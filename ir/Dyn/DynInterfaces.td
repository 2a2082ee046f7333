// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What operations on one input, or on one row of a batch, tell of themselves. Upstream's operations that the dialects use
// have them too: RowOps.cpp attaches them.

#ifndef DBC_DYN_INTERFACES
#define DBC_DYN_INTERFACES

include "mlir/IR/OpBase.td"

def Dyn_RowOpInterface : OpInterface<"RowOpInterface"> {
  let cppNamespace = "::dbc::dyn";
  let description = [{
    An operation that makes a number, a scalar or a tensor, of the numbers of ONE row. What passes must know of it to place
    it, fuse it or give it loops is here.
  }];
  let methods = [
    InterfaceMethod<"What an element of the result is made of.", "::dbc::dyn::RowKind", "getRowKind">];
}

def Dyn_DerivativeOpInterface : OpInterface<"DerivativeOpInterface"> {
  let cppNamespace = "::dbc::dyn";
  let description = [{
    A row operation of floats that has a derivative. All are in Derivatives.cpp. Kinks are those of the manual's G1.
  }];
  let methods = [
    InterfaceMethod<[{
      What the adjoint of the result adds to that of an operand, made where the builder stands of row operations. The result
      and the operands are there. Null where it adds nothing, as to an integer.
    }], "::mlir::Value", "buildAdjoint",
        (ins "::mlir::OpBuilder &":$builder, "unsigned":$operand, "::mlir::Value":$adjoint)>];
}

def Dyn_FailureOpInterface : OpInterface<"FailureOpInterface"> {
  let cppNamespace = "::dbc::dyn";
  let description = "An operation that may be an error of the input (manual, E2).";
  let methods = [
    InterfaceMethod<"Whether this one may fail an input.", "bool", "mayFail", (ins), "", "return true;">,
    InterfaceMethod<"The operands whose values decide, where they are computed.",
                    "::llvm::SmallVector<::dbc::dyn::CheckedOperand>", "getCheckedOperands", (ins), "", "return {};">];
}

def Dyn_BinderOpInterface : OpInterface<"BinderOpInterface"> {
  let cppNamespace = "::dbc::dyn";
  let description = "An operation that goes through lists of one length with a body, whose first arguments are the elements.";
  let methods = [
    InterfaceMethod<"The lists.", "::mlir::OperandRange", "getLists">,
    InterfaceMethod<"The lists, to be changed.", "::mlir::MutableOperandRange", "getListsMutable">,
    InterfaceMethod<"What is computed for each element.", "::mlir::Region &", "getBody">];
}

def Dyn_RecurrenceOpInterface : OpInterface<"RecurrenceOpInterface", [Dyn_BinderOpInterface]> {
  let cppNamespace = "::dbc::dyn";
  let description = "A binder whose body has the state of the step before as its last arguments, and yields the next.";
  let methods = [
    InterfaceMethod<"The state that it begins with.", "::mlir::OperandRange", "getInit">,
    InterfaceMethod<"Whether a `while` may end it: its last state says whether there is a further step.", "bool", "getStops">];
}

#endif // DBC_DYN_INTERFACES
