// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// One text, checked together with what it imports.
#pragma once

#include "lsp/Index.h"
#include "lsp/Positions.h"
#include "llvm/Support/FileSystem.h"
#include <map>
#include <memory>

namespace dbc::lsp {

/// What the front end says of a text. Not thread-safe.
class Analysis {
public:
  /// Reads, checks and indexes the text of the file at `path`, which is absolute. If the front end throws,
  /// that is a diagnostic, and the text does not parse.
  Analysis(const std::string &path, std::string text, const frontend::LoadOptions &options);
  Analysis(const Analysis &) = delete;
  ~Analysis();

  /// Whether it and all that it imports have no syntax error. If not, only text() and diagnostics() say
  /// anything.
  bool parses() const { return index_ != nullptr; }
  const std::string &text() const { return sources_.file(0).text(); }
  const frontend::SourceManager &sources() const { return sources_; }
  const frontend::DiagnosticEngine &diagnostics() const { return diagnostics_; }
  /// Whether a file was read for it, by the name that canonicalPath() gives.
  bool reads(const std::string &path) const;
  /// Whether the disk has what was read for it: the same files where imports were looked for, not changed
  /// since. Of texts that `options.buffer` gave it says nothing.
  bool isAsOnDisk() const;
  /// The paths of files by their ids.
  const std::string &path(uint32_t file) const { return sources_.file(file).path(); }
  const Positions &positions(uint32_t file) const;
  /// Where the import stands by which the text reaches a file; the file's own name, or its begin, if none.
  frontend::SourceRange importOf(uint32_t file) const;

  // If it parses:
  const frontend::Program &program() const { return *program_; }
  const Index &index() const { return *index_; }
  frontend::TypeContext &types() const { return checked_->types; }

private:
  frontend::SourceManager sources_;
  frontend::DiagnosticEngine diagnostics_{sources_};
  std::map<std::string, llvm::sys::fs::file_status> looked_; ///< by path, as it was before anything was read
  std::unique_ptr<frontend::Program> program_;
  std::unique_ptr<frontend::CheckedProgram> checked_;
  std::unique_ptr<Index> index_;
  mutable std::map<uint32_t, Positions> positions_;
};

/// The one name of a file, however it is written.
std::string canonicalPath(const std::string &path);

} // namespace dbc::lsp
