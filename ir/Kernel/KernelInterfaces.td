// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What passes over kernels ask of operations.

#ifndef DBC_KERNEL_INTERFACES
#define DBC_KERNEL_INTERFACES

include "mlir/IR/OpBase.td"

def Kernel_TimeStepLoopInterface : OpInterface<"TimeStepLoopInterface"> {
  let cppNamespace = "::dbc::kernel";
  let description = [{
    A loop over the levels of a recursion or the steps of a scan, around stages (`batch.stage`), then around launches.

    `persistent`: on a GPU one launch of a persistent kernel may run it; a `kernel.first` and `kernel.block_group_barrier`
    in it are of such a launch alone. Else `not_persistent_reason` says why not. With `syncs` blocks may pass these barriers
    when all of their own threads have arrived: what is passed between blocks of threads in the loop are elements of these
    buffers, each written once, in memory that nobody writes before, so that who needs an element can wait until it is
    there. Else `barrier_reason` says why not. `same_as`, a program before: its persistent loop of the same number is the
    same kernel (set by kernel-share-stages).
  }];
  let methods = [
    InterfaceMethod<"The name of what it goes over: a group, or an index set of steps.", "::llvm::StringRef", "getCarrier">,
    InterfaceMethod<"Whether it goes from the last level or step to the first one.", "bool", "getReverse">,
    InterfaceMethod<"Sets that.", "void", "setReverse", (ins "bool":$value)>,
    InterfaceMethod<"Whether one launch may run it.", "bool", "getPersistent">,
    InterfaceMethod<"Sets that.", "void", "setPersistent", (ins "bool":$value)>,
    InterfaceMethod<"Buffers whose elements are synchronised one by one.", "::std::optional<::mlir::ArrayAttr>", "getSyncs">,
    InterfaceMethod<"Sets these.", "void", "setSyncsAttr", (ins "::mlir::ArrayAttr":$buffers)>,
    InterfaceMethod<"Why it is not persistent.", "::std::optional<::llvm::StringRef>", "getNotPersistentReason">,
    InterfaceMethod<"Sets that.", "void", "setNotPersistentReason", (ins "::std::optional<::llvm::StringRef>":$reason)>,
    InterfaceMethod<"Why blocks of threads wait for each other at barriers.", "::std::optional<::llvm::StringRef>", "getBarrierReason">,
    InterfaceMethod<"Sets that.", "void", "setBarrierReason", (ins "::std::optional<::llvm::StringRef>":$reason)>,
    InterfaceMethod<"The program before whose loop of this number is the same kernel.", "::std::optional<::llvm::StringRef>", "getSameAs">,
    InterfaceMethod<"Sets that.", "void", "setSameAs", (ins "::std::optional<::llvm::StringRef>":$program)>];
}

def Kernel_AccessOpInterface : OpInterface<"AccessOpInterface"> {
  let cppNamespace = "::dbc::kernel";
  let description = "Reads or writes buffers, fields, arguments or parameters; not index arrays, locals, or weights, which are packed.";
  let methods = [InterfaceMethod<"These arrays.", "::llvm::SmallVector<::dbc::kernel::Access, 2>", "getAccesses">];
}

/// May be an error of an input: a stage with such an operation has somewhere to record it.
def Kernel_FailsInput : NativeOpTrait<"FailsInput"> { let cppNamespace = "::dbc::kernel"; }

#endif // DBC_KERNEL_INTERFACES
