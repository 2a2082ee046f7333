// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// From a `kernel` module to the files of a compiled model. Nothing here reads `dyn` or `batch` ops: what an
// entry computes is said by `kernel` alone (of `dyn` only surface types and shared enums are used).
// cpu/ prints what every compiled model has, cuda/ the kernels and what hands a batch over to them, common/
// what both need.
#pragma once

#include "codegen/common/MemoryPlan.h"
#include "codegen/common/Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace dbc::codegen {

/// The contents of NAME.h, NAME.cpp and NAME.json, and for a device of NAME.cuh and NAME.cu; NAME is the
/// module's symbol.
struct Generated {
  std::string header, source, manifest;
  std::string cHeader;               ///< the interface for C
  std::string space;                 ///< the namespace of the model's classes
  std::string deviceHeader, kernels; ///< empty: not compiled for a device
  bool blas = false;                 ///< the kernels are to be linked with cuBLAS
};

/// Of a model, as `generate` is given it.
MemoryPlan planMemory(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice, const Options &options);

/// Prints a verified `kernel` module. `forDevice` is null, or the same model with its stages for a GPU.
/// Fails, with an error at the op, only where a module holds an op that C++ cannot be printed for.
mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice,
                                    const Options &options);

} // namespace dbc::codegen
