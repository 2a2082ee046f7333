// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Part of dyn-hoist: what a binder inside another one computes from its own elements alone.
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::passes {

/// Moves what binders in the body of `outer` compute from their own elements, without its variables, into
/// maps before them. These then need no variable of `outer` at all. Gives how many maps it made.
unsigned splitInnerBinders(mlir::Operation *outer);

} // namespace dbc::passes
