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
/// is no message for the end. `code` is that of the reason.
static const char *whyNot(llvm::StringRef json, llvm::lsp::ErrorCode &code) {
  code = llvm::lsp::ErrorCode::ParseError;
  if (isTooDeep(json))
    return "it is nested too deeply";
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) {
    llvm::consumeError(value.takeError());
    return "it is no JSON";
  }
  code = llvm::lsp::ErrorCode::InvalidRequest;
  const llvm::json::Object *object = value->getAsObject();
  if (!object || object->getString("jsonrpc") != llvm::StringRef("2.0"))
    return "it is no JSON-RPC 2.0";
  if (!object->getString("method") && !object->get("id"))
    return "it has neither a method nor an id";
  return nullptr;
}

llvm::LogicalResult Input::checked(llvm::LogicalResult read, const std::string &json) const {
  if (failed(read))
    return read;
  llvm::lsp::ErrorCode code;
  const char *why = whyNot(json, code);
  if (!why)
    return read;
  refuse_(code, why);
  llvm::lsp::Logger::error("a message is left out: {0}", why);
  return llvm::failure();
}

/// The next line of stdin without its end; false at the end of the stream.
static bool readLine(std::string &line) {
  constexpr size_t most = 1 << 16; // no header is longer
  line.clear();
  int c;
  while ((c = std::getc(stdin)) != EOF && c != '\n')
    if (line.size() < most)
      line += static_cast<char>(c);
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  return c != EOF;
}

// LLVM's reader knows `Content-Length` in these letters alone; names of headers have no case.
llvm::LogicalResult Input::readStandardMessage(std::string &json) {
  constexpr unsigned long long most = 1 << 30;
  unsigned long long size = 0;
  for (std::string line; size == 0 || !line.empty();) {
    if (!readLine(line))
      return llvm::failure();
    const auto [name, value] = llvm::StringRef(line).split(':');
    if (name.trim().equals_insensitive("content-length") && value.trim().getAsInteger(10, size))
      size = 0;
    if (line.empty() && size == 0)
      return llvm::failure();
  }
  if (size > most)
    return llvm::failure();
  json.resize(size);
  if (std::fread(json.data(), 1, size, stdin) != size)
    return llvm::failure();
  return checked(llvm::success(), json);
}

llvm::LogicalResult Input::readDelimitedMessage(std::string &json) {
  return checked(file_.readDelimitedMessage(json), json);
}

} // namespace dbc::lsp
