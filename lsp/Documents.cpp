// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Documents.h"

#include "lsp/Changes.h"
#include "llvm/ADT/StringRef.h"
#include <cassert>

namespace dbc::lsp {

using namespace frontend;

Documents::Documents(std::vector<std::string> includeDirs, std::string libraryDir) {
  options_.includeDirs = std::move(includeDirs);
  options_.libraryDir = std::move(libraryDir);
  options_.buffer = [this](const std::string &path) -> std::optional<std::string> {
    auto found = documents_.find(canonicalPath(path));
    return found == documents_.end() ? std::nullopt : std::optional(found->second.text);
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

std::vector<Document *> Documents::dependents(const std::string &path) {
  const std::string changed = canonicalPath(path);
  std::vector<Document *> result;
  for (auto &[name, document] : documents_)
    if (name != changed && (!document.latest->parses() || document.latest->reads(changed)))
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
    : documents_(documents), document_(document), positions_(document.text),
      isFresh_(document.good == document.latest) {
  assert(document.good && "a view needs an analysis");
  if (isFresh_)
    return;
  const CommonEnds same = commonEnds(document.text, analysis().text());
  prefix_ = same.prefix;
  suffix_ = same.suffix;
}

std::optional<uint32_t> View::analysed(protocol::Position position) const {
  const uint32_t offset = positions_.offset(position);
  const uint32_t size = static_cast<uint32_t>(document_.text.size());
  if (isFresh_ || offset < prefix_)
    return offset;
  if (offset > size - suffix_)
    return offset - size + static_cast<uint32_t>(analysis().text().size());
  return std::nullopt;
}

uint32_t View::nearestAnalysed(uint32_t offset) const {
  const uint32_t size = static_cast<uint32_t>(document_.text.size());
  if (isFresh_ || offset <= prefix_)
    return offset;
  return offset > size - suffix_ ? offset - size + static_cast<uint32_t>(analysis().text().size()) : prefix_;
}

const Occurrence *View::at(protocol::Position position) const {
  std::optional<uint32_t> offset = analysed(position);
  return offset ? index().at(*offset) : nullptr;
}

std::optional<protocol::Range> View::range(SourceRange range) const {
  if (range.file != analysis().program().main().id)
    return analysis().positions(range.file).range(range.begin, range.end);
  const uint32_t size = static_cast<uint32_t>(document_.text.size());
  const uint32_t before = static_cast<uint32_t>(analysis().text().size());
  auto now = [&](uint32_t offset, bool isEnd) -> std::optional<uint32_t> {
    if (isFresh_ || offset < prefix_ || (offset == prefix_ && isEnd))
      return offset;
    if (offset > before - suffix_ || (offset == before - suffix_ && !isEnd))
      return offset + size - before;
    return std::nullopt;
  };
  std::optional<uint32_t> begin = now(range.begin, false), end = now(range.end, true);
  if (!begin || !end)
    return std::nullopt;
  return positions_.range(*begin, *end);
}

std::optional<protocol::Location> View::location(SourceRange range) const {
  std::optional<protocol::Range> at = this->range(range);
  if (!at)
    return std::nullopt;
  return protocol::Location(documents_.uriOf(analysis().path(range.file)), *at);
}

} // namespace dbc::lsp
