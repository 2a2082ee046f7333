// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/ModelUnit.h"
#include "codegen/Codegen.h"
#include "driver/GradientNames.h"
#include "driver/surroundings/Surroundings.h"
#include "frontend/check/Check.h"
#include "frontend/lower/Lower.h"
#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Modules.h"
#include "ir/Kernel/Kernel.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "passes/Passes.h"
#include "passes/Refusal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <iostream>

namespace dbc::driver {

struct ModelUnit::Front {
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diagnostics{sources};
  std::unique_ptr<frontend::Program> program;
  std::unique_ptr<frontend::CheckedProgram> checked;

  /// Prints what was found so far.
  Exit report() {
    diagnostics.print(std::cerr);
    return diagnostics.hasErrors() ? kUserError : kFine;
  }
};

std::string commandLine(const ModelOptions &options, bool how) {
  std::string text = options.file;
  for (const auto &[name, value] : options.dims)
    text += " -D" + name + "=" + std::to_string(value);
  for (const std::string &folder : options.includes)
    text += " -I" + folder;
  if (how && options.f64)
    text += " --real f64";
  if (how && options.train)
    text += " --mode train";
  if (how && options.recompute != "none")
    text += " --recompute " + options.recompute;
  if (how)
    for (const std::string &name : options.gradients)
      text += " --gradient " + name;
  if (how && options.bf16)
    text += " --weights bf16";
  if (how && options.target != "cpu")
    text += " --target " + options.target;
  if (how && options.tf32)
    text += " --gpu-math tf32";
  if (how && options.gpuBlas != "never")
    text += " --gpu-blas " + options.gpuBlas;
  if (how && options.tableBudget != kTableBudget)
    text += " --table-budget " + std::to_string(options.tableBudget);
  return text;
}

ModelUnit::ModelUnit(const ModelOptions &options)
    : options_(options), front_(std::make_unique<Front>()), context_(mlir::MLIRContext::Threading::DISABLED) {
}
ModelUnit::~ModelUnit() = default;

const std::vector<std::string> &ModelUnit::files() const { return front_->program->paths; }

/// What is made of a model is called after it: files, with endings and suffixes of temporary names behind.
static void checkName(const frontend::Ident &name, frontend::DiagnosticEngine &diagnostics) {
  constexpr size_t most = 200;
  if (name.text.size() > most)
    diagnostics.error(name.range, "the name has " + std::to_string(name.text.size()) +
                                      " letters; files are called after a "
                                      "model, so it may have at most " +
                                      std::to_string(most));
}

Exit ModelUnit::check() {
  frontend::LoadOptions load;
  load.includeDirs = options_.includes;
  load.libraryDir = surroundings().library;
  front_->program = frontend::loadProgram(options_.file, load, front_->sources, front_->diagnostics);
  if (front_->program)
    checkName(front_->program->main().name, front_->diagnostics);
  if (front_->program)
    front_->checked = frontend::check(*front_->program, front_->diagnostics);
  return front_->report();
}

Exit ModelUnit::checkWithDims() {
  Exit exit = check();
  if (exit)
    return exit;
  frontend::DiagnosticEngine diagnostics(front_->sources);
  auto dims = frontend::bindDims(*front_->checked, options_.dims, diagnostics, /*mayLack=*/true);
  auto hasValue = [&](const frontend::Binding *dim) { return dim->shape.evaluate(*dims).has_value(); };
  if (dims && llvm::all_of(front_->checked->dims, hasValue))
    frontend::checkSizes(*front_->program, *front_->checked, *dims, context_, diagnostics);
  diagnostics.print(std::cerr);
  return diagnostics.hasErrors() ? kUserError : kFine;
}

Exit ModelUnit::lower() {
  if (Exit exit = check())
    return exit;
  // The warnings of check() are printed; from here on only errors are news.
  frontend::DiagnosticEngine diagnostics(front_->sources);
  std::optional<frontend::DimValues> dims = frontend::bindDims(*front_->checked, options_.dims, diagnostics);
  if (dims)
    meaning_ =
        frontend::lower(*front_->program, *front_->checked, *dims, context_, diagnostics, options_.train);
  diagnostics.print(std::cerr);
  if (diagnostics.hasErrors())
    return kUserError;
  if (!meaning_ || mlir::failed(mlir::verify(*meaning_)))
    throw std::logic_error("lowering made a module that is not valid");
  return kFine;
}

/// What a pass refuses is printed as the front end prints its errors: with the location in the source, in its
/// words.
static mlir::LogicalResult printDiagnostic(mlir::Diagnostic &diagnostic) {
  const char *kind = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error     ? "error"
                     : diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ? "warning"
                                                                                     : "note";
  if (auto location = diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
    llvm::errs() << location.getFilename().strref() << ":" << location.getLine() << ":"
                 << location.getColumn() << ": ";
  llvm::errs() << kind << ": " << diagnostic.str() << "\n";
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    (void)printDiagnostic(note);
  return mlir::success();
}

static passes::Blas blasOf(const ModelOptions &options) {
  return options.gpuBlas == "always" ? passes::Blas::Always
         : options.gpuBlas == "auto" ? passes::Blas::Auto
                                     : passes::Blas::Never;
}

Exit ModelUnit::transform(const std::string &until, mlir::OwningOpRef<mlir::ModuleOp> &result,
                          const std::vector<std::string> &printAfter, bool device) {
  if (!meaning_)
    if (Exit exit = lower())
      return exit;
  passes::PipelineOptions pipeline{until, 0, device ? passes::Target::Cuda : passes::Target::Cpu};
  llvm::Expected<std::vector<std::string>> gradients = gradientNames(*meaning_, options_.gradients);
  if (!gradients) {
    llvm::errs() << "dbc: error: " << llvm::toString(gradients.takeError()) << "\n";
    return kUsage;
  }
  result = meaning_->clone();
  mlir::PassManager passes(&context_);
  passes.enableVerifier(options_.verifyEach); // a tenth of the time; what comes out is verified in any case
  pipeline.realBytes = options_.f64 ? 8 : 4;
  pipeline.tableElements = static_cast<int64_t>(options_.tableBudget) / pipeline.realBytes;
  pipeline.train = options_.train;
  pipeline.gradientsOf = {gradients->begin(), gradients->end()};
  pipeline.recompute = options_.recompute == "cells"   ? passes::Recompute::Cells
                       : options_.recompute == "cheap" ? passes::Recompute::Cheap
                                                       : passes::Recompute::None;
  pipeline.tf32 = options_.tf32;
  pipeline.blas = blasOf(options_);
  pipeline.device = options_.device || options_.stagesOfDevice;
  passes::buildPipeline(passes, pipeline);
  for (const std::string &flag : printAfter)
    if (llvm::none_of(passes.getPasses(), [&](mlir::Pass &pass) { return pass.getArgument() == flag; })) {
      llvm::errs() << "dbc: error: no pass `" << flag << "` is run; these are:";
      for (mlir::Pass &pass : passes.getPasses())
        llvm::errs() << " " << pass.getArgument();
      llvm::errs() << "\n";
      return kUsage;
    }
  if (!printAfter.empty())
    passes.enableIRPrinting([](mlir::Pass *, mlir::Operation *) { return false; },
                            [&](mlir::Pass *pass, mlir::Operation *) {
                              return llvm::is_contained(printAfter, pass->getArgument().str());
                            },
                            /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
                            /*printAfterOnlyOnFailure=*/false, llvm::errs());
  bool refused = false;
  mlir::ScopedDiagnosticHandler handler(&context_, [&](mlir::Diagnostic &diagnostic) {
    refused |= passes::isRefusal(diagnostic);
    return printDiagnostic(diagnostic);
  });
  if (mlir::failed(passes.run(*result))) {
    if (refused)
      return kUserError;
    throw std::logic_error("a pass failed");
  }
  if (mlir::failed(mlir::verify(*result)))
    throw std::logic_error("the passes made what is not valid");
  return kFine;
}

codegen::Options ModelUnit::codegenOptions() const {
  codegen::Options options;
  options.real = options_.f64 ? codegen::Real::F64 : codegen::Real::F32;
  options.bf16 = options_.bf16;
  options.tf32 = options_.tf32;
  options.blas = options_.gpuBlas;
  options.source = llvm::json::fixUTF8(llvm::sys::path::filename(options_.file)); // printed into JSON
  return options;
}

codegen::MemoryPlan ModelUnit::planMemory(mlir::ModuleOp kernels, mlir::ModuleOp forDevice) const {
  return codegen::planMemory(kernels, forDevice, codegenOptions());
}

/// A field or argument that was asked for by name and on which no loss depends.
void ModelUnit::warnOfNoGradient(mlir::ModuleOp kernels) const {
  for (const std::string &name : options_.gradients) {
    const auto [owner, own] = llvm::StringRef(name).split('.');
    bool given = name == "all";
    kernels.walk([&, owner = owner, own = own](kernel::InputGradientOp gradient) {
      mlir::Operation *array = mlir::SymbolTable::lookupNearestSymbolFrom(gradient, gradient.getArrayAttr());
      if (auto field = llvm::dyn_cast<kernel::FieldOp>(array))
        given |= field.getData() == owner && field.getName() == own;
      else if (gradient->getParentOfType<kernel::ProgramOp>().getSymName() == owner)
        given |= llvm::cast<kernel::ArgumentOp>(array).getName().split('.').first == own;
    });
    if (!given)
      llvm::errs() << "dbc: warning: no loss depends on `" << name << "`: it has no gradient\n";
  }
}

Exit ModelUnit::generate(GeneratedCode &code, const std::vector<std::string> &printAfter) {
  mlir::OwningOpRef<mlir::ModuleOp> kernels, forDevice;
  if (Exit exit = transform("kernel", kernels, options_.device ? std::vector<std::string>() : printAfter))
    return exit;
  if (options_.device)
    if (Exit exit = transform("kernel", forDevice, printAfter, /*device=*/true))
      return exit;
  warnOfNoGradient(*kernels);
  mlir::ScopedDiagnosticHandler handler(&context_, printDiagnostic);
  mlir::FailureOr<codegen::Generated> generated =
      codegen::generate(*kernels, forDevice ? *forDevice : mlir::ModuleOp(), codegenOptions());
  if (mlir::failed(generated))
    throw std::logic_error("C++ cannot be printed for the kernel module");
  code.model = kernels->getSymName()->str();
  code.space = std::move(generated->space);
  code.header = std::move(generated->header);
  code.cHeader = std::move(generated->cHeader);
  code.source = std::move(generated->source);
  code.manifest = std::move(generated->manifest);
  code.deviceHeader = std::move(generated->deviceHeader);
  code.kernels = std::move(generated->kernels);
  code.blas = generated->blas;
  return kFine;
}

} // namespace dbc::driver
