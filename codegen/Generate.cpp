// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One name analysis a target, an emitter a file.
#include "codegen/Codegen.h"
#include "codegen/DeviceKernels.h"
#include "codegen/Emitters.h"
#include <optional>

namespace dbc::codegen {

mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, mlir::ModuleOp forDevice,
                                    const Options &options) {
  ModelNames model(kernelModule, options);
  std::optional<ModelNames> device;
  std::optional<DeviceKernels> kernels;
  Generated generated;
  if (forDevice) {
    device.emplace(forDevice, options);
    model.device = &*device;
    mlir::FailureOr<DeviceKernels> made = DeviceKernels::make(*device);
    if (failed(made))
      return mlir::failure();
    device->kernels = &kernels.emplace(std::move(*made));
    generated.kernels = emitKernels(*device);
    generated.deviceHeader = emitDeviceHeader(*device);
    generated.blas = usesBlas(*device);
  }
  mlir::FailureOr<std::string> source = emitSource(model);
  if (failed(source))
    return mlir::failure();
  generated.source = *source;
  generated.header = emitHeader(model);
  generated.manifest = emitManifest(model);
  return generated;
}

} // namespace dbc::codegen
