// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Server.h"

#include "lsp/Diagnostics.h"
#include "lsp/Input.h"
#include "lsp/Requests.h"
#include <utility>

namespace dbc::lsp {

using llvm::Expected;
using llvm::json::Value;
using protocol::ErrorCode;
using protocol::LSPError;

Server::Server(Documents &documents, llvm::raw_ostream &out, std::string version)
    : documents_(documents), version_(std::move(version)),
      transport_(std::make_unique<Input>([this](ErrorCode code, const char *why) {
                   transport_.reply(nullptr, llvm::make_error<LSPError>(why, code)); // whose id nobody knows
                 }),
                 out),
      messages_(transport_),
      publish_(messages_.outgoingNotification<DiagnosticsParams>("textDocument/publishDiagnostics")),
      register_(messages_.outgoingRequest<Value, std::nullptr_t>(
          "client/registerCapability", [](Value, Expected<std::nullptr_t> reply) {
            if (!reply)
              protocol::Logger::error("files are not watched: {0}", llvm::toString(reply.takeError()));
          })) {
  messages_.method("initialize", this, &Server::onInitialize);
  messages_.notification("initialized", this, &Server::onInitialized);
  messages_.method("shutdown", this, &Server::onShutdown);
  messages_.notification("textDocument/didOpen", this, &Server::onDidOpen);
  messages_.notification("textDocument/didChange", this, &Server::onDidChange);
  messages_.notification("textDocument/didClose", this, &Server::onDidClose);
  messages_.notification("textDocument/didSave", this, &Server::onFilesChanged);
  messages_.notification("workspace/didChangeWatchedFiles", this, &Server::onFilesChanged);
  messages_.method("textDocument/hover", this, &Server::onHover);
  messages_.method("textDocument/definition", this, &Server::onDefinition);
  messages_.method("textDocument/references", this, &Server::onReferences);
  messages_.method("textDocument/prepareRename", this, &Server::onPrepareRename);
  messages_.method("textDocument/rename", this, &Server::onRename);
  messages_.method("textDocument/completion", this, &Server::onCompletion);
  messages_.method("textDocument/documentSymbol", this, &Server::onSymbols);
  messages_.method("textDocument/formatting", this, &Server::onFormatting);
}

int Server::run() {
  if (llvm::Error error = transport_.run(messages_)) {
    // The editor is gone without a word.
    llvm::consumeError(std::move(error));
    return 1;
  }
  return state_ == State::ShutDown ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// From start to end
//===----------------------------------------------------------------------===//

void Server::onInitialize(const InitializeParams &params, Callback<Value> reply) {
  if (state_ != State::Fresh)
    return reply(llvm::make_error<LSPError>("the server is initialized already", ErrorCode::InvalidRequest));
  state_ = State::Running;
  watchesFiles_ = params.watchesFiles;
  llvm::json::Object capabilities{
      {"positionEncoding", "utf-16"},
      {"textDocumentSync", llvm::json::Object{{"openClose", true},
                                              {"change", int(protocol::TextDocumentSyncKind::Incremental)},
                                              {"save", true}}},
      {"hoverProvider", true},
      {"definitionProvider", true},
      {"referencesProvider", true},
      {"renameProvider", llvm::json::Object{{"prepareProvider", true}}},
      {"completionProvider", llvm::json::Object{{"triggerCharacters", {"."}}}},
      {"documentSymbolProvider", true},
      {"documentFormattingProvider", true}};
  reply(llvm::json::Object{{"serverInfo", llvm::json::Object{{"name", "dbc-lsp"}, {"version", version_}}},
                           {"capabilities", std::move(capabilities)}});
}

/// What open files import changes on the disk too. A client that watches nothing is heard at the next
/// request.
void Server::onInitialized(const protocol::NoParams &params) {
  if (state_ != State::Running || !std::exchange(watchesFiles_, false))
    return;
  llvm::json::Object watcher{{"globPattern", "**/*.dyn"}};
  llvm::json::Object options{{"watchers", llvm::json::Array{std::move(watcher)}}};
  llvm::json::Object registration{{"id", "dyn-files"},
                                  {"method", "workspace/didChangeWatchedFiles"},
                                  {"registerOptions", std::move(options)}};
  register_(llvm::json::Object{{"registrations", llvm::json::Array{std::move(registration)}}}, "watch");
}

void Server::onShutdown(const protocol::NoParams &params, Callback<std::nullptr_t> reply) {
  answer<std::nullptr_t>(std::move(reply), [&]() -> Expected<std::nullptr_t> {
    state_ = State::ShutDown;
    return nullptr;
  });
}

/// What an exception says that `f` throws, or nothing.
static std::optional<std::string> bugIn(llvm::function_ref<void()> f) {
  try {
    f();
  } catch (const std::exception &bug) {
    return std::string(bug.what()) + "; this is a bug of dbc";
  }
  return std::nullopt;
}

template <typename T> void Server::answer(Callback<T> reply, llvm::function_ref<Expected<T>()> f) {
  if (state_ == State::Fresh)
    return reply(
        llvm::make_error<LSPError>("the server is not initialized", ErrorCode::ServerNotInitialized));
  if (state_ == State::ShutDown)
    return reply(llvm::make_error<LSPError>("the server is shut down", ErrorCode::InvalidRequest));
  if (std::optional<std::string> bug = bugIn([&] { reply(f()); }))
    reply(llvm::make_error<LSPError>(*bug, ErrorCode::InternalError));
}

void Server::hear(llvm::function_ref<void()> f) {
  if (state_ != State::Running)
    return;
  if (std::optional<std::string> bug = bugIn(f))
    protocol::Logger::error("a notification failed: {0}", *bug);
}

Expected<const Document *> Server::openDocument(const protocol::TextDocumentIdentifier &document) {
  analyseAgain(documents_.outdated());
  if (const Document *open = documents_.find(document.uri))
    return open;
  return llvm::make_error<LSPError>("`" + document.uri.file().str() + "` is not open",
                                    ErrorCode::InvalidParams);
}

template <typename T>
void Server::answerOf(const protocol::TextDocumentIdentifier &document, Callback<T> reply,
                      llvm::function_ref<Expected<T>(const Document &)> otherwise,
                      llvm::function_ref<Expected<T>(const View &)> f) {
  answer<T>(std::move(reply), [&]() -> Expected<T> {
    Expected<const Document *> open = openDocument(document);
    if (!open)
      return open.takeError();
    return (*open)->good ? f(View(documents_, **open)) : otherwise(**open);
  });
}

//===----------------------------------------------------------------------===//
// Texts
//===----------------------------------------------------------------------===//

void Server::publish(const Document &document) {
  publish_({document.uri, document.version, diagnosticsOf(documents_, document)});
}

void Server::analyseAgain(const std::vector<Document *> &documents) {
  for (Document *document : documents) {
    documents_.analyse(*document);
    publish(*document);
  }
}

void Server::onDidOpen(const protocol::DidOpenTextDocumentParams &params) {
  hear([&] {
    const Document &document = documents_.open(params.textDocument);
    publish(document);
    analyseAgain(documents_.dependents(document.path()));
  });
}

void Server::onDidChange(const protocol::DidChangeTextDocumentParams &params) {
  hear([&] {
    const Document *document = documents_.change(params);
    if (!document)
      return;
    publish(*document);
    analyseAgain(documents_.dependents(document->path()));
  });
}

void Server::onDidClose(const protocol::DidCloseTextDocumentParams &params) {
  hear([&] {
    const protocol::URIForFile &uri = params.textDocument.uri;
    const Document *document = documents_.find(uri);
    if (!document)
      return;
    publish_({document->uri, document->version, {}});
    documents_.close(uri);
    // From now on others read it from the disk.
    analyseAgain(documents_.dependents(uri.file().str()));
  });
}

void Server::onFilesChanged(const protocol::NoParams &params) {
  hear([&] { analyseAgain(documents_.everyone()); });
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void Server::onHover(const protocol::TextDocumentPositionParams &params,
                     Callback<std::optional<protocol::Hover>> reply) {
  using Hover = std::optional<protocol::Hover>;
  answerOf<Hover>(
      params.textDocument, std::move(reply), [](const Document &) { return Hover(); },
      [&](const View &view) { return hover(view, params.position); });
}

void Server::onDefinition(const protocol::TextDocumentPositionParams &params,
                          Callback<std::vector<protocol::Location>> reply) {
  using Locations = std::vector<protocol::Location>;
  answerOf<Locations>(
      params.textDocument, std::move(reply), [](const Document &) { return Locations(); },
      [&](const View &view) { return definition(view, params.position); });
}

void Server::onReferences(const protocol::ReferenceParams &params,
                          Callback<std::vector<protocol::Location>> reply) {
  using Locations = std::vector<protocol::Location>;
  answerOf<Locations>(
      params.textDocument, std::move(reply), [](const Document &) { return Locations(); },
      [&](const View &view) { return references(view, params.position, params.context.includeDeclaration); });
}

void Server::onPrepareRename(const protocol::TextDocumentPositionParams &params,
                             Callback<protocol::Range> reply) {
  answerOf<protocol::Range>(
      params.textDocument, std::move(reply), [](const Document &) { return refuseRenameForErrors(); },
      [&](const View &view) { return prepareRename(view, params.position); });
}

void Server::onRename(const RenameParams &params, Callback<protocol::WorkspaceEdit> reply) {
  answerOf<protocol::WorkspaceEdit>(
      params.textDocument, std::move(reply), [](const Document &) { return refuseRenameForErrors(); },
      [&](const View &view) { return rename(view, params.position, params.newName); });
}

void Server::onCompletion(const protocol::CompletionParams &params,
                          Callback<protocol::CompletionList> reply) {
  answerOf<protocol::CompletionList>(
      params.textDocument, std::move(reply),
      [&](const Document &document) { return completionOfWords(document, params.position); },
      [&](const View &view) { return completion(view, params.position); });
}

void Server::onSymbols(const protocol::DocumentSymbolParams &params,
                       Callback<std::vector<protocol::DocumentSymbol>> reply) {
  using Symbols = std::vector<protocol::DocumentSymbol>;
  answerOf<Symbols>(
      params.textDocument, std::move(reply), [](const Document &) { return Symbols(); },
      [](const View &view) { return documentSymbols(view); });
}

void Server::onFormatting(const FormattingParams &params,
                          Callback<std::optional<std::vector<protocol::TextEdit>>> reply) {
  using Edits = std::optional<std::vector<protocol::TextEdit>>;
  answer<Edits>(std::move(reply), [&]() -> Expected<Edits> {
    Expected<const Document *> open = openDocument(params.textDocument);
    if (!open)
      return open.takeError();
    return formatting(**open);
  });
}

} // namespace dbc::lsp
