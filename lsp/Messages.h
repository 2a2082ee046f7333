// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Messages of the protocol that LLVM's library has no types for.
#pragma once

#include "llvm/Support/LSP/Protocol.h"
#include <string>
#include <vector>

namespace dbc::lsp {

namespace protocol = llvm::lsp;

/// Of initialize.
struct InitializeParams : protocol::InitializeParams {
  bool watchesFiles = false; ///< the client can be asked to watch files
};
bool fromJSON(const llvm::json::Value &value, InitializeParams &result, llvm::json::Path path);

/// Of textDocument/rename.
struct RenameParams : protocol::TextDocumentPositionParams {
  std::string newName;
};
bool fromJSON(const llvm::json::Value &value, RenameParams &result, llvm::json::Path path);

/// Of textDocument/formatting; its options are left alone, since the layout has none.
struct FormattingParams {
  protocol::TextDocumentIdentifier textDocument;
};
bool fromJSON(const llvm::json::Value &value, FormattingParams &result, llvm::json::Path path);

/// A diagnostic with the rule that it cites (`N1`), if any.
struct CodedDiagnostic {
  protocol::Diagnostic diagnostic;
  std::string code;
};
llvm::json::Value toJSON(const CodedDiagnostic &diagnostic);

/// Of textDocument/publishDiagnostics.
struct DiagnosticsParams {
  protocol::URIForFile uri;
  int64_t version = 0;
  std::vector<CodedDiagnostic> diagnostics;
};
llvm::json::Value toJSON(const DiagnosticsParams &params);

} // namespace dbc::lsp
