// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Whether an input is valid, found without computing more than that depends on.
#pragma once

#include "ir/Dyn/Dyn.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dbc::oracle {

/// What must be known of an input, beyond that its values fit the types of an entry's arguments, to tell
/// whether the entry fails it.
enum class Validity {
  Form,      ///< nothing, but that no instance needs itself where references form cycles
  Structure, ///< nodes, lists and integers, as for lists that are zipped or a range of a key (manual, S1)
  Numbers    ///< computed values too, as for an index that is computed
};

/// What the validity of inputs of `entry`, of a verified module, depends on.
Validity validityOf(mlir::ModuleOp module, dyn::EntryOp entry);

/// A copy of the module whose numbers are zeros that take no arithmetic. It fails the same inputs where
/// validity depends on structure at most.
mlir::OwningOpRef<mlir::ModuleOp> structureOf(mlir::ModuleOp module);

} // namespace dbc::oracle
