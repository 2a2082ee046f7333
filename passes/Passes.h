// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The passes and the pipeline from `dyn` to `kernel`.
#pragma once

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace dbc::passes {

/// What adjoint stages find again in place of reading it from memory that is kept since the forward pass.
enum class Recompute {
  None,  ///< nothing
  Cheap, ///< what elementwise operations give of what is kept anyway
  Cells  ///< all that rows of a loop compute and that no other row reads
};

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

/// What generated code runs on.
enum class Target { Cpu, Cuda };

/// Which products of stages that run once a library computes on a GPU, cuBLAS: none, those with a matrix of
/// at least kLargeWeights elements, all that it can.
enum class Blas { Never, Auto, Always };
/// Three launches in place of one, and operands that go through memory, must be small beside the product: a
/// matrix of so many elements is read in the time of a launch. Not measured. Rows are known only when a batch
/// is there, so they decide nothing.
constexpr int64_t kLargeWeights = 1 << 20;

struct PipelineOptions {
  /// The level behind which to stop: "dyn", "batch" or "kernel".
  llvm::StringRef until = "kernel";
  /// Elements that all tables which batch-fold-tables makes together may have; 0: none are made.
  int64_t tableElements = BatchFoldTablesOptions().elements;
  Target target = Target::Cpu;
  bool train = false; ///< losses are compiled with their gradients
  /// With `train`: the fields and arguments that get gradients too, as `Tree.x` and `nll.y`.
  llvm::SmallVector<std::string> gradientsOf = {};
  Recompute recompute = Recompute::None; ///< with `train`
  int64_t realBytes = 4;                 ///< of a number of the emitter's type
  bool tf32 = false;                     ///< Target::Cuda: products cut their operands to tf32
  Blas blas = Blas::Never;               ///< of both targets: a CPU has the same stages
  bool device = false; ///< compiled for a device, too: a CPU has the same stages in training
};

/// Appends all passes: a `dyn` module goes in, a `kernel` module comes out.
void buildPipeline(mlir::OpPassManager &pm, const PipelineOptions &options = {});

/// Registers every pass under its flag, and the pipeline as `dbc-pipeline`, for dbc-opt.
void registerPasses();

} // namespace dbc::passes
