// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/References.h"
#include "lsp/Requests.h"

#include <algorithm>

namespace dbc::lsp {

using namespace frontend;

std::vector<protocol::Location> definition(const View &view, protocol::Position position) {
  const Occurrence *occurrence = view.at(position);
  if (!occurrence)
    return {};
  std::vector<SourceRange> targets = occurrence->symbol->declarations;
  if (occurrence->target.valid())
    targets = {occurrence->target};
  std::vector<protocol::Location> result;
  for (SourceRange target : targets)
    if (std::optional<protocol::Location> location = view.location(target))
      result.push_back(*location);
  return result;
}

/// The same symbol in the program of another document, which has read the file that declares it; null if it
/// has not, or another text.
static const Symbol *counterpart(const Analysis &from, const Symbol &symbol, const Analysis &other) {
  if (symbol.declarations.empty())
    return nullptr;
  const SourceRange declared = symbol.declarations.front();
  const std::string path = canonicalPath(from.path(declared.file));
  for (uint32_t file = 0; file < other.sources().size(); ++file)
    if (canonicalPath(other.path(file)) == path &&
        other.sources().file(file).text() == from.sources().file(declared.file).text())
      return other.index().declaredAt({file, declared.begin, declared.end});
  return nullptr;
}

std::vector<Found> occurrencesOf(const View &view, const Symbol &symbol) {
  std::vector<Found> result;
  // What belongs to the language stands everywhere; only this file's are of interest.
  const bool isEverywhere = symbol.declarations.empty();
  auto collect = [&](const View &in, const Symbol *sought) {
    if (!sought)
      return;
    for (const Occurrence &occurrence : in.index().occurrences()) {
      const bool isHere = occurrence.symbol == sought || occurrence.field == sought;
      if (!isHere || (isEverywhere && occurrence.range.file != in.analysis().program().main().id))
        continue;
      if (std::optional<protocol::Location> location = in.location(occurrence.range))
        result.push_back({*location, &occurrence, sought, in.document().good});
    }
  };
  collect(view, &symbol);
  for (const auto &[path, document] : view.documents().all())
    if (&document != &view.document() && document.latest->parses())
      collect(View(view.documents(), document), counterpart(view.analysis(), symbol, *document.latest));
  // A file that several documents import has been read for each.
  std::stable_sort(result.begin(), result.end(),
                   [](const Found &a, const Found &b) { return a.location < b.location; });
  result.erase(std::unique(result.begin(), result.end(),
                           [](const Found &a, const Found &b) { return a.location == b.location; }),
               result.end());
  return result;
}

std::vector<protocol::Location> references(const View &view, protocol::Position position,
                                           bool includeDeclaration) {
  const Occurrence *occurrence = view.at(position);
  if (!occurrence)
    return {};
  std::vector<protocol::Location> result;
  for (const Symbol *symbol : {occurrence->symbol, occurrence->field})
    if (symbol)
      for (const Found &found : occurrencesOf(view, *symbol))
        if (includeDeclaration || !found.occurrence->isDeclaration)
          result.push_back(found.location);
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

} // namespace dbc::lsp
