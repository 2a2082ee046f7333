// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the cost model needs to know of a model's kernels, read off the `kernel` dialect.
#pragma once

#include "cost/DeviceCost.h"
#include "mlir/IR/BuiltinOps.h"

namespace dbc::cost {

/// The shapes of all programs of a `kernel` module that the whole pipeline for a GPU has gone over; not of
/// kernels that run when the model is made. Elements are f32.
std::vector<ProgramShape> shapesOf(mlir::ModuleOp kernels);

} // namespace dbc::cost
