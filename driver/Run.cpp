// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc run` and `dbc interpret`: JSON lines in, JSON lines out, by compiled code or by the oracle.

#include "codegen/common/Surface.h"
#include "cost/EntryPredictor.h"
#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/Lines.h"
#include "driver/Outputs.h"
#include "driver/profile/LoggedRunner.h"
#include "driver/profile/ProfileTrace.h"
#include "driver/surroundings/Surroundings.h"
#include "oracle/Describe.h"
#include "runtime/io/File.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <charconv>
#include <cmath>
#include <dbc/counted.h>
#include <dbc/io/profile.h>

namespace dbc::driver {

/// Runs all lines of --input, --batch at a time, and writes the results to --output.
static Exit stream(const Options &options, LineRunner &runner, size_t batch) {
  LineReader input;
  if (llvm::Error error = input.open(options.input))
    return fail(std::move(error));
  std::vector<std::string> lines;
  std::vector<LineResult> results;
  std::string out, wrong;
  io::OutputFile file; // which has its name when it is whole
  const bool toFile = !options.output.empty();
  auto failToWrite = [&] { return fail(llvm::createStringError(wrong)); };
  if (toFile && !file.open(options.output, wrong))
    return failToWrite();
  bool failed = false;
  while (true) {
    if (llvm::Error error = input.read(batch, lines))
      return fail(std::move(error));
    if (lines.empty())
      break;
    results.clear();
    if (Status status = runner.compute(lines, results); !status.ok())
      return fail(status);
    for (const LineResult &result : results) {
      out += result.json + "\n";
      failed |= !result.status.ok();
    }
    if (toFile) {
      if (!file.write(out.data(), out.size(), wrong))
        return failToWrite();
    } else {
      llvm::outs() << out;
      if (llvm::Error error = flushStdout())
        return fail(std::move(error));
    }
    out.clear();
  }
  if (toFile && (!file.finish(wrong) || !file.commit(wrong)))
    return failToWrite();
  return failed ? kUserError : kFine;
}

/// A number in the fewest digits that read back as the same double.
static void printNumber(llvm::raw_ostream &out, double x) {
  std::array<char, 32> text;
  const std::to_chars_result end = x == std::trunc(x) && std::fabs(x) < 1e15
                                       ? std::to_chars(text.begin(), text.end(), x, std::chars_format::fixed)
                                       : std::to_chars(text.begin(), text.end(), x);
  out << llvm::StringRef(text.data(), end.ptr - text.data());
}

/// Elements of a tensor in nested brackets, or of a list; no more than are left to be shown, which it lowers.
static void printValue(llvm::raw_ostream &out, const oracle::Value &value, int64_t &left) {
  auto some = [&](int64_t count, llvm::function_ref<void(int64_t)> each) {
    out << "[";
    int64_t i = 0;
    for (; i < count && left > 0; ++i) {
      out << (i ? ", " : "");
      each(i);
    }
    out << (i < count ? (i ? ", ..]" : "..]") : "]");
  };
  if (value.unknown()) {
    out << "?";
  } else if (value.isNode()) {
    out << "node " << value.node();
  } else if (value.isList()) {
    some(value.elements().size(), [&](int64_t i) { printValue(out, value.elements()[i], left); });
  } else {
    std::vector<int64_t> shape = value.shape();
    std::function<void(size_t, int64_t, int64_t)> axis = [&](size_t depth, int64_t first, int64_t size) {
      if (depth == shape.size()) {
        printNumber(out, value.at(first));
        --left;
        return;
      }
      int64_t inner = size / shape[depth];
      some(shape[depth], [&](int64_t i) { axis(depth + 1, first + i * inner, inner); });
    };
    axis(0, 0, value.size());
  }
}

/// `line` is that of the input, from which an entry is computed.
static void printTrace(const std::string &instance, const std::vector<oracle::Traced> &lets, bool isEntry,
                       int64_t line) {
  constexpr int64_t kShown = 4096; // elements of one value
  llvm::errs() << instance;
  if (isEntry)
    llvm::errs() << "(line " << line << ")";
  llvm::errs() << "\n";
  for (const oracle::Traced &let : lets) {
    llvm::errs() << "  " << let.location << ": " << let.name << ": " << codegen::spelling(let.type) << " = ";
    int64_t left = kShown;
    printValue(llvm::errs(), let.value, left);
    llvm::errs() << "\n";
  }
}

Exit interpretCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  if (Exit exit = refuseOverwriting(options, unit.files()))
    return exit;
  ModelInfo info = oracle::describe(unit.meaning());
  int32_t entry = findEntry(info, options.entry);
  if (entry < 0)
    return kUserError;
  Weights weights(info);
  if (Status status = makeWeights(options, weights); !status.ok())
    return fail(status);
  sayDrawn(options, info);
  oracle::Interpreter interpreter(unit.meaning(), weightsView(weights));
  OracleRunner runner(interpreter, entry);
  if (options.trace)
    interpreter.setTrace([&](const std::string &instance, const std::vector<oracle::Traced> &lets) {
      printTrace(instance, lets, instance == runner.entry.name, runner.line());
    });
  return stream(options, runner, 1);
}

