// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc-opt`: reads a module of any of the dialects, runs the passes named on the command line, prints the
// result.

#include "ir/Batch/Batch.h"
#include "ir/Dyn/Dyn.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/Passes.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"

#ifdef DBC_DEBUG_ONLY // LLVM has no assertions, and so not this option
static llvm::cl::opt<std::string> debugOnly("debug-only", llvm::cl::desc("Let this pass say what it decides"),
                                            llvm::cl::value_desc("pass"),
                                            llvm::cl::callback([](const std::string &pass) {
                                              llvm::DebugFlag = true;
                                              llvm::setCurrentDebugType(pass.c_str());
                                            }));
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<dbc::dyn::DynDialect, dbc::batch::BatchDialect, dbc::kernel::KernelDialect,
                  mlir::arith::ArithDialect, mlir::linalg::LinalgDialect, mlir::math::MathDialect,
                  mlir::tensor::TensorDialect>();
  dbc::passes::registerPasses();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "dbc's passes on its dialects\n", registry));
}
