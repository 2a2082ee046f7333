// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The subcommands of `dbc`. Each gets the parsed command line and returns an exit code; data goes to stdout,
// words to stderr.
#pragma once

#include "driver/Exit.h"
#include "driver/ModelUnit.h"
#include <cstdint>
#include <dbc/cuda/context.h>
#include <dbc/io/instance.h>
#include <dbc/model.h>
#include <dbc/train/options.h>
#include <dbc/weights.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

/// A file that an option names.
struct NamedFile {
  std::string option, path; ///< the option with its dashes
};

/// The command line. Which options a subcommand has is said where they are declared, in dbc.cpp.
struct Options {
  ModelOptions model;
  std::string output;     ///< compile: a folder; interpret, run: a file, stdout if empty; weights map: a file
  std::string emit;       ///< compile: dyn, batch or kernel; empty for code
  bool saveTemps = false; ///< compile
  bool cInterface = false;             ///< compile: <model>_c.h too
  bool shared = false;                 ///< compile: to a shared object in the cache
  std::vector<std::string> printAfter; ///< compile: flags of passes
  std::string entry;                   ///< empty: the only one
  std::string input = "-";             ///< a file, - for stdin
  std::string countInput;              ///< report, verify: a file, empty for none
  std::string device;                  ///< report, run: a device or a file of its constants, empty for none
  std::string weights;                 ///< a safetensors file; empty: drawn
  uint64_t seed = 0;
  int32_t batch = 64, threads = 1;
  bool share = false;  ///< run: nodes that are alike
  bool watch = false;  ///< check, run: again when a file changes
  int64_t count = 100; ///< verify, sample: -n
  DrawOptions sizes;   ///< verify, sample: of what is drawn
  bool all = false;    ///< report: each access
  bool json = false;
  bool trace = false;               ///< interpret
  bool profile = false;             ///< run
  std::string profileOutput;        ///< run: a file for the profile as JSON, empty for none
  std::string profileTraceOutput;   ///< run: a file for the profile as a trace, empty for none
  std::string pageOutput;           ///< report: a file for the page, empty for none
  std::string drawingOutput;        ///< report: a file for the drawing, empty for none
  TrainOptions train;               ///< train; its weights and seed are those above
  std::string rule;                 ///< explain-error
  std::string project;              ///< new: the name of the model and of the folder
  std::string projectKind = "tree"; ///< new: a folder of dsl/templates
  std::string from;                 ///< weights map: a file of another program
  std::string mapping;              ///< weights map: a mapping file; empty with --suggest
  bool suggest = false;             ///< weights map
  std::vector<std::string> files;   ///< fmt: none, or -: stdin
  bool formatInPlace = false;       ///< fmt
  bool formatCheck = false;         ///< fmt
  std::vector<NamedFile> reads;     ///< interpret, run, report: files of the options above, beside the model
  std::vector<NamedFile> writes;    ///< the same of outputs

  /// Whether a profile is asked for, in whatever form.
  bool isProfiled() const { return profile || !profileOutput.empty() || !profileTraceOutput.empty(); }
};

Exit compileCommand(const Options &options);
Exit checkCommand(const Options &options);
Exit interpretCommand(const Options &options);
Exit runCommand(const Options &options);
Exit verifyCommand(const Options &options);
Exit sampleCommand(const Options &options);
Exit reportCommand(const Options &options);
Exit trainCommand(const Options &options);
Exit explainErrorCommand(const Options &options);
Exit newCommand(const Options &options);
Exit weightsMapCommand(const Options &options);
Exit formatCommand(const Options &options);

/// Number of the entry or loss `name`; without a name the only one, or the only entry among losses. -1 after
/// a message.
int32_t findEntry(const ModelInfo &info, const std::string &name);
/// Whether `name` is an entry or loss of the model; without a name whether it has any. Says so if not.
bool hasEntry(const ModelInfo &info, const std::string &name);

/// Says on a terminal that weights are drawn, where no --weights are given and the model has some: what is
/// computed with them looks like what trained ones give.
void sayDrawn(const Options &options, const ModelInfo &info);

/// The weights of --weights, or drawn from --seed.
Status makeWeights(const Options &options, Weights &weights);

/// A model compiled, loaded into this program and given its weights.
struct LoadedModel {
  const ModelInfo &info() const { return weights->info(); }
  /// The device that --target wants it computed on; null: the CPU.
  const cuda::Model *device() const { return onDevice ? &*onDevice : nullptr; }
  std::optional<Weights> weights;
  Model model;
  std::optional<cuda::Model> onDevice;
};
/// Compiles and loads what `unit` is about; prints what is wrong. `change` is applied to weights that are
/// drawn.
Exit load(const Options &options, ModelUnit &unit, LoadedModel &loaded, void (*change)(Weights &) = nullptr);
/// The same, and the number of the entry that is asked for, of which there must be one.
Exit load(const Options &options, ModelUnit &unit, LoadedModel &loaded, int32_t &entry);

} // namespace dbc::driver
