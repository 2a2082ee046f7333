// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Input.h"

namespace dbc::lsp {

static bool isTooDeep(llvm::StringRef json) {
  constexpr unsigned most = 1000;
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (inString) {
      i += c == '\\';
      inString = c != '"';
    } else if (c == '"') {
      inString = true;
    } else if (c == '[' || c == '{') {
      if (++depth > most)
        return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

static llvm::LogicalResult checked(llvm::LogicalResult read, const std::string &json) {
  if (failed(read) || !isTooDeep(json))
    return read;
  llvm::lsp::Logger::error("a message is nested too deeply, and is left out");
  return llvm::failure();
}

llvm::LogicalResult Input::readStandardMessage(std::string &json) {
  return checked(file_.readStandardMessage(json), json);
}

llvm::LogicalResult Input::readDelimitedMessage(std::string &json) {
  return checked(file_.readDelimitedMessage(json), json);
}

} // namespace dbc::lsp
