// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The texts that the editor holds, and what the front end says of them.
#pragma once

#include "lsp/Analysis.h"
#include "lsp/Changes.h"
#include <map>
#include <memory>
#include <optional>

namespace dbc::lsp {

/// One open text.
struct Document {
  protocol::URIForFile uri;
  int64_t version = 0;
  std::string text;
  std::shared_ptr<const Analysis> latest; ///< of the text as it is
  std::shared_ptr<const Analysis> good;   ///< of the last text that parsed; null if none did

  std::string path() const { return uri.file().str(); }
};

/// All open documents. Not thread-safe.
class Documents {
public:
  /// Imports are looked for in these places, and in open documents before the disk.
  Documents(std::vector<std::string> includeDirs, std::string libraryDir);

  /// Opens a document, or replaces the text of an open one.
  Document &open(const protocol::TextDocumentItem &item);
  /// Applies changes one after the other. Null if it is not open.
  Document *change(const protocol::DidChangeTextDocumentParams &params);
  void close(const protocol::URIForFile &uri);
  Document *find(const protocol::URIForFile &uri);
  /// The text of an open document; null if no such file is open.
  const std::string *textOf(const std::string &path) const;
  const std::map<std::string, Document> &all() const { return documents_; }

  /// Those whose analysis a change of this file concerns, without itself: that import it, or failed to find
  /// what they import.
  std::vector<Document *> dependents(const std::string &path);
  /// Those for which other texts were read than the disk has now.
  std::vector<Document *> outdated();
  /// All open ones.
  std::vector<Document *> everyone();
  void analyse(Document &document);

  /// As the editor calls a file: by the name under which it is open, if it is.
  protocol::URIForFile uriOf(const std::string &path) const;
  /// Whether a file belongs to dbc's own library of modules.
  bool isLibrary(const std::string &path) const;
  const frontend::LoadOptions &options() const { return options_; }

private:
  frontend::LoadOptions options_;
  std::map<std::string, Document> documents_; ///< by canonicalPath()
};

/// Puts a change's text in place of its range, or of all if it has none.
void applyChange(std::string &text, const protocol::TextDocumentContentChangeEvent &change);

/// A document as it is, seen through the analysis of the last text that parsed. Of what has changed since, in
/// it and in what it imports, nothing is found.
class View {
public:
  /// Asserts that `document.good` is there; it must outlive the view, as `documents` must.
  View(const Documents &documents, const Document &document);

  const Documents &documents() const { return documents_; }
  const Document &document() const { return document_; }
  const Analysis &analysis() const { return *document_.good; }
  const Index &index() const { return analysis().index(); }
  /// Whether the analysis is of the text as it is.
  bool isFresh() const { return isFresh_; }

  /// The byte in the analysed text; nothing inside what has changed.
  std::optional<uint32_t> analysed(protocol::Position position) const;
  /// The same for a byte of the text as it is; inside what has changed the byte where that begins.
  uint32_t nearestAnalysed(uint32_t offset) const;
  /// The name at a position, or null.
  const Occurrence *at(protocol::Position position) const;

  /// Where a range of the analysed program is now; nothing if it begins or ends inside what has changed.
  std::optional<protocol::Range> range(frontend::SourceRange range) const;
  std::optional<protocol::Location> location(frontend::SourceRange range) const;

private:
  /// A file of the analysed program, as it is now.
  struct Now {
    Change change;
    Positions positions;
  };
  const Now &now(uint32_t file) const;

  const Documents &documents_;
  const Document &document_;
  bool isFresh_;
  mutable std::map<uint32_t, Now> now_; ///< by the files' ids
};

} // namespace dbc::lsp
