// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The command line of `dbc`: which subcommands there are and which options each takes.

#include "driver/Clashes.h"
#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/Outputs.h"
#include "driver/Usage.h"
#include "driver/Watch.h"
#include "runtime/train/Crash.h"
#include "llvm/Support/raw_ostream.h"
#include <CLI/CLI.hpp>
#include <iostream>
#include <limits>
#include <memory>

using namespace dbc::driver;

namespace {

/// More nodes, elements or depth is not drawn.
constexpr int64_t kMostDrawn = 1000000;

/// One subcommand and what it calls.
struct Command {
  CLI::App *app;
  Exit (*function)(const Options &);
};

/// An option that names a file which the command reads, or writes as its output.
struct FileOption {
  const CLI::App *command;
  const char *option;
  const std::string *path;
  bool isWritten;
};

/// Declares all subcommands on `app`; options are filled into `o`.
class CommandLine {
public:
  CommandLine(CLI::App &app, Options &o) : app(app), o(o) {
    declareCompiler();
    declareRunners();
    declareInspection();
    declareTraining();
    declareWeights();
    CLI::App *explain = app.add_subcommand("explain-error", "print what the manual says of a rule");
    explain->add_option("RULE", o.rule, "what stands in brackets behind a message, as G3")->required();
    commands.push_back({explain, explainErrorCommand});
    CLI::App *project =
        app.add_subcommand("new", "make a folder with a model, a program that uses it, and data");
    project->add_option("NAME", o.project, "of the model and of the folder")->required();
    project->add_option("--from", o.projectKind, "what an input is: tree, sequence, graph or lattice [tree]")
        ->check(oneOf({"tree", "sequence", "graph", "lattice"}))
        ->default_str("");
    commands.push_back({project, newCommand});
    CLI::App *format = app.add_subcommand("fmt", "print .dyn files formatted");
    format->add_option("FILE", o.files, "what is formatted; stdin if there is none, or -");
    format->add_flag("-i", o.formatInPlace, "write the files themselves instead, those that change");
    format->add_flag("--check", o.formatCheck,
                     "print nothing; name files that would change, with exit code 1");
    commands.push_back({format, formatCommand});
  }
  std::vector<Command> commands;

