// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Describe.h"
#include "lsp/References.h"
#include "lsp/Requests.h"
#include "lsp/Words.h"

#include "llvm/Support/Path.h"
#include <algorithm>

namespace dbc::lsp {

using namespace frontend;
using llvm::Error;

static Error refuse(const std::string &message) {
  return llvm::make_error<protocol::LSPError>(message, protocol::ErrorCode::RequestFailed);
}

static std::string inTicks(const std::string &name) { return "`" + name + "`"; }

/// `a field`, `an entry`.
static std::string oneOf(const Symbol &symbol) {
  const std::string kind = kindOf(symbol);
  return (llvm::StringRef("aeiou").contains(kind.front()) ? "an " : "a ") + kind;
}

/// Whether the name at a place can be given another one.
static Error checkTarget(const View &view, const Occurrence *occurrence) {
  if (!view.isFresh() || view.analysis().diagnostics().hasErrors())
    return refuseRenameForErrors();
  if (!occurrence)
    return refuse("there is no name here");
  const Symbol &symbol = *occurrence->symbol;
  if (symbol.kind == NameKind::Language)
    return refuse(inTicks(symbol.name) + " belongs to the language");
  if (symbol.kind == NameKind::Module)
    return refuse(inTicks(symbol.name) + " is a module, which is called after its file");
  for (SourceRange declared : symbol.declarations)
    if (view.documents().isLibrary(view.analysis().path(declared.file)))
      return refuse(inTicks(symbol.name) + " is declared in dbc's library");
  return Error::success();
}

static Error checkName(const std::string &name) {
  if (!isName(name))
    return refuse(inTicks(name) + " is no name: names are letters, digits and `_`, with no digit first");
  if (isReserved(name))
    return refuse(inTicks(name) + " is a word of the language");
  return Error::success();
}

/// Whether two symbols of one owner may not have one name.
static bool areRivals(NameKind a, NameKind b) {
  const auto isNested = [](NameKind kind) {
    return kind == NameKind::Constructor || kind == NameKind::Field;
  };
  return a == b || (!isNested(a) && !isNested(b));
}

/// Refuses a name that something else has where the symbol stands, or inside the same owner.
static Error checkScopes(const Symbol &symbol, const std::vector<Found> &places, const std::string &name) {
  for (const Found &place : places) {
    const Index &index = place.analysis->index();
    if (place.symbol->owner)
      for (const Symbol *member : index.membersOf(place.symbol->owner))
        if (member->name == name && areRivals(member->kind, symbol.kind))
          return refuse(inTicks(name) + " is the name of " + oneOf(*member) + " already");
    if (place.occurrence->isMember || symbol.kind == NameKind::Field ||
        symbol.kind == NameKind::Constructor || symbol.kind == NameKind::Model)
      continue;
    const SourceRange range = place.occurrence->range;
    if (const Symbol *other = index.scopeAt(range.file, range.begin)->find(name, range.begin))
      return refuse(inTicks(name) + " is in scope already: " + oneOf(*other));
  }
  return Error::success();
}

/// Whether a name stands in a text, be it in a comment.
static bool hasName(std::string_view text, std::string_view name) {
  for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isNameCharacter(text[at - 1])) && (end == text.size() || !isNameCharacter(text[end])))
      return true;
  }
  return false;
}

/// Refuses where an open document that does not parse can use the name: it has read what declares it, or has
/// the name of that file, and says the name.
static Error checkUnparsed(const View &view, const Symbol &symbol) {
  if (symbol.declarations.empty() || symbol.kind == NameKind::Local || symbol.kind == NameKind::Dim)
    return Error::success(); // nobody else can say it
  const std::string declaring = canonicalPath(view.analysis().path(symbol.declarations.front().file));
  const llvm::StringRef module = llvm::sys::path::stem(declaring);
  for (const auto &[path, document] : view.documents().all()) {
    if (document.latest->parses() || !hasName(document.text, symbol.name))
      continue;
    if ((document.good && document.good->reads(declaring)) || hasName(document.text, module))
      return refuse(inTicks(document.path()) + " says " + inTicks(symbol.name) +
                    " and does not parse; names are renamed where all open files that use them parse");
  }
  return Error::success();
}

