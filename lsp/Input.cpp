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

/// Why LLVM's transport should not see a message; null if it may. It reads JSON by recursion, and takes what
/// is no message for the end.
static const char *whyNot(llvm::StringRef json) {
  if (isTooDeep(json))
    return "it is nested too deeply";
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) {
    llvm::consumeError(value.takeError());
    return "it is no JSON";
  }
  const llvm::json::Object *object = value->getAsObject();
  if (!object || object->getString("jsonrpc") != llvm::StringRef("2.0"))
    return "it is no JSON-RPC 2.0";
  if (!object->getString("method") && !object->get("id"))
    return "it has neither a method nor an id";
  return nullptr;
}

static llvm::LogicalResult checked(llvm::LogicalResult read, const std::string &json) {
  if (failed(read))
    return read;
  const char *why = whyNot(json);
  if (!why)
    return read;
  llvm::lsp::Logger::error("a message is left out: {0}", why);
  return llvm::failure();
}

llvm::LogicalResult Input::readStandardMessage(std::string &json) {
  return checked(file_.readStandardMessage(json), json);
}

llvm::LogicalResult Input::readDelimitedMessage(std::string &json) {
  return checked(file_.readDelimitedMessage(json), json);
}

} // namespace dbc::lsp
