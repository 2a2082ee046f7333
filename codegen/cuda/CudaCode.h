// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A model compiled for CUDA.
#pragma once

#include "codegen/common/DeviceCode.h"
#include "codegen/cuda/DeviceKernels.h"
#include <optional>

namespace dbc::codegen {

class CudaCode final : public DeviceCode {
public:
  /// `host` is the model for the CPU, which must live longer; `module` the same with its stages for a GPU.
  /// Fails, with an error at the op, where a kernel cannot be printed.
  static mlir::FailureOr<std::unique_ptr<CudaCode>> make(const ModelNames &host, mlir::ModuleOp module);

  /// NAME.cuh and NAME.cu.
  std::string header() const;
  std::string kernels() const;
  bool usesBlas() const;

  void includes(Writer &out) const override;
  void planFunctions(const Program &program, Writer &out) const override;
  void planVariables(const Program &program, Writer &out) const override;
  void compute(const Program &program, Writer &out) const override;
  bool readsArray(const Param &param) const override;
  void makeModel(Writer &out) const override;
  void code(Writer &out) const override;
  MemoryPlan memory() const override;
  std::vector<std::string> blasEntries() const override;

private:
  CudaCode(const ModelNames &host, mlir::ModuleOp module) : host_(host), model_(module, host.options) {}
  /// A program of the host's model as the device has it.
  const Program &onDevice(const Program &program) const { return *model_.programs[program.number]; }

  const ModelNames &host_;
  ModelNames model_;
  std::optional<DeviceKernels> kernels_; ///< as soon as it is made
};

} // namespace dbc::codegen
