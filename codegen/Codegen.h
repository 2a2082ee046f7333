// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// From a `kernel` module to the files of a compiled model. Nothing here reads `dyn` or `batch` ops: what an
// entry computes is said by `kernel` alone (of `dyn` only the surface types of declarations are used).
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/LogicalResult.h"
#include <string>

namespace dbc::codegen {

/// The number type of emitted arithmetic. Fields of a batch are float in either case.
enum class Real { F32, F64 };

struct Options {
  Real real = Real::F32;
  bool bf16 = false; ///< packed matrices are kept in bfloat16
  bool tf32 = false; ///< a GPU's products cut their operands to tf32; for the manifest
  /// The source's file name as comments and the manifest show it, e.g. "tree_lstm.dyn".
  std::string source;
};

/// The contents of NAME.h, NAME.cpp and NAME.json, and for a device of NAME.cuh and NAME.cu; NAME is the
/// module's symbol.
struct Generated {
  std::string header, source, manifest;
  std::string deviceHeader, kernels; ///< empty: not compiled for a device
};

/// Prints a verified `kernel` module. `forDevice` is null, or the same model with its stages for a GPU.
/// Fails, with an error at the op, only where a module holds an op that C++ cannot be printed for.
mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice,
                                    const Options &options);

} // namespace dbc::codegen
