// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One name analysis, three emitters.
#include "codegen/Codegen.h"
#include "codegen/Emitters.h"

namespace dbc::codegen {

mlir::FailureOr<Generated> generate(mlir::ModuleOp kernelModule, const Options &options) {
  ModelNames model(kernelModule, options);
  mlir::FailureOr<std::string> source = emitSource(model);
  if (failed(source))
    return mlir::failure();
  return Generated{emitHeader(model), *source, emitManifest(model)};
}

} // namespace dbc::codegen
