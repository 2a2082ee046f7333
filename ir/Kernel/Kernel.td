include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
def Kernel_Dialect : Dialect { let name = "kernel"; let cppNamespace = "::dbc::kernel"; }
