// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The passes and the pipeline from `dyn` to `kernel`.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace dbc::passes {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// Appends all passes: a `dyn` module goes in, a `kernel` module comes out. `until` stops after the level
/// called so
/// ("dyn", "batch" or "kernel").
void buildPipeline(mlir::OpPassManager &pm, llvm::StringRef until = "kernel");

/// Registers every pass under its flag, and the pipeline as `dbc-pipeline`, for dbc-opt.
void registerPasses();

} // namespace dbc::passes
