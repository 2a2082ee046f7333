// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc train`: compiles a model with the gradients of its losses to a program that trains it, and becomes
// that program.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/weights/Refused.h"
#include "oracle/Describe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Regex.h"
#include <dbc/io/safetensors.h>
#include <dbc/train/trainer.h>

namespace dbc::driver {

/// The program, but for the model's own code and dbc's libraries.
static std::string mainOf(const GeneratedCode &code) {
  return "// The trainer of the model `" + code.model +
         R"(`, as `dbc train` runs it. Its argument is the options, as JSON;
// a program of your own may fill a dbc::TrainOptions instead.
#include ")" +
         code.model + R"(.h"
#include <)" +
         (code.mpi ? "dbc/mpi.h" : "dbc/train/trainer.h") + R"(>

int main(int argc, char **argv) {
  return )" +
         (code.mpi ? "dbc::mpi::train_main" : "dbc::train_main") + R"((argc, argv, )" + code.space +
         R"(::code());
}
)";
}

/// Generated code without what computes nothing: comments, blank space, and the places in the model that
/// messages name, as "words.dyn:3:5".
static std::string withoutPlaces(llvm::StringRef source) {
  static const llvm::Regex place("^[^\"]*:[0-9]+:[0-9]+$");
  std::string text;
  for (; !source.empty(); source = source.split('\n').second) {
    const llvm::StringRef line = source.split('\n').first.trim();
    if (line.starts_with("//"))
      continue;
    llvm::SmallVector<llvm::StringRef> parts; // each second one stands between quotes
    line.split(parts, '"');
    for (size_t n = 0; n < parts.size(); ++n) {
      text += n > 0 ? "\"" : "";
      if (!place.match(parts[n]))
        llvm::copy_if(parts[n], std::back_inserter(text), [](char c) { return c != ' '; });
    }
  }
  return text;
}

/// A hash of what computes the numbers of a training. What is kept or found again changes none of them, and a
/// GPU computes what the CPU does: one may go on with another --recompute or --target.
static Exit hashOfProgram(ModelUnit &unit, const ModelOptions &options, const GeneratedCode &code,
                          std::string &hash) {
  GeneratedCode keeping;
  if (options.recompute != "none" || options.device) {
    ModelOptions model = options;
    model.recompute = "none";
    model.device = false;
    model.target = "cpu";
    unit.compileAs(model);
    if (Exit exit = unit.generate(keeping))
      return exit;
  }
  hash = hashOf({withoutPlaces(keeping.source.empty() ? code.source : keeping.source)});
  return kFine;
}

/// What is wrong with the weights to begin with; the trainer reads them again.
static Exit checkWeights(const std::string &path, const ModelInfo &model) {
  std::vector<std::string> drawn;
  Weights weights(model);
  const Status status = path.empty() ? Status() : load_weights(path, weights, &drawn);
  return status.code == Code::bad_weights ? fail(explainRefused(status, path, model)) : kFine;
}

/// Whether this is one of several processes that train together. Says what is wrong: that they cannot.
static Exit findLaunch(bool &mpi) {
  mpi = launched_processes() > 1;
  if (!mpi || hasMpi())
    return kFine;
  return fail(llvm::createStringError(
      "this is one of " + std::to_string(launched_processes()) +
      " processes, and each would train for itself: this dbc was built without MPI, or is installed without "
      "libdbc_mpi.a; install libopenmpi-dev and openmpi-bin and build it again"));
}

Exit trainCommand(const Options &options) {
  GeneratedCode code;
  if (Exit exit = findLaunch(code.mpi))
    return exit;
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  TrainOptions asked = options.train;
  asked.seed = options.seed;
  asked.weights = options.weights;
  asked.optimizer.epsilon = usual_epsilon(asked.optimizer.kind);
  asked.dims = options.model.dims;
  asked.cuda = options.model.device;
  // What can be said before the C++ is compiled, which takes a while.
  if (Status status = check(asked); !status.ok())
    return fail(status);
  const ModelInfo model = oracle::describe(unit.meaning());
  int32_t loss = -1;
  if (Status status = find_loss(model, asked.loss, loss); !status.ok())
    return fail(status);
  if (Exit exit = checkWeights(asked.weights, model))
    return exit;
  for (const auto &[flag, written] : {std::pair("--log", asked.log), std::pair("--plot", asked.plot),
                                      std::pair("--profile-json", asked.profile_json)})
    for (const std::string &source : unit.files())
      if (!written.empty() && llvm::sys::fs::equivalent(written, source))
        return fail(llvm::createStringError(std::string(flag) + " would replace " + source +
                                            ", which the model is made of"));
  if (Exit exit = unit.generate(code))
    return exit;
  code.main = mainOf(code);
  if (Exit exit = hashOfProgram(unit, options.model, code, asked.program))
    return exit;
  return becomeTrainer(code, options.model.target != "cuda", options.model.verbose, to_json(asked));
}

} // namespace dbc::driver
