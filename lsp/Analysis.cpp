// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Analysis.h"

#include "frontend/syntax/Parse.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <filesystem>

namespace dbc::lsp {

using namespace frontend;
namespace fs = llvm::sys::fs;

std::string canonicalPath(const std::string &path) {
  std::error_code problem;
  std::filesystem::path canonical = std::filesystem::weakly_canonical(path, problem);
  return problem ? path : canonical.string();
}

static fs::file_status statusOf(const std::string &path) {
  fs::file_status result;
  fs::status(path, result); // what is not there has a status too
  return result;
}

static bool isSame(const fs::file_status &a, const fs::file_status &b) {
  if (a.type() != b.type())
    return false;
  return a.type() != fs::file_type::regular_file ||
         (a.getUniqueID() == b.getUniqueID() && a.getSize() == b.getSize() &&
          a.getLastModificationTime() == b.getLastModificationTime());
}

Analysis::Analysis(const std::string &path, std::string text, const LoadOptions &options) {
  LoadOptions noting = options;
  noting.buffer = [&](const std::string &path) -> std::optional<std::string> {
    std::optional<std::string> held = options.buffer ? options.buffer(path) : std::nullopt;
    if (!held && looked_.count(path) == 0)
      looked_.emplace(path, statusOf(path));
    return held;
  };
  try {
    program_ = loadProgramText(path, std::move(text), noting, sources_, diagnostics_);
    if (!program_)
      return;
    checked_ = check(*program_, diagnostics_);
    index_ = std::make_unique<Index>(*program_);
  } catch (const std::exception &bug) {
    if (sources_.size() == 0)
      sources_.add(path, ""); // what is said needs a text to stand in
    diagnostics_.error({0, 0, 0},
                       std::string("the front end failed: ") + bug.what() + "; this is a bug of dbc");
  }
}

Analysis::~Analysis() = default;

bool Analysis::reads(const std::string &path) const {
  for (uint32_t file = 0; file < sources_.size(); ++file)
    if (canonicalPath(sources_.file(file).path()) == path)
      return true;
  return false;
}

bool Analysis::isAsOnDisk() const {
  return std::all_of(looked_.begin(), looked_.end(),
                     [](const auto &looked) { return isSame(looked.second, statusOf(looked.first)); });
}

const Positions &Analysis::positions(uint32_t file) const {
  auto found = positions_.find(file);
  if (found == positions_.end())
    found = positions_.emplace(file, Positions(sources_.file(file).text())).first;
  return found->second;
}

SourceRange Analysis::importOf(uint32_t file) const {
  // An import with errors leaves no program; the text itself may have none.
  DiagnosticEngine ignored(sources_);
  std::unique_ptr<File> own = parseFile(0, ignored);
  if (!own)
    return {0, 0, 0};
  for (const Import &import : own->imports)
    if (import.name().text == llvm::sys::path::stem(path(file)))
      return import.range;
  return own->imports.empty() ? own->name.range : own->imports.front().range;
}

} // namespace dbc::lsp
