// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/surroundings/Surroundings.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace dbc::driver {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string joinPath(llvm::StringRef a, llvm::StringRef b) {
  llvm::SmallString<128> joined(a);
  path::append(joined, b);
  path::remove_dots(joined, /*remove_dot_dot=*/true);
  return joined.str().str();
}

static Surroundings find() {
  static int anchor; // an address inside this program, by which the system finds its file
  std::string program = fs::getMainExecutable(nullptr, &anchor);
  std::string prefix = joinPath(path::parent_path(program), "..");
  if (fs::exists(joinPath(prefix, "include/dbc/runtime.h")))
    return {joinPath(prefix, "share/dbc/lib"),
            joinPath(prefix, "include"),
            joinPath(prefix, "lib"),
            joinPath(prefix, "share/dbc/devices"),
            joinPath(prefix, "share/dbc/REFERENCE.md"),
            joinPath(prefix, "share/dbc/templates"),
            joinPath(prefix, "share/dbc/report.html")};
  return {joinPath(DBC_SOURCE_DIR, "dsl/lib"),
          joinPath(DBC_SOURCE_DIR, "runtime/include"),
          DBC_ARCHIVE_DIR,
          joinPath(DBC_SOURCE_DIR, "cost/devices"),
          joinPath(DBC_SOURCE_DIR, "dsl/REFERENCE.md"),
          joinPath(DBC_SOURCE_DIR, "dsl/templates"),
          joinPath(DBC_SOURCE_DIR, "driver/report/report.html")};
}

const Surroundings &surroundings() {
  static const Surroundings found = find();
  return found;
}

} // namespace dbc::driver
