// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Part of dyn-hoist and dyn-hoist-captured: what a binder inside another one, or inside a cell, computes from
// its own elements alone.
#pragma once

#include "passes/dyn/Varying.h"

namespace dbc::passes {

/// Moves what binders in the body of `outer` compute from their own elements, without its variables, into
/// maps before them. These then need no variable of `outer` at all. Gives how many maps it made.
unsigned splitInnerBinders(mlir::Operation *outer);
/// The same of binders in `blocks` of `outer`, a binder or a cell, in which the values of `varying` may be
/// others each time.
unsigned splitInnerBinders(llvm::ArrayRef<mlir::Block *> blocks, mlir::Operation *outer, Varying &varying);

} // namespace dbc::passes
