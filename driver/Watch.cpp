// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Watch.h"
#include "driver/surroundings/Surroundings.h"
#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Modules.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <optional>
#include <thread>

namespace dbc::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// How often files are looked at; what a user does not notice, and no machine either.
static constexpr std::chrono::milliseconds kPause(200);

namespace {

/// Files and when they were last changed, with their sizes: two changes may fall into one tick of a clock.
/// None of a file that is not there.
using Stamp = std::optional<std::pair<llvm::sys::TimePoint<>, uint64_t>>;
using Snapshot = std::map<std::string, Stamp>;

/// What the command reads, and where it looks for imports in vain.
std::vector<std::string> filesOf(const Options &options) {
  std::vector<std::string> files{options.model.file};
  for (const NamedFile &file : options.reads)
    files.push_back(file.path);
  frontend::LoadOptions load;
  load.includeDirs = options.model.includes;
  load.libraryDir = surroundings().library;
  load.buffer = [&](const std::string &path) {
    files.push_back(path);
    return std::optional<std::string>();
  };
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diagnostics{sources}; // the command itself tells what is wrong
  (void)frontend::loadProgram(options.model.file, load, sources, diagnostics);
  return files;
}

Snapshot look(const std::vector<std::string> &files) {
  Snapshot snapshot;
  for (const std::string &file : files) {
    llvm::SmallString<128> name(file);
    path::remove_dots(name);
    fs::file_status status;
    Stamp &stamp = snapshot[name.str().str()];
    if (!fs::status(name, status) && fs::is_regular_file(status))
      stamp = {status.getLastModificationTime(), status.getSize()};
  }
  return snapshot;
}

/// The file of which two snapshots of the same files say something else; there is one.
std::string changed(const Snapshot &before, const Snapshot &after) {
  for (const auto &[file, stamp] : after)
    if (before.at(file) != stamp)
      return file;
  llvm_unreachable("the snapshots are the same");
}

} // namespace

void watch(const Options &options, Exit (*command)(const Options &)) {
  for (;;) {
    // Before the command reads them, so that no change is missed.
    const std::vector<std::string> files = filesOf(options);
    const Snapshot before = look(files);
    const Exit exit = command(options);
    llvm::outs().flush();
    llvm::errs() << "dbc: " << options.model.file << (exit == kFine ? ": fine" : ": failed")
                 << ", waiting for a change\n";
    Snapshot after = before;
    for (; after == before; after = look(files))
      std::this_thread::sleep_for(kPause);
    llvm::errs() << "dbc: " << changed(before, after) << " has changed\n";
  }
}

} // namespace dbc::driver