  /// Puts the files that options name into the options.
  void nameFiles() {
    for (const FileOption &file : files)
      if (file.command->parsed() && !file.path->empty() && *file.path != "-")
        (file.isWritten ? o.writes : o.reads).push_back({file.option, *file.path});
  }

private:
  std::vector<FileOption> files;
  void addFile(CLI::App *command, const char *flag, std::string &path, const std::string &words,
               bool isWritten = false) {
    command->add_option(flag, path, words)
        ->check(CLI::Validator(
            [](std::string &text) { return text.empty() ? "the path is empty" : std::string(); }, ""));
    files.push_back({command, flag, &path, isWritten});
  }
  void addOutput(CLI::App *command, const char *flag, std::string &path, const std::string &words) {
    addFile(command, flag, path, words, /*isWritten=*/true);
  }
  CLI::App *add(const char *name, const char *what, Exit (*function)(const Options &)) {
    return addTo(app, name, what, function);
  }
  /// The same under another command.
  CLI::App *addTo(CLI::App &above, const char *name, const char *what, Exit (*function)(const Options &)) {
    CLI::App *command = above.add_subcommand(name, what);
    command->add_option("FILE", o.model.file, "the model, a .dyn file")->required();
    command
        ->add_option_function<std::vector<std::string>>(
            "-D",
            [this](const std::vector<std::string> &texts) {
              for (const std::string &text : texts)
                if (std::string wrong = bindDim(o.model.dims, text); !wrong.empty())
                  throw CLI::ValidationError(wrong);
            },
            "set a dim; may be repeated")
        ->type_name("NAME=N")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    command->add_option("-I", o.model.includes, "look for imported modules in DIR; may be repeated")
        ->type_name("DIR")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    command->add_flag("-v,--verbose", o.model.verbose, "say what is done");
    commands.push_back({command, function});
    return command;
  }
  void addReal(CLI::App *command) {
    command
        ->add_option_function<std::string>(
            "--real", [this](const std::string &text) { o.model.f64 = text == "f64"; },
            "the number that generated code computes with [f32]")
        ->check(oneOf({"f32", "f64"}, true));
  }
  void addRecompute(CLI::App *command) {
    command
        ->add_option(
            "--recompute", o.model.recompute,
            "what gradients find again in place of keeping it: none; cheap, what elementwise operations "
            "give of what is kept; cells, all that no other row reads [none]")
        ->check(oneOf({"none", "cheap", "cells"}))
        ->default_str("");
  }
  void addMode(CLI::App *command, const std::string &what) {
    command
        ->add_option_function<std::string>(
            "--mode", [this](const std::string &text) { o.model.train = text == "train"; }, what + " [infer]")
        ->check(oneOf({"infer", "train"}, true));
    addRecompute(command);
    command
        ->add_option("--gradient", o.model.gradients,
                     "with --mode train: gradients of a field or an argument of a loss too, as Tree.x; all: "
                     "of each that can have one; may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  }
  void addTables(CLI::App *command) {
    command
        ->add_option(
            "--table-budget", o.model.tableBudget,
            "bytes that a model may take for functions of one index, computed when it is made; kb, mb and "
            "gb are understood, 0 makes none [256mb]")
        ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false).description(""))
        ->type_name("BYTES");
  }
  void addTarget(CLI::App *command) {
    command
        ->add_option_function<std::string>(
            "--target",
            [this](const std::string &text) {
              o.model.target = text;
              o.model.device = text != "cpu";
            },
            "what generated code runs on: cpu, cuda, cpu,cuda, or cuda-on-cpu, where the CPU runs the "
            "kernels "
            "thread by thread, for tests [cpu]")
        ->check(oneOf({"cpu", "cuda", "cpu,cuda", "cuda-on-cpu"}));
    command
        ->add_option_function<std::string>(
            "--gpu-math", [this](const std::string &text) { o.model.tf32 = text == "tf32"; },
            "how a GPU multiplies matrices: f32, or tf32 with operands of 11 bits [f32]")
        ->check(oneOf({"f32", "tf32"}));
    command
        ->add_option(
            "--gpu-blas", o.model.gpuBlas,
            "which products outside of loops cuBLAS computes: never, auto (large ones), always [never]")
        ->check(oneOf({"never", "auto", "always"}))
        ->default_str("");
  }
  void addEntry(CLI::App *command, const char *without = "may be left out when there is one") {
    command->add_option("--entry", o.entry, std::string("an entry or loss; ") + without);
  }
  static constexpr const char *kWeights = "a safetensors file; without it weights are drawn";
  void addSeed(CLI::App *command, const char *words = "of what is drawn [0]") {
    command->add_option("--seed", o.seed, words)->check(numberFrom(0, 1.9e19));
  }
  /// Which weights, and how packed matrices are kept; both may be said.
  void addWeights(CLI::App *command) {
    command
        ->add_option_function<std::vector<std::string>>(
            "--weights",
            [this](const std::vector<std::string> &texts) {
              for (const std::string &text : texts)
                if (!setWeightType(text))
                  o.weights = text;
            },
            std::string(kWeights) + "; bf16 keeps matrices in bfloat16")
        ->type_name("FILE|bf16")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    files.push_back({command, "--weights", &o.weights, /*isWritten=*/false});
    addSeed(command);
  }
  bool setWeightType(const std::string &text) {
    if (text == "bf16" || text == "f32")
      o.model.bf16 = text == "bf16";
    return text == "bf16" || text == "f32";
  }
  void addWeightType(CLI::App *command) {
    command
        ->add_option_function<std::string>(
            "--weights", [this](const std::string &text) { setWeightType(text); },
            "how matrices are kept that products read, f32 or bf16 [f32]")
        ->check(oneOf({"f32", "bf16"}));
  }
  void addWatch(CLI::App *command) {
    command->add_flag("--watch", o.watch, "do it again each time that a file changes which it reads");
  }
  void addFiles(CLI::App *command) {
    addFile(command, "--input", o.input, "JSON lines, one input a line [-, stdin]");
    addOutput(command, "--output", o.output, "JSON lines, one result a line [stdout]");
  }
  void addCount(CLI::App *command) {
    command->add_option("-n", o.count, "how many inputs [100]")
        ->check(CLI::Range(int64_t(1), int64_t(1) << 30));
    addRange(command, "--length", o.sizes.length, 0, "elements of lists of arguments, and of numbers");
    addRange(command, "--nodes", o.sizes.nodes, 0, "nodes of an input");
    addRange(command, "--depth", o.sizes.depth, 0, "nodes on the longest way down from an argument");
  }
  /// A range A..B, both included, or one number.
  void addRange(CLI::App *command, const char *flag, std::optional<dbc::DrawRange> &range, int64_t least,
                const char *words) {
    command
        ->add_option_function<std::string>(
            flag,
            [&range, flag, least](const std::string &text) {
              llvm::StringRef low = text, high = text;
              if (size_t dots = text.find(".."); dots != std::string::npos)
                low = low.take_front(dots), high = high.drop_front(dots + 2);
              dbc::DrawRange read;
              if (low.getAsInteger(10, read.least) || high.getAsInteger(10, read.most) ||
                  read.least < least || read.least > read.most || read.most > kMostDrawn)
                throw CLI::ValidationError(flag, "`" + text + "` is no range A..B of " +
                                                     std::to_string(least) + " to " +
                                                     std::to_string(kMostDrawn));
              range = read;
            },
            words)
        ->type_name("A..B");
  }

