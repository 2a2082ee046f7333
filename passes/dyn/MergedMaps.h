// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Part of dyn-merge-products: one map over lists instead of several, where they have products.
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::passes {

/// Merges maps over the same lists that have products with parameters, in all blocks under `root`. A map that
/// needs what stands behind the first of them stays. Gives how many were merged into others.
unsigned mergeMaps(mlir::Operation *root);

} // namespace dbc::passes
