// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `batch` dialect in C++: see Batch.td for what each op means.
#pragma once

#include "ir/Kernel/Kernel.h"

#include "ir/Batch/BatchDialect.h.inc"
#include "ir/Batch/BatchEnums.h.inc"
#include "ir/Batch/BatchInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/Batch/BatchAttrs.h.inc"
#define GET_OP_CLASSES
#include "ir/Batch/BatchOps.h.inc"

namespace dbc::batch {
/// What the rows of an array of the batch (a buffer, field or argument) belong to, as a relation's `to` names
/// it: an index set, a data type, the elements of the array itself; null for the inputs.
mlir::FlatSymbolRefAttr rowsOf(mlir::Operation *array);

/// Whether an operation of a program is what runs, a stage or what holds stages: the order of these is that
/// of the work.
inline bool isScheduled(mlir::Operation *op) {
  return mlir::isa<StageOp, kernel::TimeStepLoopInterface, kernel::ConcurrentOp>(op);
}

/// What a stage over an index set is called if it is the only one in its role: the index set, which is what
/// it is computed for, and the role if that is not to be expected.
std::string purposeOf(llvm::StringRef indexSet, StageRole role);

/// What an array is called that holds what `op` computes at each row of an index set: the source's word for
/// that, or "value".
std::string valueName(llvm::StringRef indexSet, mlir::Operation *op);

/// Whether an operation of a stage writes an array of the batch.
inline bool isWrite(mlir::Operation *op) {
  auto access = mlir::dyn_cast<AccessOpInterface>(op);
  return access && access.isWrite();
}

/// The relation by which a gather or scatter goes; `symbols` are those of its program.
template <class Op> RelationOp relationOf(const mlir::SymbolTable &symbols, Op op) {
  return symbols.lookup<RelationOp>(op.getRelation());
}

/// How the rows lie that a stage accesses by a relation, or by a list relation and, with `via`, one more.
Access accessOf(RelationOp relation);
Access accessOf(ListRelationOp list, bool via);
} // namespace dbc::batch
