// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model on its way through the compiler's layers.
#pragma once

#include "codegen/Codegen.h"
#include "driver/CompiledCode.h"
#include "driver/Exit.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dbc::driver {

constexpr uint64_t kTableBudget = 256 << 20;

/// Which model, with what sizes, and how.
struct ModelOptions {
  std::string file;
  std::map<std::string, int64_t> dims; ///< -D
  std::vector<std::string> includes;   ///< -I
  bool f64 = false;                    ///< --real f64
  bool bf16 = false;                   ///< --weights bf16
  bool device = false;                 ///< --target: kernels for a GPU too
  bool stagesOfDevice = false;   ///< those that a device has, so that profiles and predictions have one list
  std::string target = "cpu";    ///< --target: cpu, cuda, cpu,cuda or cuda-on-cpu
  bool tf32 = false;             ///< --gpu-math tf32
  std::string gpuBlas = "never"; ///< --gpu-blas: never, auto or always
  uint64_t tableBudget = kTableBudget; ///< --table-budget, in bytes
  bool train = false;                  ///< --mode train: losses with their gradients
  std::vector<std::string> gradients;  ///< --gradient: fields and arguments, or `all`
  std::string recompute = "none";      ///< --recompute: none, cheap or cells
  bool verifyEach = false;             ///< --verify-each
  bool verbose = false;
};

/// The options as they would be typed: which model, and with `how` also how it is compiled.
std::string commandLine(const ModelOptions &options, bool how = false);

/// Each step makes the ones before it first; what is wrong is printed to stderr in the source's words. Not
/// thread-safe.
class ModelUnit {
public:
  explicit ModelUnit(const ModelOptions &options);
  ~ModelUnit();

  /// Reads the model and what it imports, and finds what is wrong with it, at every size.
  Exit check();
  /// The same, and what is wrong with the values of dims that are set; where all dims have one, with the
  /// sizes that follow from them.
  Exit checkWithDims();
  /// Binds the dims and makes the `dyn` module.
  Exit lower();
  /// Runs the passes on a copy of the `dyn` module, up to a level: "dyn" (all passes on it), "batch" or
  /// "kernel"; for a CPU or a GPU. Of the passes in `printAfter` (their flags) the result is printed to
  /// stderr.
  Exit transform(const std::string &until, mlir::OwningOpRef<mlir::ModuleOp> &result,
                 const std::vector<std::string> &printAfter = {}, bool device = false);
  /// How much memory a batch needs on a device. Of modules of the whole pipelines for a CPU and for a GPU.
  codegen::MemoryPlan planMemory(mlir::ModuleOp kernels, mlir::ModuleOp forDevice) const;
  /// From here on the model is compiled as these options say. Which model it is, with what sizes and whether
  /// losses have gradients must be as it was: after lower() the model is not read again.
  void compileAs(const ModelOptions &options) { options_ = options; }
  /// Makes C++ of it.
  Exit generate(GeneratedCode &code, const std::vector<std::string> &printAfter = {});

  /// The `dyn` module: what the model means. After lower().
  mlir::ModuleOp meaning() { return *meaning_; }
  /// All files that were read, the model last.
  const std::vector<std::string> &files() const;

private:
  codegen::Options codegenOptions() const;
  void warnOfNoGradient(mlir::ModuleOp kernels) const;
  struct Front; ///< source texts, syntax tree, what the checker found
  ModelOptions options_;
  std::unique_ptr<Front> front_;
  mlir::MLIRContext context_;
  mlir::OwningOpRef<mlir::ModuleOp> meaning_;
};

} // namespace dbc::driver
