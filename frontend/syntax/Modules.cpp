// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Modules.h"

#include "frontend/syntax/Parse.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace dbc::frontend {

namespace fs = std::filesystem;

namespace {

/// Reads a whole file, or as much as shows that it is too long; false with `problem` set if that does not
/// work.
bool readFile(const std::string &path, std::string &text, std::string &problem) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    problem = "it is a directory";
    return false;
  }
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  text.resize(kMaxFileBytes + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) {
    problem = errno ? std::strerror(errno) : "reading failed";
    return false;
  }
  text.resize(static_cast<size_t>(in.gcount()));
  text.shrink_to_fit();
  return true;
}

/// The same for an import: a pipe or a device can be without an end, and is read once, not for each change of
/// a text.
bool readRegularFile(const std::string &path, std::string &text, std::string &problem) {
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) {
    problem = "it is no regular file";
    return false;
  }
  return readFile(path, text, problem);
}

/// One name for a file however it was reached.
std::string identity(const std::string &path) {
  std::error_code problem;
  fs::path canonical = fs::weakly_canonical(path, problem);
  return problem ? path : canonical.string();
}

std::string spelled(const Import &import) {
  std::string name;
  for (const Ident &ident : import.path)
    name += (name.empty() ? "" : ".") + ident.text;
  return name;
}

class Loader {
public:
  Loader(const LoadOptions &options, SourceManager &sources, DiagnosticEngine &diags)
      : options_(options), sources_(sources), diags_(diags) {}

  std::unique_ptr<Program> load(const std::string &path, std::string text) {
    size_t errorsBefore = diags_.errorCount();
    open_.push_back({identity(path), "", {}});
    add(path, std::move(text));
    return diags_.errorCount() == errorsBefore ? std::move(program_) : nullptr;
  }

private:
  /// A file on the way from the main file to the one that is read now.
  struct Open {
    std::string identity;
    std::string name;       // of the model or module
    SourceRange importedAt; // invalid for the main file
  };

  File *add(const std::string &path, std::string text);
  void resolve(File &file, const std::string &path, Import &import);
  std::string find(const std::string &importer, const Import &import);
  void reportMissing(const std::string &importer, const Import &import);
  void reportCycle(size_t first, const Import &closing);
  void checkModule(const File &file);
  std::vector<std::string> searchPath(const std::string &importer) const;
  std::optional<std::string> heldText(const std::string &path) const {
    return options_.buffer ? options_.buffer(path) : std::nullopt;
  }

  const LoadOptions &options_;
  SourceManager &sources_;
  DiagnosticEngine &diags_;
  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::map<std::string, File *> done_; // by identity; null if the file has errors
  std::vector<Open> open_;
};

/// Parses a file and what it imports. Null if it has syntax errors.
File *Loader::add(const std::string &path, std::string text) {
  uint32_t id = sources_.add(path, std::move(text));
  std::unique_ptr<File> file = parseFile(id, diags_);
  if (!file)
    return nullptr;
  open_.back().name = file->name.text;
  if (file->isModule)
    checkModule(*file);

  std::map<std::string, const Import *> names;
  for (Import &import : file->imports) {
    auto [first, isNew] = names.emplace(import.name().text, &import);
    if (!isNew) {
      diags_
          .error(import.range,
                 "a second import is called `" + import.name().text + "`; names of imports are different",
                 "N2")
          .note(first->second->range, "this is the first one");
      continue;
    }
    resolve(*file, path, import);
  }
  File *result = file.get();
  program_->files.push_back(std::move(file));
  program_->paths.push_back(path);
  return result;
}

void Loader::resolve(File &file, const std::string &path, Import &import) {
  std::string found = find(path, import);
  if (found.empty())
    return reportMissing(path, import);
  std::string key = identity(found);
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i].identity == key)
      return reportCycle(i, import);

  auto known = done_.find(key);
  if (known == done_.end()) {
    std::string text, problem;
    if (std::optional<std::string> held = heldText(found)) {
      text = std::move(*held);
    } else if (!readRegularFile(found, text, problem)) {
      diags_.error(import.range, "`" + found + "` cannot be read: " + problem, "N2");
      return;
    }
    open_.push_back({key, import.name().text, import.range});
    File *imported = add(found, std::move(text));
    open_.pop_back();
    known = done_.emplace(key, imported).first;
  }
  import.file = known->second;
  if (import.file && !import.file->isModule)
    diags_.error(import.range, "`" + spelled(import) + "` is a model; only modules are imported", "N2")
        .note(import.file->name.range, "it says so here");
}

