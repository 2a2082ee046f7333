// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Documents.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cassert>

namespace dbc::lsp {

using namespace frontend;

Documents::Documents(std::vector<std::string> includeDirs, std::string libraryDir) {
  options_.includeDirs = std::move(includeDirs);
  options_.libraryDir = std::move(libraryDir);
  options_.buffer = [this](const std::string &path) -> std::optional<std::string> {
    const std::string *text = textOf(path);
    return text ? std::optional(*text) : std::nullopt;
  };
}

Document &Documents::open(const protocol::TextDocumentItem &item) {
  Document &document = documents_[canonicalPath(item.uri.file().str())];
  document.uri = item.uri;
  document.version = item.version;
  document.text = item.text;
  document.good = nullptr;
  analyse(document);
  return document;
}

Document *Documents::change(const protocol::DidChangeTextDocumentParams &params) {
  Document *document = find(params.textDocument.uri);
  if (!document)
    return nullptr;
  for (const protocol::TextDocumentContentChangeEvent &change : params.contentChanges)
    applyChange(document->text, change);
  document->version = params.textDocument.version;
  analyse(*document);
  return document;
}

void Documents::close(const protocol::URIForFile &uri) { documents_.erase(canonicalPath(uri.file().str())); }

Document *Documents::find(const protocol::URIForFile &uri) {
  auto found = documents_.find(canonicalPath(uri.file().str()));
  return found == documents_.end() ? nullptr : &found->second;
}

const std::string *Documents::textOf(const std::string &path) const {
  auto found = documents_.find(canonicalPath(path));
  return found == documents_.end() ? nullptr : &found->second.text;
}

std::vector<Document *> Documents::dependents(const std::string &path) {
  const std::string changed = canonicalPath(path);
  std::vector<Document *> result;
  for (auto &[name, document] : documents_)
    if (name != changed && (!document.latest->parses() || document.latest->reads(changed)))
      result.push_back(&document);
  return result;
}

std::vector<Document *> Documents::outdated() {
  std::vector<Document *> result;
  for (auto &[name, document] : documents_)
    if (!document.latest->isAsOnDisk())
      result.push_back(&document);
  return result;
}

std::vector<Document *> Documents::everyone() {
  std::vector<Document *> result;
  for (auto &[name, document] : documents_)
    result.push_back(&document);
  return result;
}

void Documents::analyse(Document &document) {
  document.latest = std::make_shared<Analysis>(document.path(), document.text, options_);
  if (document.latest->parses())
    document.good = document.latest;
}

protocol::URIForFile Documents::uriOf(const std::string &path) const {
  auto found = documents_.find(canonicalPath(path));
  if (found != documents_.end())
    return found->second.uri;
  llvm::Expected<protocol::URIForFile> uri = protocol::URIForFile::fromFile(canonicalPath(path));
  if (uri)
    return *uri;
  llvm::consumeError(uri.takeError());
  return {};
}

bool Documents::isLibrary(const std::string &path) const {
  return llvm::StringRef(canonicalPath(path)).starts_with(canonicalPath(options_.libraryDir) + "/");
}

void applyChange(std::string &text, const protocol::TextDocumentContentChangeEvent &change) {
  if (!change.range) {
    text = change.text;
    return;
  }
  Positions positions(text);
  const uint32_t begin = positions.offset(change.range->start);
  const uint32_t end = std::max(begin, positions.offset(change.range->end));
  text.replace(begin, end - begin, change.text);
}

//===----------------------------------------------------------------------===//
// View
//===----------------------------------------------------------------------===//

View::View(const Documents &documents, const Document &document)
    : documents_(documents), document_(document), isFresh_(document.good == document.latest) {
  assert(document.good && "a view needs an analysis");
}

/// Whether the disk has this text there.
static bool isOnDisk(const std::string &path, const std::string &text) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || status.type() != llvm::sys::fs::file_type::regular_file)
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return buffer && (*buffer)->getBuffer() == text;
}

const View::Now &View::now(uint32_t file) const {
  auto found = now_.find(file);
  if (found != now_.end())
    return found->second;
  const std::string &then = analysis().sources().file(file).text();
  const std::string *open =
      file == analysis().program().main().id ? &document_.text : documents_.textOf(analysis().path(file));
  // What was read for a text that no longer parses can have changed since: then nothing of it is found.
  static const std::string none;
  const std::string &text = open ? *open : isFresh_ || isOnDisk(analysis().path(file), then) ? then : none;
  return now_.emplace(file, Now{Change(then, text), Positions(text)}).first->second;
}

std::optional<uint32_t> View::analysed(protocol::Position position) const {
  const Now &main = now(analysis().program().main().id);
  return main.change.then(main.positions.offset(position));
}

uint32_t View::nearestAnalysed(uint32_t offset) const {
  return now(analysis().program().main().id).change.nearestThen(offset);
}

const Occurrence *View::at(protocol::Position position) const {
  std::optional<uint32_t> offset = analysed(position);
  return offset ? index().at(*offset) : nullptr;
}

std::optional<protocol::Range> View::range(SourceRange range) const {
  const Now &file = now(range.file);
  std::optional<uint32_t> begin = file.change.nowOfBegin(range.begin), end = file.change.nowOfEnd(range.end);
  if (!begin || !end)
    return std::nullopt;
  return file.positions.range(*begin, *end);
}

std::optional<protocol::Location> View::location(SourceRange range) const {
  std::optional<protocol::Range> at = this->range(range);
  if (!at)
    return std::nullopt;
  return protocol::Location(documents_.uriOf(analysis().path(range.file)), *at);
}

} // namespace dbc::lsp
