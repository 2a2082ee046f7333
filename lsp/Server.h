// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#pragma once

#include "lsp/Documents.h"
#include "lsp/Messages.h"
#include "llvm/Support/LSP/Transport.h"
#include <functional>

namespace dbc::lsp {

/// Answers an editor's messages, one after the other, until it says `exit` or its stream ends.
class Server {
public:
  /// Writes to `out`. `documents` must outlive it.
  Server(Documents &documents, llvm::raw_ostream &out, std::string version);

  /// Reads from stdin. The program's exit code, as the protocol says: 0 behind `shutdown` and `exit`, else 1.
  int run();

private:
  template <typename T> using Callback = protocol::Callback<T>;

  void onInitialize(const InitializeParams &params, Callback<llvm::json::Value> reply);
  void onInitialized(const protocol::NoParams &params);
  void onShutdown(const protocol::NoParams &params, Callback<std::nullptr_t> reply);
  void onDidOpen(const protocol::DidOpenTextDocumentParams &params);
  void onDidChange(const protocol::DidChangeTextDocumentParams &params);
  void onDidClose(const protocol::DidCloseTextDocumentParams &params);
  void onFilesChanged(const protocol::NoParams &params);
  void onHover(const protocol::TextDocumentPositionParams &params,
               Callback<std::optional<protocol::Hover>> reply);
  void onDefinition(const protocol::TextDocumentPositionParams &params,
                    Callback<std::vector<protocol::Location>> reply);
  void onReferences(const protocol::ReferenceParams &params, Callback<std::vector<protocol::Location>> reply);
  void onPrepareRename(const protocol::TextDocumentPositionParams &params, Callback<protocol::Range> reply);
  void onRename(const RenameParams &params, Callback<protocol::WorkspaceEdit> reply);
  void onCompletion(const protocol::CompletionParams &params, Callback<protocol::CompletionList> reply);
  void onSymbols(const protocol::DocumentSymbolParams &params,
                 Callback<std::vector<protocol::DocumentSymbol>> reply);
  void onFormatting(const FormattingParams &params,
                    Callback<std::optional<std::vector<protocol::TextEdit>>> reply);

  /// Replies what `f` gives, or an error where nothing may be asked now or `f` throws.
  template <typename T> void answer(Callback<T> reply, llvm::function_ref<llvm::Expected<T>()> f);
  /// Replies what `f` says of an open document that parses or did once, and of others what `otherwise` says.
  template <typename T>
  void answerOf(const protocol::TextDocumentIdentifier &document, Callback<T> reply,
                llvm::function_ref<llvm::Expected<T>(const Document &)> otherwise,
                llvm::function_ref<llvm::Expected<T>(const View &)> f);
  /// The document of that name, with what it imports as the disk has it now; an error if it is not open.
  llvm::Expected<const Document *> openDocument(const protocol::TextDocumentIdentifier &document);
  /// Does what a notification asks for, if notifications are heard now; says on stderr what `f` throws.
  void hear(llvm::function_ref<void()> f);
  void publish(const Document &document);
  void analyseAgain(const std::vector<Document *> &documents);

  Documents &documents_;
  std::string version_;
  protocol::JSONTransport transport_;
  protocol::MessageHandler messages_;
  protocol::OutgoingNotification<DiagnosticsParams> publish_;
  protocol::OutgoingRequest<llvm::json::Value> register_;
  bool watchesFiles_ = false; ///< the client can be asked to
  enum class State { Fresh, Running, ShutDown } state_ = State::Fresh;
};

} // namespace dbc::lsp
