// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What is asked of a document that parses, or did once: a function for each request of the protocol.
#pragma once

#include "lsp/Documents.h"
#include <optional>

namespace dbc::lsp {

/// What a name is: how it is declared, its type here, and its comment; of other expressions their type.
/// Nothing elsewhere.
std::optional<protocol::Hover> hover(const View &view, protocol::Position position);

/// Where the name is declared; several places for a field of several constructors, none for the language's.
std::vector<protocol::Location> definition(const View &view, protocol::Position position);

/// Every place that the name stands in, in this document, what it imports, and other open documents that
/// parse. In an arm that names a field and binds it, `Leaf(word)`, those of both.
std::vector<protocol::Location> references(const View &view, protocol::Position position,
                                           bool includeDeclaration);

/// Gives what a name stands for another name, wherever references() finds it. What an arm binds is renamed as
/// `field = name`. An error says why that cannot be done.
llvm::Expected<protocol::WorkspaceEdit> rename(const View &view, protocol::Position position,
                                               const std::string &newName);

/// Why nothing is renamed in a document that has errors.
llvm::Error refuseRenameForErrors();

/// Where the name is that a rename would change; an error if it cannot be.
llvm::Expected<protocol::Range> prepareRename(const View &view, protocol::Position position);

/// What can stand at a position: members after `.`, constructors and fields in a match, fields in a record
/// literal, modules after `import`, else the names in scope and the language's words.
protocol::CompletionList completion(const View &view, protocol::Position position);

/// The same where no text of the document has parsed yet: the language's words alone.
protocol::CompletionList completionOfWords(const Document &document, protocol::Position position);

/// What the document declares, as a tree.
std::vector<protocol::DocumentSymbol> documentSymbols(const View &view);

/// What `dbc fmt` would change, as one edit or none; nothing if the text does not parse.
std::optional<std::vector<protocol::TextEdit>> formatting(const Document &document);

} // namespace dbc::lsp
