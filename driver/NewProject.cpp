// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// `dbc new`: a folder with a model, a program that uses it, and lines to train on (dsl/templates).
#include "codegen/common/Identifiers.h"
#include "driver/Commands.h"
#include "driver/Files.h"
#include "driver/surroundings/Surroundings.h"
#include "frontend/syntax/Parse.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

/// What the templates call the model.
static constexpr llvm::StringLiteral kPlaceholder = "my_model";

/// Whether a model may be called so.
static bool isModelName(const std::string &name) {
  frontend::SourceManager sources;
  frontend::DiagnosticEngine diags(sources);
  std::unique_ptr<frontend::File> file =
      frontend::parseFile(sources.add(name, "model " + name + ";\n"), diags);
  return file && file->name.text == name;
}

static std::string replaced(llvm::StringRef text, llvm::StringRef what, llvm::StringRef by) {
  std::string out;
  for (size_t at; (at = text.find(what)) != llvm::StringRef::npos; text = text.drop_front(at + what.size()))
    out += (text.take_front(at) + by).str();
  return out + text.str();
}

Exit newCommand(const Options &options) {
  const std::string &name = options.project;
  if (!isModelName(name)) {
    printError("`" + name +
               "` cannot be the name of a model: it takes letters, digits and `_`, no digit first, and no "
               "word of the language");
    return kUserError;
  }
  if (llvm::sys::fs::exists(name)) {
    printError(name + ": is there already");
    return kUserError;
  }
  const std::string templates = surroundings().templates + "/",
                    ofKind = templates + options.projectKind + "/";
  const std::pair<std::string, std::string> files[] = {{ofKind + kPlaceholder.str() + ".dyn", name + ".dyn"},
                                                       {ofKind + "main.cpp", "main.cpp"},
                                                       {templates + "CMakeLists.txt", "CMakeLists.txt"},
                                                       {ofKind + "train.jsonl", "train.jsonl"},
                                                       {ofKind + "dev.jsonl", "dev.jsonl"}};
  if (llvm::Error error = makeFolder(name))
    return fail(std::move(error));
  for (const auto &[from, to] : files) {
    llvm::Expected<std::string> text = readFile(from);
    if (!text)
      return fail(text.takeError());
    // In C++ a model that is called like a word of that language has another name.
    std::string inCode =
        replaced(*text, ("models::" + kPlaceholder).str(), "models::" + codegen::identifier(name));
    if (llvm::Error error = writeFile(name + "/" + to, replaced(inCode, kPlaceholder, name)))
      return fail(std::move(error));
  }
  llvm::outs() << name << ": a model, " << name << ".dyn, and a program that computes it, main.cpp\n"
               << "  cd " << name << "\n"
               << "  dbc verify " << name << ".dyn\n"
               << "  dbc train " << name
               << ".dyn --train train.jsonl --dev dev.jsonl --optimizer adam --epochs 10 --out trained\n"
               << "  cmake -S . -B build && cmake --build build\n"
               << "  build/predict trained/best.safetensors\n";
  if (llvm::Error error = flushStdout())
    return fail(std::move(error));
  return kFine;
}

} // namespace dbc::driver
