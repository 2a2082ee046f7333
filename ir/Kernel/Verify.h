// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the verifiers of programs have in common, those of `batch` too.
#pragma once

#include "ir/Kernel/Kernel.h"

namespace dbc::kernel {

/// What `op` names in its program, a `what`; with an error, if there is no such thing.
template <class Symbol>
llvm::FailureOr<Symbol> lookUp(mlir::Operation *op, mlir::FlatSymbolRefAttr name, const llvm::Twine &what,
                               mlir::SymbolTableCollection &symbols,
                               llvm::function_ref<bool(Symbol)> is = nullptr) {
  auto found = symbols.lookupNearestSymbolFrom<Symbol>(op, name);
  if (found && (!is || is(found)))
    return found;
  op->emitOpError("names ") << name << ", which is no " << what;
  return llvm::failure();
}

/// A data type or parameter of the module that `op` names; with an error, if there is no such thing.
template <class Symbol>
llvm::FailureOr<Symbol> ofModule(mlir::Operation *op, mlir::FlatSymbolRefAttr name, llvm::StringRef what,
                                 mlir::SymbolTableCollection &symbols) {
  if (auto found = symbols.lookupSymbolIn<Symbol>(op->getParentOfType<mlir::ModuleOp>(), name))
    return found;
  op->emitOpError("names ") << name << ", which is no " << what;
  return llvm::failure();
}

/// The group that `op` names, which has such a cell; a function of a kind.
llvm::FailureOr<GroupOp> groupOf(mlir::Operation *op, mlir::FlatSymbolRefAttr name, uint32_t cell,
                                 mlir::SymbolTableCollection &symbols);
llvm::FailureOr<FuncOp> funcOf(mlir::Operation *op, mlir::FlatSymbolRefAttr name, FuncKind kind,
                               mlir::SymbolTableCollection &symbols);

inline bool areIntegers(mlir::TypeRange types) {
  return llvm::all_of(types, [](mlir::Type type) { return type.isInteger(32); });
}

inline bool isMasked(IndexSetOp indexSet) { return indexSet.getMasked(); }
inline bool isByInput(IndexSetOp indexSet) { return indexSet.getKind() == IndexSetKind::ByInput; }
/// Whether the steps of a scan are the rows of an index set.
inline bool isOfSteps(IndexSetOp indexSet) { return indexSet.getKind() == IndexSetKind::Steps; }

/// Checks that an index set has an index array that `op` names.
llvm::LogicalResult verifyIndexArray(mlir::Operation *op, IndexSetOp indexSet, llvm::StringRef array);

/// Whether an index array of an index set is one of those that get the rows of an index set of kind
/// `distinct`.
bool hasRowsOf(mlir::ArrayAttr from, mlir::ArrayAttr rows, mlir::FlatSymbolRefAttr indexSet,
               llvm::StringRef indexArray);

/// Checks what `op`, of either dialect, says that an index set of kind `distinct` is made of: index arrays,
/// and numbers that buffers hold.
llvm::LogicalResult verifyDistinctRows(mlir::Operation *op, mlir::FlatSymbolRefAttr indexSet,
                                       mlir::ArrayAttr from, mlir::ArrayAttr indexArrays,
                                       mlir::ArrayAttr rowArrays, bool hasNumbers,
                                       mlir::DenseI32ArrayAttr always, mlir::SymbolTableCollection &symbols);
template <class Op> llvm::LogicalResult verifyDistinct(Op op, mlir::SymbolTableCollection &symbols) {
  if (mlir::ArrayAttr numbers = op.getNumbersAttr())
    for (auto each : numbers.getAsRange<mlir::FlatSymbolRefAttr>())
      if (failed(lookUp<BufferOp>(op, each, "buffer of numbers", symbols,
                                  [](BufferOp buffer) { return buffer.getType().isInteger(32); })))
        return llvm::failure();
  return verifyDistinctRows(op, op.getIndexSetAttr(), op.getFrom(), op.getIndexArrays(), op.getRows(),
                            static_cast<bool>(op.getNumbersAttr()), op.getAlwaysAttr(), symbols);
}

} // namespace dbc::kernel
