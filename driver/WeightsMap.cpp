// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc weights map`: a model's weights of another program's tensors, by a mapping file or by what names and
// shapes propose.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/Outputs.h"
#include "driver/surroundings/Surroundings.h"
#include "driver/weights/Elements.h"
#include "driver/weights/Mapping.h"
#include "driver/weights/Modules.h"
#include "driver/weights/Names.h"
#include "driver/weights/Suggest.h"
#include "oracle/Describe.h"
#include "runtime/io/JsonText.h"
#include "runtime/io/Nearest.h"
#include "runtime/io/TensorFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <dbc/counted.h>
#include <iostream>

namespace dbc::driver {

namespace {

/// "`fc.weight` f32[2, 3]"; the name alone of a tensor that cannot be read
std::string describe(const std::string &name, const std::string &dtype, const std::vector<int64_t> &extents) {
  return "`" + io::shown(name, 200) + "`" + (dtype.empty() ? "" : " " + shownTensor(dtype, extents));
}

/// An entry as a mapping file has it.
std::string shownEntry(const std::string &param, const MapExpr &value) {
  std::string text;
  io::append_string(text, param);
  return text + ": " + shownExpr(value);
}

/// Of each param, in the order of describe(), whether a layer of the library's nn has it.
std::vector<bool> areOfLibrary(mlir::ModuleOp meaning) {
  llvm::SmallString<128> library(surroundings().library);
  llvm::sys::path::append(library, "nn.dyn");
  std::vector<bool> result;
  meaning.walk([&](dyn::ParamOp param) {
    auto location = param.getLoc()->findInstanceOf<mlir::FileLineColLoc>();
    result.push_back(location && llvm::sys::fs::equivalent(location.getFilename().strref(), library));
  });
  return result;
}

/// What the command works on.
struct Job {
  const ModelInfo &model;
  const std::vector<bool> isOfLibrary; ///< see suggest()
  const std::string &path;             ///< of the tensors
  TensorSource &source;
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diagnostics{sources};
  std::optional<Proposal> proposal; ///< once it was asked for
  std::vector<std::vector<size_t>> suggestedTensors;
  std::vector<bool> used; ///< tensors of the mapping

