// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The passes from `dyn` to `kernel`.

#ifndef DBC_PASSES
#define DBC_PASSES

include "dyn/DynPasses.td"
include "batch/BatchPasses.td"
include "lower/LowerPasses.td"
include "kernel/KernelPasses.td"

#endif // DBC_PASSES
