// A model together with everything it imports.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_MODULES_H
#define DBC_FRONTEND_MODULES_H

#include "frontend/syntax/Ast.h"
#include "frontend/syntax/Diagnostics.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dbc::frontend {

/// Where `import a.b;` is looked for: as a/b.dyn beside the importing file, then in each of includeDirs (-I)
/// in order, then in libraryDir.
struct LoadOptions {
  std::vector<std::string> includeDirs;
  std::string libraryDir; ///< empty for none
  /// Texts that an editor holds, by the paths where they are looked for: these come before those on disk.
  std::function<std::optional<std::string>(const std::string &path)> buffer;
};

struct Program {
  /// Every file once, imported ones before those that import them; the file that was asked for is the last
  /// one.
  std::vector<std::unique_ptr<File>> files;
  /// Paths of all files that were read, as they would be opened again (for .d files), in the order of
  /// `files`.
  std::vector<std::string> paths;
  File &main() const { return *files.back(); }
};

/// Reads, parses and links (Import::file) the file at `path` and all that it imports, and checks what N2 says
/// about modules. Texts are added to `sources`, which must be the one that `diags` was made with. Returns
/// null if it reported an error. Throws nothing.
std::unique_ptr<Program> loadProgram(const std::string &path, const LoadOptions &options,
                                     SourceManager &sources, DiagnosticEngine &diags);

/// The same for a text that is at hand. `path` is what diagnostics print; imports are looked for beside it.
std::unique_ptr<Program> loadProgramText(const std::string &path, std::string text,
                                         const LoadOptions &options, SourceManager &sources,
                                         DiagnosticEngine &diags);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_MODULES_H