namespace {

/// New texts for old, by the paths of the files.
struct Edits {
  struct Edit {
    SourceRange range;
    std::string text;
  };
  struct File {
    std::string uri;
    std::shared_ptr<const Analysis> analysis; ///< one that has read it
    std::vector<Edit> edits;                  ///< in the order of the text
  };
  std::map<std::string, File> files;

  void add(const Found &place, const std::string &name) {
    const Occurrence &occurrence = *place.occurrence;
    SourceRange range = occurrence.range;
    std::string text = name;
    if (const ArmField *arm = occurrence.arm) {
      const bool isField = occurrence.field == place.symbol || place.symbol->kind == NameKind::Field;
      const std::string field = isField ? name : arm->field.text, local = isField ? arm->name.text : name;
      range = arm->field.range.to(arm->name.range);
      text = field == local ? field : field + " = " + local;
    }
    File &file = files[canonicalPath(place.analysis->path(range.file))];
    file.uri = place.location.uri.uri().str();
    if (!file.analysis)
      file.analysis = place.analysis;
    file.edits.push_back({range, text});
  }

  /// The text of a file as it will be.
  static std::string applied(const File &file) {
    std::string text = file.analysis->sources().file(file.edits.front().range.file).text();
    for (auto edit = file.edits.rbegin(); edit != file.edits.rend(); ++edit)
      text.replace(edit->range.begin, edit->range.end - edit->range.begin, edit->text);
    return text;
  }
};

} // namespace

/// Checks the documents that read what is renamed as they will be: what would be wrong is a reason against
/// it.
static Error checkResult(const View &view, const Edits &edits) {
  std::map<std::string, std::string> texts;
  for (const auto &[path, file] : edits.files)
    texts[path] = Edits::applied(file);
  LoadOptions options = view.documents().options();
  options.buffer = [&](const std::string &path) -> std::optional<std::string> {
    auto found = texts.find(canonicalPath(path));
    return found == texts.end() ? view.documents().options().buffer(path) : std::optional(found->second);
  };
  for (const auto &[path, document] : view.documents().all()) {
    const Analysis &before = *document.latest;
    const bool reads =
        std::any_of(texts.begin(), texts.end(), [&](const auto &text) { return before.reads(text.first); });
    if (!reads || before.diagnostics().hasErrors())
      continue;
    auto text = texts.find(path);
    Analysis after(document.path(), text == texts.end() ? document.text : text->second, options);
    for (const frontend::Diagnostic &found : after.diagnostics().all())
      if (found.severity == Severity::Error)
        return refuse("it would be wrong then: " + found.message);
  }
  return Error::success();
}

Error refuseRenameForErrors() {
  return refuse("the file has errors; names are renamed where there are none");
}

llvm::Expected<protocol::Range> prepareRename(const View &view, protocol::Position position) {
  const Occurrence *occurrence = view.at(position);
  if (Error error = checkTarget(view, occurrence))
    return error;
  return *view.range(occurrence->range);
}

llvm::Expected<protocol::WorkspaceEdit> rename(const View &view, protocol::Position position,
                                               const std::string &newName) {
  const Occurrence *occurrence = view.at(position);
  if (Error error = checkTarget(view, occurrence))
    return error;
  const Symbol &symbol = *occurrence->symbol;
  protocol::WorkspaceEdit result;
  if (symbol.name == newName)
    return result;
  if (Error error = checkName(newName))
    return error;
  const std::vector<Found> places = occurrencesOf(view, symbol);
  if (Error error = checkScopes(symbol, places, newName))
    return error;
  if (Error error = checkUnparsed(view, symbol))
    return error;
  Edits edits;
  for (const Found &place : places)
    edits.add(place, newName);
  if (Error error = checkResult(view, edits))
    return error;
  for (const auto &[path, file] : edits.files)
    for (const Edits::Edit &edit : file.edits) {
      const Positions &positions = file.analysis->positions(file.edits.front().range.file);
      result.changes[file.uri].push_back({positions.range(edit.range.begin, edit.range.end), edit.text});
    }
  return result;
}

} // namespace dbc::lsp
