// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc fmt`: source files laid out (frontend/format).
#include "frontend/format/Format.h"
#include "driver/Commands.h"
#include "driver/Files.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <iostream>

namespace dbc::driver {

static llvm::Expected<std::string> readSource(const std::string &file) {
  if (file != "-")
    return readFile(file);
  auto buffer = llvm::MemoryBuffer::getSTDIN();
  if (!buffer)
    return llvm::createStringError(buffer.getError(), "stdin: " + buffer.getError().message());
  return (*buffer)->getBuffer().str();
}

/// Formats one file, or says what is wrong.
static Exit formatOne(const Options &options, const std::string &file) {
  if (options.formatInPlace && llvm::sys::fs::exists(file) && !llvm::sys::fs::is_regular_file(file)) {
    printError(file + ": cannot be written in place: it is no file");
    return kUserError;
  }
  llvm::Expected<std::string> source = readSource(file);
  if (!source)
    return fail(source.takeError());
  const std::string name = file == "-" ? "stdin" : file;
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diags(sources);
  std::optional<std::string> formatted = frontend::format(sources.add(name, *source), sources, diags);
  diags.print(std::cerr);
  if (!formatted)
    return kUserError;
  if (options.formatCheck) {
    if (*formatted == *source)
      return kFine;
    printError(name + ": is not formatted" +
               (file == "-" ? "" : "\nhint: `dbc fmt -i " + file + "` formats it"));
    return kUserError;
  }
  if (!options.formatInPlace) {
    llvm::outs() << *formatted;
    return kFine;
  }
  if (llvm::Error error = writeFile(file, *formatted))
    return fail(std::move(error));
  return kFine;
}

Exit formatCommand(const Options &options) {
  const bool isStdin = llvm::is_contained(options.files, "-");
  if (options.formatInPlace && (options.files.empty() || isStdin)) {
    printError("`-i` writes files in place: it goes with names of files");
    return kUsage;
  }
  if (options.formatInPlace && options.formatCheck) {
    printError("`--check` writes nothing: it goes without `-i`");
    return kUsage;
  }
  if (options.files.empty())
    return formatOne(options, "-");
  Exit exit = kFine;
  for (const std::string &file : options.files)
    exit = std::max(exit, formatOne(options, file));
  return exit;
}

} // namespace dbc::driver