  void declareCompiler() {
    CLI::App *compile = add("compile", "write C++ for a model: DIR/<model>.h .cpp .json .d", compileCommand);
    compile->add_option("-o", o.output, "the folder to write to [.]")->type_name("DIR");
    compile->add_option("--emit", o.emit, "print the model in one of the compiler's languages instead")
        ->check(oneOf({"dyn", "batch", "kernel"}, true));
    compile->add_flag("--save-temps", o.saveTemps,
                      "keep <model>.dyn.mlir .batch.mlir .kernel.mlir in DIR too");
    compile->add_option("--print-ir-after", o.printAfter, "print to stderr what PASS makes; may be repeated")
        ->type_name("PASS")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    compile->add_flag("--verify-each", o.model.verifyEach,
                      "verify what each pass makes, not the last one alone");
    compile->add_flag("--c-interface", o.cInterface, "write DIR/<model>_c.h too, for programs in C");
    compile->add_flag("--shared", o.shared,
                      "compile the C++ too, to a shared object in the cache, and print its path");
    addReal(compile);
    addMode(compile, "what losses are for: infer computes their values, train their gradients too");
    addWeightType(compile);
    addTables(compile);
    addTarget(compile);
    addWatch(add("check", "print what is wrong with a model", checkCommand));
  }
  void declareRunners() {
    CLI::App *interpret =
        add("interpret", "compute an entry input by input, slowly, in double precision", interpretCommand);
    CLI::App *run = add("run", "compile a model and compute an entry for batches of inputs", runCommand);
    for (CLI::App *command : {interpret, run}) {
      addEntry(command);
      addFiles(command);
    }
    addFile(interpret, "--weights", o.weights, kWeights);
    addSeed(interpret);
    addWeights(run);
    interpret->add_flag(
        "--trace", o.trace,
        "print to stderr the captured arguments of each instance, its `let`s and what it gives");
    run->add_option("--batch", o.batch, "inputs in a batch [64]")
        ->check(CLI::Range(1, 1 << 30).description(""));
    run->add_flag("--profile", o.profile, "print to stderr what each stage did and how long it took");
    addOutput(run, "--profile-json", o.profileOutput, "write the same to a file, as JSON");
    addOutput(run, "--profile-trace", o.profileTraceOutput,
              "write when each launch ran to a file that Perfetto and chrome://tracing open");
    run->add_option(
           "--device", o.device,
           "put predictions beside what a GPU's profile measured: h100, h200, or a file of constants")
        ->type_name("NAME|FILE");
    files.push_back({run, "--device", &o.device, /*isWritten=*/false});
    run->add_flag("--share", o.share, "compute once what nodes of a batch have in common");
    addWatch(run);
    run->add_option("--threads", o.threads, "threads to compute with [1]")
        ->check(CLI::Range(1, dbc::Session::kMostThreads).description(""));
    addReal(run);
    addTables(run);
    addTarget(run);
  }
  void declareInspection() {
    CLI::App *verify =
        add("verify", "compare compiled code with `interpret` on random inputs, or your own", verifyCommand);
    addFile(verify, "--input", o.countInput, "these JSON lines in place of random inputs");
    addCount(verify);
    addEntry(verify, "without it all");
    addReal(verify);
    addMode(verify, "train compares the gradients of losses too");
    addTables(verify);
    addTarget(verify);
    addWeights(verify);
    verify->add_flag("--json", o.json, "print the findings as JSON");
    CLI::App *sample = add("sample", "print random inputs that fit an entry", sampleCommand);
    addCount(sample);
    addEntry(sample);
    addSeed(sample);
    CLI::App *report =
        add("report", "say how a model is computed: stages, gathers, what was not batched and why",
            reportCommand);
    report->add_flag("--all", o.all, "each stage by itself, with all that it reads, and why");
    report->add_flag("--json", o.json, "print the report as JSON");
    addOutput(report, "--html", o.pageOutput, "write the report as a page, beside the model's source");
    addFile(report, "--input", o.countInput, "run these JSON lines and count too");
    addOutput(report, "--svg", o.drawingOutput, "draw the nodes of --input");
    report
        ->add_option_function<std::string>(
            "--device",
            [this](const std::string &text) {
              o.device = text;
              o.model.device = true;
            },
            "predict what a batch of --input takes on a device: h100, h200, or a file of its constants")
        ->type_name("NAME|FILE");
    files.push_back({report, "--device", &o.device, /*isWritten=*/false});
    report->add_option("--batch", o.batch, "inputs in a batch [64]")
        ->check(CLI::Range(1, 1 << 30).description(""));
    addReal(report);
    addMode(report, "train reports on losses with their gradients, and what is kept for these");
    addTables(report);
    addTarget(report);
    addEntry(report, "what --input is for; may be left out when there is one");
    addWeights(report);
  }

