include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
def Batch_Dialect : Dialect { let name = "batch"; let cppNamespace = "::dbc::batch"; }