std::vector<std::string> Loader::searchPath(const std::string &importer) const {
  std::vector<std::string> result = {fs::path(importer).parent_path().string()};
  result.insert(result.end(), options_.includeDirs.begin(), options_.includeDirs.end());
  if (!options_.libraryDir.empty())
    result.push_back(options_.libraryDir);
  return result;
}

/// The first file that matches the import, or "".
std::string Loader::find(const std::string &importer, const Import &import) {
  fs::path relative;
  for (const Ident &ident : import.path)
    relative /= ident.text;
  relative += ".dyn";
  for (const std::string &directory : searchPath(importer)) {
    fs::path candidate = fs::path(directory) / relative;
    std::error_code ignored;
    if (heldText(candidate.string()) ||
        (fs::exists(candidate, ignored) && !fs::is_directory(candidate, ignored)))
      return candidate.string();
  }
  return "";
}

void Loader::reportMissing(const std::string &importer, const Import &import) {
  fs::path below;
  std::string spelledFile;
  for (size_t i = 0; i < import.path.size(); ++i) {
    spelledFile += (i ? "/" : "") + import.path[i].text;
    if (i + 1 < import.path.size())
      below /= import.path[i].text;
  }
  std::string looked;
  std::vector<std::string> others;
  for (const std::string &directory : searchPath(importer)) {
    looked += (looked.empty() ? "" : ", ") + ("`" + (directory.empty() ? "." : directory) + "`");
    std::error_code problem;
    fs::path folder = fs::path(directory.empty() ? "." : directory) / below;
    for (fs::directory_iterator it(folder, problem), end; !problem && it != end; it.increment(problem))
      if (it->path().extension() == ".dyn")
        others.push_back(it->path().stem().string());
  }
  Diagnostic &d = diags_.error(import.range,
                               "there is no module `" + spelled(import) + "`; it would be `" + spelledFile +
                                   ".dyn` in one of " + looked,
                               "N2");
  std::sort(others.begin(), others.end()); // a directory's order is nobody's
  std::string near = didYouMean(import.name().text, others);
  static const std::set<std::string> python = {"torch", "tensorflow", "jax", "keras", "numpy"};
  if (near.empty() && python.count(import.path.front().text))
    d.hint("modules are files of this language, not of Python; `import nn;` has layers as `nn.Linear`");
  else
    d.hint(near.empty() ? "name the directory with `-I`" : near);
}

/// The file number `first` among the open ones is imported again.
void Loader::reportCycle(size_t first, const Import &closing) {
  std::string chain;
  for (size_t i = first; i < open_.size(); ++i)
    chain += "`" + open_[i].name + "` -> ";
  chain += "`" + open_[first].name + "`";
  Diagnostic &d =
      diags_.error(closing.range,
                   "`" + open_[first].name + "` imports itself: " + chain + "; imports form no cycles", "N2");
  for (size_t i = first + 1; i < open_.size(); ++i)
    d.note(open_[i].importedAt, "`" + open_[i].name + "` is imported here");
}

/// N2, as far as it can be seen without types.
void Loader::checkModule(const File &file) {
  for (const DeclPtr &d : file.decls) {
    std::string what;
    if (d->as<DimDecl>())
      what = "dim";
    else if (d->as<ParamDecl>())
      what = "param";
    else if (auto *c = d->as<ConstDecl>(); c && c->annotation)
      what = "tensor const";
    else if (auto *f = d->as<FuncDecl>(); f && f->funcKind == FuncDecl::FuncKind::Entry)
      what = "entry";
    else if (f && f->funcKind == FuncDecl::FuncKind::Loss)
      what = "loss";
    else
      continue;
    Diagnostic &e = diags_.error(d->name.range,
                                 "the " + what + " `" + d->name.text + "` stands in the module `" +
                                     file.name.text + "`; a module has none at its top",
                                 "N2");
    if (what == "dim")
      e.hint("make it a dim of the layers that use it: `layer L[" + d->name.text + "] { .. }`");
    else if (what == "param" || what == "tensor const")
      e.hint("put it into a layer");
    else
      e.hint("put it into the model");
  }
}

} // namespace

std::unique_ptr<Program> loadProgramText(const std::string &path, std::string text,
                                         const LoadOptions &options, SourceManager &sources,
                                         DiagnosticEngine &diags) {
  return Loader(options, sources, diags).load(path, std::move(text));
}

std::unique_ptr<Program> loadProgram(const std::string &path, const LoadOptions &options,
                                     SourceManager &sources, DiagnosticEngine &diags) {
  std::string text, problem;
  if (!readFile(path, text, problem)) {
    diags.error({}, "`" + path + "` cannot be read: " + problem);
    return nullptr;
  }
  return loadProgramText(path, std::move(text), options, sources, diags);
}

} // namespace dbc::frontend
