// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc compile` and `dbc check`.

#include "driver/Commands.h"
#include "driver/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>

namespace dbc::driver {

Exit checkCommand(const Options &options) {
  ModelUnit unit(options.model);
  return unit.checkWithDims();
}

/// The text of a module; with `names` values are called as in the source where it gives them a name.
static std::string print(mlir::ModuleOp module, bool names = false) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.useLocalScope();
  flags.printNameLocAsPrefix(names);
  module.print(out, flags);
  out << "\n";
  return text;
}

/// A path in a rule for make: what has a meaning there is escaped.
static std::string escape(llvm::StringRef path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#')
      out += '\\';
    out += c == '$' ? "$$" : std::string(1, c);
  }
  return out;
}

/// The rule for make: what was made depends on all files that were read.
static std::string depfile(const std::string &target, const std::vector<std::string> &files) {
  std::string text = escape(target) + ":";
  for (const std::string &file : files)
    text += " \\\n  " + escape(file);
  return text + "\n";
}

/// Whether a file is there that dbc has not written: it has none of the words that stand in front of what dbc
/// writes. An empty one is nobody's.
static bool isOfOthers(const std::string &file) {
  constexpr size_t kHead = 3 * PATH_MAX; // a rule for make begins with a path, in which each letter may be two
  if (!llvm::sys::fs::is_regular_file(file))
    return false;
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> found =
      llvm::MemoryBuffer::getFileSlice(file, kHead, /*Offset=*/0);
  if (!found || (*found)->getBufferSize() == 0)
    return false;
  llvm::StringRef head = (*found)->getBuffer();
  return !head.contains("compiled by dbc from") && !head.contains("\"dbc_manifest\"") &&
         !head.contains(".stamp:");
}

static Exit write(const std::string &base, const GeneratedCode &code, const std::vector<std::string> &files,
                  bool cInterface) {
  std::vector<std::pair<const char *, std::string>> outputs = {{".h", code.header},
                                                               {".cpp", code.source},
                                                               {".json", code.manifest},
                                                               {".d", depfile(base + ".stamp", files)}};
  if (cInterface)
    outputs.push_back({"_c.h", code.cHeader});
  if (!code.kernels.empty())
    outputs.insert(outputs.end(), {{".cuh", code.deviceHeader}, {".cu", code.kernels}});
  for (const auto &output : outputs)
    if (const std::string file = base + output.first; isOfOthers(file)) {
      printError("`" + file + "` is there and was not written by dbc; -o DIR writes elsewhere");
      return kUserError;
    }
  for (const auto &[ending, text] : outputs)
    if (llvm::Error error = writeFile(base + ending, text))
      return fail(std::move(error));
  return kFine;
}

/// Writes what the passes leave at each level.
static Exit saveTemps(ModelUnit &unit, const std::string &base, bool device) {
  for (const char *level : {"dyn", "batch", "kernel"}) {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    if (Exit exit = unit.transform(level, module, {}, device))
      return exit;
    if (llvm::Error error = writeFile(base + "." + level + ".mlir", print(*module)))
      return fail(std::move(error));
  }
  return kFine;
}

/// Prints the model at a level; "dyn" is what it means, before any pass.
static Exit emit(const Options &options, ModelUnit &unit) {
  if (options.emit == "dyn") {
    if (Exit exit = unit.lower())
      return exit;
    llvm::outs() << print(unit.meaning(), /*names=*/true);
    return kFine;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (Exit exit = unit.transform(options.emit, module, options.printAfter, options.model.device))
    return exit;
  llvm::outs() << print(*module);
  return kFine;
}

/// Goes on to a shared object in the cache, as `dbc run` does, and prints where it is. It is loaded once, so
/// that one which is damaged is made anew.
static Exit compileShared(const ModelOptions &options, const GeneratedCode &code) {
  const ModelCode *loaded = nullptr;
  std::string file;
  if (Exit exit = loadShared(code, options.target == "cuda-on-cpu", options.verbose, loaded, &file))
    return exit;
  llvm::outs() << file << "\n";
  return kFine;
}

Exit compileCommand(const Options &options) {
  ModelUnit unit(options.model);
  if (!options.emit.empty())
    return emit(options, unit);
  std::string folder = options.output.empty() ? "." : options.output;
  GeneratedCode code;
  if (Exit exit = unit.generate(code, options.printAfter))
    return exit;
  if (options.shared)
    return compileShared(options.model, code);
  if (llvm::Error error = makeFolder(folder))
    return fail(std::move(error));
  std::string base = folder + "/" + code.model;
  if (options.saveTemps)
    if (Exit exit = saveTemps(unit, base, options.model.device))
      return exit;
  return write(base, code, unit.files(), options.cInterface);
}

} // namespace dbc::driver