  void declareWeights() {
    CLI::App *weights = app.add_subcommand("weights", "weights from other programs");
    weights->require_subcommand(1);
    CLI::App *map =
        addTo(*weights, "map", "make a model's weights of a PyTorch state dict", weightsMapCommand);
    map->add_option("--from", o.from, "the tensors: safetensors, or NumPy's .npz")
        ->required()
        ->type_name("FILE");
    CLI::Option *mapping = map->add_option("--mapping", o.mapping, "what each param is made of, as JSON")
                               ->type_name("FILE.json");
    CLI::Option *suggest = map->add_flag(
        "--suggest", o.suggest,
        "print a mapping by names and shapes, and to stderr what is unsure of it; with -o take it too");
    mapping->excludes(suggest);
    map->add_option("-o", o.output, "the weights, for --weights of other commands")
        ->type_name("FILE.safetensors");
    map->footer(
        "A mapping is an object of JSON with an entry for each param of the model: a tensor's name, or\n"
        "  {\"transpose\": X}                              the last two axes swapped\n"
        "  {\"permute\": X, \"axes\": [2, 0, 1]}           axes in this order\n"
        "  {\"reshape\": X}                                to the param's shape, or to \"shape\": [..]\n"
        "  {\"gates\": X, \"from\": \"ifgo\", \"to\": \"iog\"}   blocks of rows in another order\n"
        "  {\"concat\": [X, Y], \"axis\": 0}               one behind the other\n"
        "  {\"add\": [X, Y]}                               the sum, as of two biases\n"
        "  {\"stack\": \"blocks.{i}.weight\"}              all numbers; \"first\" and \"last\" are the ends\n"
        "  0                                             each element is this number");
  }

