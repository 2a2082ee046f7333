// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a model is compiled for.
#pragma once

#include <string>

namespace dbc::codegen {

/// The number type of emitted arithmetic. Fields of a batch are float in either case.
enum class Real { F32, F64 };

struct Options {
  Real real = Real::F32;
  bool bf16 = false; ///< packed matrices are kept in bfloat16
  bool tf32 = false; ///< a GPU's products cut their operands to tf32; for the manifest
  /// Which products cuBLAS computes on a GPU, as --gpu-blas says it; for the manifest.
  std::string blas = "never";
  /// The source's file name as comments and the manifest show it, e.g. "tree_lstm.dyn".
  std::string source;
};

} // namespace dbc::codegen
