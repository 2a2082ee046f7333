// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc verify`: compares compiled code with the oracle on random inputs or given ones, and with itself in
// several batchings and thread counts.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/GradientNames.h"
#include "driver/InputGradients.h"
#include "driver/Verifier.h"
#include "ir/Kernel/Kernel.h"
#include "oracle/Describe.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <dbc/counted.h>
#include <dbc/io/safetensors.h>
#include <random>
#include <set>

namespace dbc::driver {

/// A computed value may differ from the oracle's by this much, see max_error; with --gpu-math tf32 by that.
constexpr double kBound = 1e-4, kTf32Bound = 5e-3;
/// And an element of a gradient by this much, beside the larger of it and 1. With --gpu-math
/// tf32 those of the 36 models of test/models that have a loss err by up to 6e-3.
constexpr double kGradientBound = 1e-5, kGradientBoundF32 = 1e-3, kGradientBoundTf32 = 2e-2;

/// Says what is wrong and leaves the input that shows it behind, and the weights that were drawn.
static Exit reportMismatch(Verifier &verifier, const Options &options, const Weights &weights,
                           const EntryInfo &entry) {
  const ModelInfo &info = weights.info();
  std::string words = verifier.finding.mismatch;
  std::string file = info.name + "-" + entry.name + "-failure.jsonl";
  if (!options.countInput.empty())
    words = "line " + std::to_string(verifier.culprit().number + 1) + ": " + words;
  printError(entry.name + ": " + words);
  if (verifier.finding.ofGradients) { // which neither `run` nor `interpret` prints
    llvm::errs() << "the same options with --entry " << entry.name << " show it again\n";
    return kUserError;
  }
  std::string line = instance_json(info, entry, verifier.shrink()) + "\n";
  if (llvm::Error error = writeFile(file, verifier.finding.shared ? line + line : line))
    return fail(std::move(error));
  std::string loaded = options.weights;
  if (loaded.empty()) {
    loaded = info.name + "-" + entry.name + "-failure.safetensors";
    if (Status status = save_weights(loaded, weights); !status.ok())
      return fail(status);
  }
  llvm::errs() << "a small input that shows it is in " << file << "; compare\n";
  ModelOptions shown = options.model; // without gradients, which `run` does not print
  shown.train = false;
  shown.gradients.clear();
  shown.recompute = "none";
  for (bool first : {true, false}) { // with what it shared the compiled code differs from itself
    bool compiled = first || verifier.finding.shared;
    llvm::errs() << "  dbc " << (compiled ? "run " : "interpret ") << commandLine(shown, compiled)
                 << " --entry " << entry.name << " --weights " << loaded << " --input " << file
                 << (first && verifier.finding.shared ? " --share\n" : "\n");
  }
  return kUserError;
}

/// Biases of 0 and gains of 1, which a model starts from, would hide what is done with them.
static void disturb(Weights &weights) {
  std::mt19937 random(7);
  const ModelInfo &info = weights.info();
  for (int32_t param = 0; param < weights.count(); ++param)
    if (info.params[param].init.kind == InitInfo::Kind::Constant)
      for (size_t i = 0; i < weights.size(param); ++i)
        weights.data(param)[i] += static_cast<float>(random() % 1001) / 1000 - 0.5f;
}

/// Entries of which cuBLAS computes a product: what it adds up in which order may depend on the batch.
static Exit findBlas(const Options &options, ModelUnit &unit, std::set<std::string> &entries) {
  if (options.model.gpuBlas == "never")
    return kFine;
  mlir::OwningOpRef<mlir::ModuleOp> kernels;
  if (Exit exit = unit.transform("kernel", kernels, {}, /*device=*/true))
    return exit;
  kernels->walk([&](kernel::GemmOp gemm) {
    entries.insert(gemm->getParentOfType<kernel::ProgramOp>().getSymName().str());
  });
  return kFine;
}

/// What `--json` says of an entry.
static llvm::json::Object rowOf(const EntryInfo &entry, Finding &finding, bool hasGradient) {
  llvm::json::Object row{{"entry", entry.name},
                         {"valid", finding.valid},
                         {"redrawn", finding.redrawn},
                         {"wrong", finding.wrong},
                         {"several_errors", finding.several},
                         {"not_finite", finding.notFinite},
                         {"median_nodes", finding.medianNodes()},
                         {"unclear", finding.unclear},
                         {"max_error", std::isfinite(finding.maxError) ? llvm::json::Value(finding.maxError)
                                                                       : llvm::json::Value("inf")},
                         {"bits_equal", finding.comparesBits ? llvm::json::Value(finding.bitsEqual)
                                                             : llvm::json::Value(nullptr)}};
  if (hasGradient) {
    row["gradients"] = static_cast<int64_t>(finding.gradients);
    row["at_kinks"] = finding.atKinks;
    row["redrawn_at_kinks"] = finding.redrawnAtKinks;
  }
  return row;
}

/// What is said of an entry to people; `given`: inputs were not drawn.
static void printLine(const EntryInfo &entry, const Finding &finding, bool given, bool hasGradient) {
  auto some = [](int64_t count, const char *what) {
    return count ? " (" + std::to_string(count) + what + ")" : std::string();
  };
  llvm::outs() << entry.name << ": " << finding.valid << " valid"
               << some(finding.notFinite, " with inf or nan") << some(finding.atKinks, " at kinks") << ", "
               << (given ? finding.wrong : finding.redrawn) << (given ? " refused" : " redrawn")
               << some(finding.redrawnAtKinks, " at kinks") << some(finding.leftOut, " too large to compare")
               << ", largest error " << llvm::format("%.2g", finding.maxError);
  if (hasGradient && finding.gradients == 0 && (!finding.ok() || finding.valid == 0))
    llvm::outs() << ", gradients not compared";
  else if (hasGradient && finding.gradients == 0)
    llvm::outs() << ", gradients not compared: each input has a decision too near to call";
  else if (hasGradient)
    llvm::outs() << llvm::formatv(", of gradients {0:e1}", finding.gradientError);
  llvm::outs() << ", bits "
               << (!finding.comparesBits ? "not compared, as cuBLAS computes products"
                   : finding.bitsEqual   ? "equal"
                                         : "differ")
               << (finding.ok() && (given || !finding.unclear) ? "" : ": FAILED") << "\n";
  if (given && finding.valid == 0 && !finding.refusal.empty())
    llvm::errs() << entry.name << ": no result was compared, the errors alone; the first: " << finding.refusal
                 << "\n";
}

/// Of inputs near a tie in which something else comes out. Drawn ones are drawn again: if there are too few
/// others, nothing is shown. Given ones are as they are.
static Exit reportUnclear(const EntryInfo &entry, const Finding &finding, bool given) {
  if (!given) {
    printError(entry.name + ": only " + std::to_string(finding.valid - finding.unclear) + " of " +
               std::to_string(finding.tried) +
               " random inputs are valid; the others have a decision or a kink too near to call");
    return kUserError;
  }
  llvm::errs() << entry.name << ": " << counted(finding.unclear, "input comes", "inputs come")
               << " out otherwise, for a decision or a kink too near to call; the first is line "
               << finding.firstUnclear + 1 << "\n";
  return kFine;
}

/// The lines of --input, of which there must be one.
static llvm::Error readInputs(const std::string &file, std::vector<std::string> &lines) {
  LineReader reader;
  if (llvm::Error error = reader.open(file))
    return error;
  if (llvm::Error error = reader.read(SIZE_MAX, lines))
    return error;
  return lines.empty() ? llvm::createStringError("`" + file + "` has no input") : llvm::Error::success();
}

Exit verifyCommand(const Options &options) {
  const bool given = !options.countInput.empty();
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  const ModelInfo described = oracle::describe(unit.meaning());
  if (given ? findEntry(described, options.entry) < 0 : !hasEntry(described, options.entry))
    return kUserError;
  std::vector<std::string> lines;
  if (given)
    if (llvm::Error error = readInputs(options.countInput, lines))
      return fail(std::move(error));
  LoadedModel loaded;
  if (Exit exit = load(options, unit, loaded, disturb))
    return exit;
  const ModelInfo &info = loaded.info();
  oracle::Interpreter interpreter(unit.meaning(), weightsView(*loaded.weights));
  if (!given)
    interpreter.setLimit(kSteps);
  interpreter.setDifferentiates(options.model.train);
  llvm::Expected<std::vector<std::string>> gradients = gradientNames(unit.meaning(), options.model.gradients);
  if (!gradients)
    return fail(gradients.takeError());
  std::set<std::string> byBlas;
  if (Exit exit = findBlas(options, unit, byBlas))
    return exit;

  Exit exit = kFine;
  llvm::json::Array rows;
  for (size_t number = 0; number < info.entries.size(); ++number) {
    const EntryInfo &entry = info.entries[number];
    if (given ? static_cast<int32_t>(number) != findEntry(info, options.entry)
              : !options.entry.empty() && entry.name != options.entry)
      continue;
    interpreter.differentiateColumns(gradientColumns(info, static_cast<int32_t>(number), gradients.get()));
    Verifier verifier(interpreter, loaded, static_cast<int32_t>(number),
                      options.model.tf32 ? kTf32Bound : kBound,
                      options.model.f64    ? kGradientBound
                      : options.model.tf32 ? kGradientBoundTf32
                                           : kGradientBoundF32,
                      options.model.train);
    verifier.finding.comparesBits = loaded.device() == nullptr || !byBlas.count(entry.name);
    if (!given && !verifier.draw(options.count, options.seed, options.sizes)) {
      exit = kUserError;
      continue;
    }
    if (Status status =
            given ? verifier.take(lines) : verifier.drawWrong(options.count, options.seed, options.sizes);
        !status.ok())
      return fail(status);
    if (Status status = verifier.compare(); !status.ok())
      return fail(status);
    const bool hasGradient = options.model.train && entry.is_loss;
    if (hasGradient && verifier.finding.ok()) {
      if (Status status = verifier.compareGradients(); !status.ok())
        return fail(status);
      verifier.finding.ofGradients = !verifier.finding.ok();
    }
    Finding &finding = verifier.finding;
    if (!finding.ok())
      exit = reportMismatch(verifier, options, *loaded.weights, entry);
    if (finding.unclear && reportUnclear(entry, finding, given) != kFine)
      exit = kUserError;
    if (options.json)
      rows.push_back(rowOf(entry, finding, hasGradient));
    else
      printLine(entry, finding, given, hasGradient);
  }
  if (options.json)
    llvm::outs() << llvm::json::Value(std::move(rows)) << "\n";
  return exit;
}

} // namespace dbc::driver
