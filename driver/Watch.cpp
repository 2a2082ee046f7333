// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Watch.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <thread>

namespace dbc::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// How often files are looked at; what a user does not notice, and no machine either.
static constexpr std::chrono::milliseconds kPause(200);

namespace {

/// Files and when they were last changed, with their sizes: two changes may fall into one tick of a clock.
using Snapshot = std::map<std::string, std::pair<llvm::sys::TimePoint<>, uint64_t>>;

void addFile(llvm::StringRef file, Snapshot &snapshot) {
  llvm::SmallString<128> name(file);
  path::remove_dots(name);
  fs::file_status status;
  if (!fs::status(name, status) && fs::is_regular_file(status))
    snapshot[name.str().str()] = {status.getLastModificationTime(), status.getSize()};
}

Snapshot look(const Options &options) {
  Snapshot snapshot;
  addFile(options.model.file, snapshot);
  addFile(options.input, snapshot);
  addFile(options.weights, snapshot);
  std::vector<std::string> folders = options.model.includes;
  folders.push_back(path::parent_path(options.model.file).str());
  for (const std::string &folder : folders) {
    std::error_code error; // of a folder that is not there the command itself tells
    for (fs::directory_iterator it(folder.empty() ? "." : folder, error), end; it != end && !error;
         it.increment(error))
      if (path::extension(it->path()) == ".dyn")
        addFile(it->path(), snapshot);
  }
  return snapshot;
}

/// A file that two snapshots do not agree about; there is one.
std::string changed(const Snapshot &before, const Snapshot &after) {
  for (const auto &[file, stamp] : after)
    if (auto it = before.find(file); it == before.end() || it->second != stamp)
      return file;
  for (const auto &[file, stamp] : before)
    if (!after.count(file))
      return file;
  llvm_unreachable("the snapshots are the same");
}

} // namespace

void watch(const Options &options, Exit (*command)(const Options &)) {
  for (;;) {
    // Before the command reads them, so that no change is missed.
    Snapshot before = look(options), after = before;
    const Exit exit = command(options);
    llvm::outs().flush();
    llvm::errs() << "dbc: " << options.model.file << (exit == kFine ? ": fine" : ": failed")
                 << ", waiting for a change\n";
    while (after == before) {
      std::this_thread::sleep_for(kPause);
      after = look(options);
    }
    llvm::errs() << "dbc: " << changed(before, after) << " has changed\n";
  }
}

} // namespace dbc::driver