  /// An option that takes X for all parameters, and NAME=X for one, or those under it.
  template <class Number>
  void addByParameter(CLI::App *command, const char *flag, Number &all, std::map<std::string, double> &some,
                      const char *words) {
    command
        ->add_option_function<std::vector<std::string>>(
            flag,
            [&all, &some, flag](const std::vector<std::string> &texts) {
              for (const std::string &text : texts) {
                llvm::StringRef name, number = text;
                if (text.find('=') != std::string::npos)
                  std::tie(name, number) = llvm::StringRef(text).split('=');
                double value = 0;
                if (number.getAsDouble(value) || !(value >= 0) ||
                    (name.empty() && text.find('=') != std::string::npos))
                  throw CLI::ValidationError(
                      flag, "takes X or NAME=X, X a number that is not below 0, not `" + text + "`");
                if (value > std::numeric_limits<float>::max())
                  throw CLI::ValidationError(flag, "takes numbers up to 3.4e38, not `" + text + "`");
                if (name.empty())
                  all = static_cast<Number>(value);
                else
                  some[name.str()] = value;
              }
            },
            words)
        ->type_name("[NAME=]X")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
  }
  /// An option that takes the name of one of `kinds`.
  template <class Kind>
  void addKind(CLI::App *command, const char *flag, Kind &to, std::vector<Kind> kinds, const char *words) {
    std::map<std::string, Kind> byName;
    std::vector<std::string> names;
    for (Kind kind : kinds) {
      byName[dbc::name_of(kind)] = kind;
      names.push_back(dbc::name_of(kind));
    }
    command
        ->add_option_function<std::string>(
            flag, [&to, byName](const std::string &name) { to = byName.at(name); }, words)
        ->check(oneOf(names));
  }
  void declareTraining() {
    using dbc::LearningRate;
    using dbc::OptimizerOptions;
    dbc::TrainOptions &t = o.train;
    CLI::App *train = add("train", "compile a model with its gradients and train it", trainCommand);
    train->set_help_all_flag("--help-all",
                             "print further options too: of optimizers, schedules, profiles ..");
    train->preparse_callback([this](size_t) { o.model.train = true; });
    train->add_option("--loss", t.loss, "the loss; may be left out when there is one");
    train->add_option("--train", t.train, "JSON lines to train on")->required()->type_name("FILE");
    train->add_option("--dev", t.dev, "JSON lines to measure each epoch by")->type_name("FILE");
    train
        ->add_option(
            "--metric", t.metric,
            "what is measured: mean:ENTRY (least is best), accuracy:ENTRY or pearson:ENTRY [the loss]")
        ->type_name("KIND:ENTRY");
    train
        ->add_option(
            "--label", t.label,
            "what metrics compare with where a line has no \"target\": an argument, or a field of the "
            "nodes that are the first one [label]")
        ->type_name("NAME");
    using Optimizer = OptimizerOptions::Kind;
    addKind(train, "--optimizer", t.optimizer.kind,
            {Optimizer::Sgd, Optimizer::Adagrad, Optimizer::Adam, Optimizer::AdamW},
            "sgd, adagrad, adam or adamw [sgd]");
    addByParameter(train, "--lr", t.rate.base, t.rate_of, "learning rate, of all or of one parameter [0.01]");
    train->add_option("--momentum", t.optimizer.momentum, "of sgd [0]")->check(numberFrom(0, 1));
    train->add_flag("--nesterov", t.optimizer.nesterov, "sgd with Nesterov's momentum");
    addByParameter(train, "--weight-decay", t.optimizer.weight_decay, t.decay_of,
                   "L2 weight decay, of all or of one parameter; adamw: decoupled [0]");
    train->add_option("--clip-norm", t.optimizer.clip_norm, "the gradient's norm is at most this; 0: any [0]")
        ->check(numberFrom(0, 1e9));
    train->add_option("--freeze", t.freeze, "a parameter that stays as it is; may be repeated")
        ->type_name("NAME")
        ->expected(1)
        ->take_all()
        ->allow_extra_args(false);
    using Schedule = LearningRate::Kind;
    addKind(train, "--schedule", t.rate.kind,
            {Schedule::Constant, Schedule::Step, Schedule::Cosine, Schedule::Plateau},
            "of the learning rate: constant, step, cosine or plateau [constant]");
    train->add_option("--warmup", t.rate.warm_up, "steps that lead up to the rate [0]")
        ->check(CLI::Range(int64_t(0), dbc::TrainOptions::most_steps).description(""));
    train->add_option("--every", t.every_epochs, "step: epochs between two rates [1]")
        ->check(CLI::Range(int64_t(1), dbc::TrainOptions::most_steps).description(""));
    train->add_option("--gamma", t.rate.gamma, "step, plateau: what the rate is multiplied by [0.1]")
        ->check(numberFrom(0, 1e9));
    train->add_option("--batch", t.batch, "inputs of a step [25]")
        ->check(CLI::Range(1, 1 << 30).description(""));
    train->add_option("--epochs", t.epochs, "how often all inputs are trained on [10]")
        ->check(CLI::Range(int64_t(1), dbc::TrainOptions::most_steps).description(""));
    train
        ->add_option("--patience", t.patience,
                     "end after so many epochs without a better metric; 0: never [0]")
        ->check(CLI::Range(int64_t(0), dbc::TrainOptions::most_steps).description(""));
    addRecompute(train);
    declareRun(train);
  }
  /// Of a training: what it begins with, and what it leaves.
  void declareRun(CLI::App *train) {
    dbc::TrainOptions &t = o.train;
    train->add_option("--weights", o.weights, "a safetensors file to begin with; what it lacks is drawn")
        ->type_name("FILE");
    addSeed(train, "of weights, the order of inputs and dropout [0]");
    train->add_option("--threads", t.threads, "threads to compute with [1]")
        ->check(CLI::Range(1, dbc::Session::kMostThreads).description(""));
    addReal(train);
    train->add_option("--out", t.out, "a folder for checkpoints, the best weights and the log")
        ->type_name("DIR");
    train->add_flag("--resume", t.resume, "go on with what lies in --out");
    train->add_flag(
        "--shard-optimizer", t.shard_optimizer,
        "of several processes (mpirun -n N dbc train ..) each keeps a part of the optimizer's state");
    train->add_option("--checkpoint-every", t.checkpoint_every, "steps between checkpoints; 0: an epoch [0]")
        ->check(CLI::Range(int64_t(0), dbc::TrainOptions::most_steps).description(""));
    train->add_option("--log", t.log, "the log, in place of log.csv in --out")->type_name("FILE.csv");
    train->add_option("--plot", t.plot, "draw loss and metric by epoch")->type_name("FILE.svg");
    train->add_flag(
        "--profile", t.profile,
        "print to stderr where the time went, stage by stage, of several processes that of the first");
    train->add_option("--profile-json", t.profile_json, "write the same to a file, as JSON")
        ->type_name("FILE");
    train
        ->add_option_function<std::string>(
            "--target",
            [this](const std::string &text) {
              o.model.target = text;
              o.model.device = text != "cpu";
            },
            "what it is trained on: cpu, cuda, or cuda-on-cpu, where the CPU runs the kernels [cpu]")
        ->check(oneOf({"cpu", "cuda", "cuda-on-cpu"}));
    for (const char *name :
         {"--label", "--target", "--momentum", "--nesterov", "--weight-decay", "--real", "--clip-norm",
          "--freeze", "--warmup", "--every", "--gamma", "--recompute", "--shard-optimizer",
          "--checkpoint-every", "--log", "--profile", "--profile-json"})
      train->get_option(name)->group(kFurther);
  }

