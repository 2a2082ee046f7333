// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc-lsp`: a language server for .dyn files, which editors start and speak to over stdin and stdout.
#include "driver/surroundings/Surroundings.h"
#include "lsp/Server.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

static const char kHelp[] = R"(dbc-lsp: a language server for .dyn files, over stdin and stdout

Editors start it (docs/editors.md says how): diagnostics as you type, hover, definition, references, rename,
completion, symbols, formatting.

Usage: dbc-lsp [-I DIR].. [--stdio]

  -I DIR      where `import` looks for modules, beside the file's own folder and dbc's library
  --stdio     over stdin and stdout, which some editors say; there is no other way
  --help      this text
  --version   the version of dbc
)";

/// What the program was told to do; words about what it does not understand go to stderr.
struct Arguments {
  std::vector<std::string> includes;
  bool help = false, version = false, wrong = false;
};

static Arguments parse(int count, char **words) {
  Arguments result;
  for (int i = 1; i < count; ++i) {
    const llvm::StringRef word = words[i];
    if (word == "--help" || word == "-h") {
      result.help = true;
    } else if (word == "--version") {
      result.version = true;
    } else if (word == "-I" && i + 1 < count) {
      result.includes.push_back(words[++i]);
    } else if (word.starts_with("-I") && word.size() > 2) {
      result.includes.push_back(word.drop_front(2).str());
    } else if (word != "--stdio") {
      llvm::errs() << "dbc-lsp: error: "
                   << (word == "-I" ? "`-I` needs a folder" : "`" + word.str() + "` is no option")
                   << "\nhint: `dbc-lsp --help` shows what there is\n";
      result.wrong = true;
    }
  }
  return result;
}

int main(int argc, char **argv) {
  Arguments arguments = parse(argc, argv);
  if (arguments.wrong)
    return 2;
  if (arguments.help || arguments.version) {
    llvm::outs() << (arguments.help ? kHelp : "dbc-lsp " DBC_VERSION "\n");
    return 0;
  }
  dbc::lsp::Documents documents(arguments.includes, dbc::driver::surroundings().library);
  return dbc::lsp::Server(documents, llvm::outs(), DBC_VERSION).run();
}
