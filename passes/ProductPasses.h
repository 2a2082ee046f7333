// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The passes that move products of `dyn` to where there are fewer of them.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dbc::passes {

#define GEN_PASS_DECL
#include "passes/ProductPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/ProductPasses.h.inc"

} // namespace dbc::passes