  Job(const ModelInfo &model, std::vector<bool> isOfLibrary, const std::string &path, TensorSource &source)
      : model(model), isOfLibrary(std::move(isOfLibrary)), path(path), source(source) {
    diagnostics.setLimit(1000);
  }
  const Proposal &suggested() {
    if (!proposal)
      proposal = suggest(model, isOfLibrary, source);
    return *proposal;
  }
  /// Of each param the tensors that the proposal makes it of.
  const std::vector<std::vector<size_t>> &tensorsSuggested() {
    if (!suggestedTensors.empty())
      return suggestedTensors;
    Mapping whole;
    for (size_t p = 0; p < model.params.size(); ++p)
      if (const std::optional<MapExpr> &value = suggested().values[p])
        whole.entries.push_back({static_cast<int32_t>(p), *value, {}});
    frontend::DiagnosticEngine unheard(sources);
    resolve(whole, model, source, path, unheard);
    suggestedTensors.resize(model.params.size());
    for (const MapEntry &entry : whole.entries)
      tensorsOf(entry.value, source, suggestedTensors[static_cast<size_t>(entry.param)]);
    return suggestedTensors;
  }
};

/// Says which params have no entry, and what they may be made of.
void sayMissing(Job &job, const Mapping &mapping) {
  for (size_t p = 0; p < job.model.params.size(); ++p) {
    if (mapping.isGiven[p])
      continue;
    const ParamInfo &param = job.model.params[p];
    frontend::Diagnostic &error = job.diagnostics.error(
        mapping.end, "there is no entry for " + describe(param.name, "f32", param.extents));
    const std::vector<size_t> &tensors = job.tensorsSuggested()[p];
    if (job.suggested().values[p] && !tensors.empty() &&
        std::none_of(tensors.begin(), tensors.end(), [&](size_t t) { return job.used[t]; }))
      error.hint("perhaps " + shownEntry(param.name, *job.suggested().values[p]));
  }
}

/// Which param a tensor that nothing uses may be meant for; empty if none.
std::string nearestParam(Job &job, size_t tensor) {
  const SourceTensor &about = job.source.tensors()[tensor];
  for (size_t p = 0; p < job.model.params.size(); ++p) {
    const std::vector<size_t> &tensors = job.tensorsSuggested()[p];
    if (std::find(tensors.begin(), tensors.end(), tensor) != tensors.end())
      return "perhaps " + shownEntry(job.model.params[p].name, *job.suggested().values[p]);
  }
  constexpr double alike = 0.4;
  const ParamInfo *best = nullptr;
  std::pair<bool, double> bestRank; // one of the tensor's shape before others
  for (const ParamInfo &param : job.model.params) {
    const std::pair<bool, double> rank(param.extents == about.extents,
                                       likeness(wordsOf(param.name), wordsOf(about.name)));
    if (rank.second > alike && rank > bestRank) {
      best = &param;
      bestRank = rank;
    }
  }
  return best ? "the nearest param is " + describe(best->name, "f32", best->extents) : "";
}

/// `asModules`: of a module of PyTorch that nothing uses one line, not one of each tensor.
void sayUnused(Job &job, bool asModules) {
  std::vector<bool> isSaid = job.used;
  if (asModules)
    for (const Described &module : modulesUnused(job.source, job.used)) {
      job.diagnostics.warning({}, "`" + io::shown(module.name, 200) + "` of `" + job.path + "`, " +
                                      module.text + ", is not used");
      for (size_t tensor : module.members)
        isSaid[tensor] = true;
    }
  constexpr size_t most = 10;
  size_t count = 0;
  for (size_t t = 0; t < job.source.tensors().size(); ++t) {
    const SourceTensor &tensor = job.source.tensors()[t];
    if (!isSaid[t] && ++count <= most)
      job.diagnostics
          .warning({}, "tensor " + describe(tensor.name, tensor.dtype, tensor.extents) + " of `" + job.path +
                           "` is not used")
          .hint(nearestParam(job, t));
  }
  if (count > most)
    job.diagnostics.warning({}, counted(count - most, "more tensor") + " of `" + job.path +
                                    (count - most == 1 ? "` is not used" : "` are not used"));
}

/// Reads a mapping, which is at once printed what is wrong with, and finds the tensors behind it. A proposal
/// need not have an entry for each param.
Exit readAll(Job &job, const std::string &name, std::string text, bool isProposal, Mapping &mapping) {
  std::optional<Mapping> read =
      readMapping(job.sources.add(name, std::move(text)), job.model, job.diagnostics);
  if (read) {
    mapping = std::move(*read);
    resolve(mapping, job.model, job.source, job.path, job.diagnostics);
    job.used.resize(job.source.tensors().size());
    for (const MapEntry &entry : mapping.entries) {
      std::vector<size_t> tensors;
      tensorsOf(entry.value, job.source, tensors);
      for (size_t tensor : tensors)
        job.used[tensor] = true;
    }
    // Tensors of entries with an error may be used by them.
    const bool allRead = !job.diagnostics.hasErrors();
    if (!isProposal)
      sayMissing(job, mapping);
    if (allRead)
      sayUnused(job, /*asModules=*/isProposal);
  }
  job.diagnostics.print(std::cerr);
  return job.diagnostics.hasErrors() ? kUserError : kFine;
}

/// What a layer is, and of the modules that nothing uses the one that is most like it, or the only one.
std::string sayOther(const Described &layer, const std::vector<Described> &unused) {
  const Described *best = nullptr;
  double bestRank = unused.size() == 1 ? -1 : 0;
  for (const Described &module : unused) {
    const double rank = (module.type == layer.type) + likeness(wordsOf(module.name), wordsOf(layer.name));
    if (rank > bestRank) {
      best = &module;
      bestRank = rank;
    }
  }
  return best ? "`" + io::shown(best->name, 200) + "` is " + best->text + "; `" + layer.name + "` is " +
                    layer.text
              : "it is " + layer.text;
}

/// Says what nothing in the file fits: of a whole layer a line, else of each param.
Exit sayUnfit(Job &job) {
  std::vector<bool> hasValue;
  for (const std::optional<MapExpr> &value : job.suggested().values)
    hasValue.push_back(value.has_value());
  const std::vector<Described> unused = modulesUnused(job.source, job.suggested().used);
  const std::vector<Described> layers = layersWithout(job.model, job.isOfLibrary, hasValue);
  const std::string begin = "nothing that is left in `" + job.path + "` fits ";
  Exit exit = kFine;
  for (size_t p = 0; p < hasValue.size(); ++p) {
    if (hasValue[p])
      continue;
    exit = kUserError;
    const ParamInfo &param = job.model.params[p];
    const auto layer = std::find_if(layers.begin(), layers.end(), [&](const Described &each) {
      return std::find(each.members.begin(), each.members.end(), p) != each.members.end();
    });
    if (layer == layers.end())
      printError(begin + describe(param.name, "f32", param.extents));
    else if (p == *std::min_element(layer->members.begin(), layer->members.end()))
      printError(begin + "`" + layer->name + "`: " + sayOther(*layer, unused));
  }
  return exit;
}

/// Prints the proposal and what is unsure of it. `entries` is it without the params that nothing fits.
Exit printProposal(Job &job, std::string &entries) {
  std::string all;
  for (size_t p = 0; p < job.model.params.size(); ++p) {
    const ParamInfo &param = job.model.params[p];
    all += all.empty() ? "\n  " : ",\n  ";
    if (const std::optional<MapExpr> &value = job.suggested().values[p]) {
      const std::string entry = shownEntry(param.name, *value);
      all += entry;
      entries += (entries.empty() ? "\n  " : ",\n  ") + entry;
      continue;
    }
    io::append_string(all, param.name);
    all += ": null";
  }
  entries = "{" + entries + "\n}\n";
  const Exit exit = sayUnfit(job);
  for (const std::string &doubt : job.suggested().doubts)
    llvm::errs() << "dbc: warning: unsure of " << doubt << "\n";
  llvm::outs() << "{" << all << "\n}\n";
  return exit;
}

/// A line for the NaNs of a param, which dbc::load_weights would refuse; empty without.
std::string nansOf(const ParamInfo &param, const Elements &elements) {
  const float *begin = elements.data(), *end = begin + elements.size();
  auto isNan = [](float x) { return std::isnan(x); };
  const float *first = std::find_if(begin, end, isNan);
  return first == end ? ""
                      : "`" + param.name + "` is not all numbers: NaN are " +
                            std::to_string(std::count_if(first, end, isNan)) + " of " +
                            counted(elements.size(), "element") + ", the first is element " +
                            std::to_string(first - begin);
}

/// Computes each param and writes them all.
Exit writeWeights(const Options &options, Job &job, const Mapping &mapping) {
  std::vector<std::unique_ptr<Elements>> elements(job.model.params.size());
  Exit exit = kFine;
  for (const MapEntry &entry : mapping.entries) {
    const ParamInfo &param = job.model.params[static_cast<size_t>(entry.param)];
    std::unique_ptr<Elements> &value = elements[static_cast<size_t>(entry.param)];
    if (Status status = evaluate(entry.value, param.extents, job.source, value); !status.ok()) {
      printError("`" + param.name + "`: " + status.message);
      exit = kUserError;
    } else if (std::string nans = nansOf(param, *value); !nans.empty()) {
      printError(nans);
      exit = kUserError;
    }
  }
  if (exit)
    return exit;
  std::vector<io::Tensor> tensors;
  size_t mapped = 0;
  for (size_t p = 0; p < elements.size(); ++p) {
    const ParamInfo &param = job.model.params[p];
    mapped += elements[p]->isMapped();
    tensors.push_back(
        {param.name, "F32", param.extents, elements[p]->size() * sizeof(float), elements[p]->data()});
  }
  io::OutputFile file;
  std::string error;
  if (!io::write_tensors(file, options.output, {}, tensors, error) || !file.commit(error)) {
    printError(error);
    return kUserError;
  }
  if (options.model.verbose)
    llvm::errs() << "dbc: " << counted(tensors.size(), "param") << " in " << options.output << ", " << mapped
                 << " of them written as they lie in " << options.from << "\n";
  return kFine;
}

} // namespace

Exit weightsMapCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (Exit exit = unit.lower())
    return exit;
  std::vector<std::string> read = unit.files();
  read.insert(read.end(), {options.from, options.mapping});
  for (const std::string &file : read)
    if (!options.output.empty() && !file.empty() && isSameFile(options.output, file)) {
      printError("-o would replace " + file + ", which is read");
      return kUserError;
    }
  const ModelInfo model = oracle::describe(unit.meaning());
  std::unique_ptr<TensorSource> source;
  if (Status status = openSource(options.from, source); !status.ok())
    return fail(status);
  Job job(model, areOfLibrary(unit.meaning()), options.from, *source);
  Mapping mapping;
  if (options.suggest) {
    std::string entries;
    const Exit whole = printProposal(job, entries);
    if (readAll(job, "the proposal", entries, /*isProposal=*/true, mapping))
      throw std::logic_error("the proposed mapping is not valid");
    return whole || options.output.empty() ? whole : writeWeights(options, job, mapping);
  }
  llvm::Expected<std::string> text = readFile(options.mapping);
  if (!text)
    return fail(text.takeError());
  if (Exit exit = readAll(job, options.mapping, std::move(*text), /*isProposal=*/false, mapping))
    return exit;
  return writeWeights(options, job, mapping);
}

} // namespace dbc::driver
