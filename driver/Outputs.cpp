// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Outputs.h"
#include "driver/surroundings/Surroundings.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include <filesystem>

namespace dbc::driver {

namespace fs = llvm::sys::fs;

/// An absolute path without links, of a file that need not be there. A link that leads nowhere is followed:
/// what it names is what is written.
static std::string resolvedPath(const std::string &file) {
  constexpr int kMostLinks = 40; // as many as Linux follows
  std::error_code error;
  std::filesystem::path path = std::filesystem::absolute(file, error);
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i)
    path = path.parent_path() / std::filesystem::read_symlink(path, error);
  return std::filesystem::weakly_canonical(path, error).string();
}

bool isSameFile(const std::string &a, const std::string &b) {
  // /dev/stdout may be a file, which the shell has opened.
  if (llvm::StringRef(a).starts_with("/dev/") || llvm::StringRef(b).starts_with("/dev/"))
    return false;
  fs::file_status ofA, ofB;
  if (fs::status(a, ofA) || fs::status(b, ofB))
    return resolvedPath(a) == resolvedPath(b);
  return fs::is_regular_file(ofA) && fs::equivalent(ofA, ofB);
}

/// The name of a device is no file that is read, though one may be called so.
static bool isDevice(const NamedFile &input) {
  return input.option == "--device" && fs::exists(surroundings().devices + "/" + input.path + ".json");
}

std::string findOverwritten(const Options &options) {
  for (size_t i = 0; i < options.writes.size(); ++i) {
    const NamedFile &output = options.writes[i];
    const std::string would = "`" + output.option + "` would write over ";
    if (isSameFile(output.path, options.model.file))
      return would + "the model `" + options.model.file + "`";
    for (const NamedFile &input : options.reads)
      if (!isDevice(input) && isSameFile(output.path, input.path))
        return would + "`" + input.path + "`, which `" + input.option + "` reads";
    for (size_t other = 0; other < i; ++other)
      if (isSameFile(output.path, options.writes[other].path))
        return would + "`" + options.writes[other].path + "`, which `" + options.writes[other].option +
               "` writes";
  }
  return "";
}

Exit refuseOverwriting(const Options &options, const std::vector<std::string> &files) {
  for (const NamedFile &output : options.writes)
    for (const std::string &file : files)
      if (isSameFile(output.path, file)) {
        printError("`" + output.option + "` would write over `" + file + "`, which the model is made of");
        return kUsage;
      }
  return kFine;
}

} // namespace dbc::driver
