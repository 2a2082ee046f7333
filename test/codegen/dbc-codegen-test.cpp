// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Prints the files of a `kernel` module given as text: one of them on stdout, or all three into a folder. For
// tests of the emitters alone, which need no source of the language.
#include "codegen/Codegen.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace cl = llvm::cl;

static cl::opt<std::string> input(cl::Positional, cl::desc("FILE.mlir"), cl::init("-"));
static cl::opt<std::string> folder("o", cl::desc("write NAME.h, NAME.cpp, NAME.json into this folder"));
static cl::opt<bool> f64("f64", cl::desc("arithmetic in double"));
static cl::opt<std::string> emit("emit", cl::desc("header, source or manifest: printed on stdout"),
                                 cl::init("source"));

static bool write(const std::string &path, const std::string &text) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  os << text;
  return !error;
}

int main(int argc, char **argv) {
  cl::ParseCommandLineOptions(argc, argv);
  mlir::MLIRContext context;
  context.loadDialect<dbc::kernel::KernelDialect, dbc::dyn::DynDialect, mlir::arith::ArithDialect,
                      mlir::math::MathDialect>();
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module || failed(mlir::verify(*module)))
    return 1;
  dbc::codegen::Options options;
  options.real = f64 ? dbc::codegen::Real::F64 : dbc::codegen::Real::F32;
  options.source = module->getSymName()->str() + ".dyn";
  auto files = dbc::codegen::generate(*module, {}, options);
  if (failed(files))
    return 1;
  if (folder.empty()) {
    llvm::outs() << (emit == "header" ? files->header : emit == "manifest" ? files->manifest : files->source);
    return 0;
  }
  if (llvm::sys::fs::create_directories(folder))
    return 1;
  std::string base = folder + "/" + module->getSymName()->str();
  return write(base + ".h", files->header) && write(base + ".cpp", files->source) &&
                 write(base + ".json", files->manifest)
             ? 0
             : 1;
}