  CLI::App &app;
  Options &o;
};

int dispatch(int argc, char **argv) {
  CLI::App app("dbc compiles models written for one input into C++ that runs whole batches.", "dbc");
  app.set_version_flag("--version", "dbc " DBC_VERSION);
  app.require_subcommand(1);
  app.formatter(std::make_shared<HelpFormatter>());
  Options options;
  CommandLine line(app, options);
  app.footer(
      "dbc COMMAND --help lists a command's options."); // of dbc alone: commands inherit what is there before
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &done) { // --help, --version
    return app.exit(done);
  } catch (const CLI::ParseError &error) {
    std::cerr << "dbc: error: " << describeMistake(error, app, argc, argv) << "\n";
    return kUsage;
  }
  line.nameFiles();
  std::string clash = clashOf(options, app);
  if (clash.empty())
    clash = findOverwritten(options);
  if (!clash.empty()) {
    std::cerr << "dbc: error: " << clash << "\n";
    return kUsage;
  }
  for (const Command &command : line.commands)
    if (command.app->parsed()) {
      if (options.watch)
        watch(options, command.function);
      Exit exit = command.function(options);
      if (llvm::Error error = flushStdout())
        return fail(std::move(error));
      return exit;
    }
  return kUsage;
}

} // namespace

int main(int argc, char **argv) {
  dbc::train::report_crashes(argc, argv);
  // Nothing below throws on purpose, apart from memory that runs out.
  try {
    return dispatch(argc, argv);
  } catch (const std::bad_alloc &) {
    std::cerr << "dbc: error: out of memory\n";
    return kUserError;
  } catch (const std::exception &error) {
    dbc::train::report_internal_error(error.what());
    return kInternal;
  }
}
