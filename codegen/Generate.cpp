// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One name analysis a target, an emitter a file.
#include "codegen/Codegen.h"
#include "codegen/cpu/Emitters.h"
#include "codegen/cuda/CudaCode.h"
#include "codegen/cuda/DeviceMemory.h"

namespace dbc::codegen {

mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice,
                                    const Options &options) {
  ModelNames model(kernelModule, options);
  std::unique_ptr<CudaCode> device;
  Generated generated;
  if (forDevice) {
    mlir::FailureOr<std::unique_ptr<CudaCode>> made = CudaCode::make(model, forDevice);
    if (failed(made))
      return mlir::failure();
    device = std::move(*made);
    generated.kernels = device->kernels();
    generated.deviceHeader = device->header();
    generated.blas = device->usesBlas();
  }
  mlir::FailureOr<std::string> source = emitSource(model, device.get());
  if (failed(source))
    return mlir::failure();
  generated.space = model.space();
  generated.source = *source;
  generated.header = emitHeader(model);
  generated.cHeader = emitCHeader(model);
  generated.manifest = emitManifest(model, device.get());
  return generated;
}

MemoryPlan planMemory(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice, const Options &options) {
  return planMemory(ModelNames(kernelModule, options), ModelNames(forDevice, options));
}

} // namespace dbc::codegen