/// Compiled code; where it was asked for also what its batches are predicted to take on a device, which
/// computes them.
class ProfiledRunner : public LoggedRunner {
public:
  using LoggedRunner::LoggedRunner;
  /// From now on. Times are of a GPU, or `onCpu`; inputs may share instances if `share`.
  void predict(cost::EntryPredictor by, bool onCpu, bool share) {
    predictor.emplace(std::move(by));
    shares = share;
    predicted.measured_on = onCpu ? "cpu" : "gpu";
    logLaunches();
  }
  /// From now on; `to` is borrowed.
  void trace(ProfileTrace &to) {
    traced = &to;
    logLaunches();
  }
  /// Of all batches so far; null: there is none.
  const PredictedProfile *prediction() const { return predicted.batches > 0 ? &predicted : nullptr; }

protected:
  Status computeBatch() override {
    Status status = LoggedRunner::computeBatch();
    if (status.ok() && traced != nullptr)
      traced->add(log, profile, whole, batch.inputs());
    if (status.ok() && predictor) {
      // Where stages are timed there is no graph.
      const bool loops = context->path() == cuda::Path::Persistent;
      const int64_t distributed = shares && context->block_groups() <= 1 ? 1 : batch.inputs();
      predictor->add(log, profile.stages, distributed,
                     loops ? cost::DevicePath::Loops : cost::DevicePath::Levels, predicted);
    }
    return status;
  }

private:
  std::optional<cost::EntryPredictor> predictor;
  bool shares = false;
  ProfileTrace *traced = nullptr;
  PredictedProfile predicted;
};

/// What the predictions of a profile are, and what they stand beside.
static void print(llvm::raw_ostream &out, const PredictedProfile &predicted) {
  out << "predicted for " << predicted.device << " with " << predicted.measured_constants << " of "
      << predicted.constants << " constants measured, on the path taken, " << predicted.path << ": "
      << llvm::format("%.1f", predicted.us) << " us for " << counted(predicted.batches, "batch", "batches")
      << " without copies\n"
      << (predicted.measured_on == "cpu"
              ? "measured on the CPU, which ran the kernels thread by thread: these are no times of a GPU\n"
              : "measured on the GPU, each launch by itself: the wait for its end is part of its time\n");
}

Exit runCommand(const Options &options) {
  std::optional<cost::DeviceConstants> constants;
  if (!options.device.empty()) {
    llvm::Expected<cost::DeviceConstants> read = cost::readDevice(surroundings().devices, options.device);
    if (!read)
      return fail(read.takeError());
    constants = std::move(*read);
  }
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  if (Exit exit = refuseOverwriting(options, unit.files()))
    return exit;
  LoadedModel loaded;
  int32_t entry = -1;
  if (Exit exit = load(options, unit, loaded, entry))
    return exit;
  sayDrawn(options, loaded.info());
  ProfiledRunner runner(loaded.model, entry, options.threads, loaded.device());
  runner.session.share_subtrees(options.share);
  runner.session.time_stages(options.isProfiled());
  ProfileTrace trace(loaded.info().name, runner.entry.name);
  if (!options.profileTraceOutput.empty())
    runner.trace(trace);
  if (constants) {
    mlir::OwningOpRef<mlir::ModuleOp> kernels;
    if (Exit exit = unit.transform("kernel", kernels, {}, /*device=*/true))
      return exit;
    runner.predict(cost::EntryPredictor(std::move(*constants), *kernels, runner.entry.name),
                   options.model.target == "cuda-on-cpu", options.share);
  }
  Exit exit = stream(options, runner, options.batch);
  const RunProfile &profile = runner.profile;
  const PredictedProfile *predicted = runner.prediction();
  if (options.model.verbose && !options.profile)
    llvm::errs() << counted(profile.nodes, "node") << ", " << profile.schedule_ns << " ns scheduling, "
                 << profile.compute_ns << " ns computing\n";
  if (options.profile)
    llvm::errs() << profile_table(profile, predicted);
  if (options.profile && predicted)
    print(llvm::errs(), *predicted);
  if (options.profile && runner.context)
    llvm::errs() << "memory of the device: " << loaded.device()->bytes() << " bytes of the model; "
                 << runner.context->needed_bytes()
                 << " bytes of the last batch; block groups: " << runner.context->block_groups() << "\n";
  if (!options.profileOutput.empty())
    if (llvm::Error error = writeFile(options.profileOutput, profile_json(profile, predicted) + "\n"))
      return fail(std::move(error));
  if (!options.profileTraceOutput.empty())
    if (llvm::Error error = writeFile(options.profileTraceOutput, trace.text()))
      return fail(std::move(error));
  return exit;
}

} // namespace dbc::driver
