// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Messages.h"

namespace dbc::lsp {

bool fromJSON(const llvm::json::Value &value, InitializeParams &result, llvm::json::Path path) {
  if (!fromJSON(value, static_cast<protocol::InitializeParams &>(result), path))
    return false;
  const llvm::json::Object *at = value.getAsObject();
  for (const char *key : {"capabilities", "workspace", "didChangeWatchedFiles"})
    at = at ? at->getObject(key) : nullptr;
  result.watchesFiles = at && at->getBoolean("dynamicRegistration").value_or(false);
  return true;
}

bool fromJSON(const llvm::json::Value &value, RenameParams &result, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return fromJSON(value, static_cast<protocol::TextDocumentPositionParams &>(result), path) && object &&
         object.map("newName", result.newName);
}

bool fromJSON(const llvm::json::Value &value, FormattingParams &result, llvm::json::Path path) {
  llvm::json::ObjectMapper object(value, path);
  return object && object.map("textDocument", result.textDocument);
}

llvm::json::Value toJSON(const CodedDiagnostic &diagnostic) {
  llvm::json::Value value = protocol::toJSON(diagnostic.diagnostic);
  if (!diagnostic.code.empty())
    (*value.getAsObject())["code"] = diagnostic.code;
  return value;
}

llvm::json::Value toJSON(const DiagnosticsParams &params) {
  return llvm::json::Object{
      {"uri", params.uri}, {"version", params.version}, {"diagnostics", params.diagnostics}};
}

} // namespace dbc::lsp
