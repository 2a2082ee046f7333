// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The `kernel` dialect in C++: see Kernel.td for what each op means.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "ir/Kernel/KernelDialect.h.inc"
#include "ir/Kernel/KernelEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/Kernel/KernelAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/Kernel/KernelTypes.h.inc"
#define GET_OP_CLASSES
#include "ir/Kernel/KernelOps.h.inc"

namespace dbc::kernel {

/// Erases the locals of a function that are only written, and what writes them.
void dropUnreadLocals(FuncOp func);

} // namespace dbc::kernel
