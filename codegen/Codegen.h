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
  /// Which products cuBLAS computes on a GPU, as --gpu-blas says it; for the manifest.
  std::string blas = "never";
  /// The source's file name as comments and the manifest show it, e.g. "tree_lstm.dyn".
  std::string source;
};

/// The contents of NAME.h, NAME.cpp and NAME.json, and for a device of NAME.cuh and NAME.cu; NAME is the
/// module's symbol.
struct Generated {
  std::string header, source, manifest;
  std::string deviceHeader, kernels; ///< empty: not compiled for a device
  bool blas = false;                 ///< the kernels are to be linked with cuBLAS
};

/// How much memory a part of a batch needs on a device: `fixed` bytes and those of arrays, each rounded up to
/// `line` bytes. An array that a batch does not have takes none.
struct MemoryPlan {
  /// `bytes` for each of what is counted. Counts are: "rows" of a space; "order": rows of a space if they are
  /// out of order; "ticks": ticks of a space, and one more; "inputs" of the part; its "nodes" of a data type;
  /// "elements" of a list column in it, behind `level` lists in lists if that is not -1; "blocks": of threads
  /// for the rows of a space, `rows` each, times tiles, `most` at most; "part": the part itself.
  struct Term {
    std::string count, of;
    int64_t bytes;
    int64_t level = -1;
    int64_t rows = 0, tiles = 0, most = 0;
  };
  struct Array {
    std::string name, kind;
    std::vector<Term> largest; ///< of these; one, but where rows of several spaces share memory
  };
  struct Entry {
    std::string name;
    std::vector<Array> arrays;
  };
  int64_t line = 256;
  int64_t fixed = 256 + 8192; ///< the number of faults; room for 256 of them
  int64_t model = 0;          ///< constants of the model, once for all sessions
  std::vector<Entry> entries;
};

/// Of a model, as `generate` is given it.
MemoryPlan planMemory(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice, const Options &options);

/// Prints a verified `kernel` module. `forDevice` is null, or the same model with its stages for a GPU.
/// Fails, with an error at the op, only where a module holds an op that C++ cannot be printed for.
mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice,
                                    const Options &options);

} // namespace dbc::codegen
