// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Index.h"
#include "lsp/IndexBuilder.h"

#include <algorithm>
#include <tuple>

namespace dbc::lsp {

using namespace frontend;

const Symbol *Scope::find(const std::string &name, uint32_t at) const {
  for (const Scope *scope = this; scope; scope = scope->parent) {
    auto found = scope->names.find(name);
    if (found == scope->names.end())
      continue;
    for (auto entry = found->second.rbegin(); entry != found->second.rend(); ++entry)
      if (entry->from <= at)
        return entry->symbol;
  }
  return nullptr;
}

static uint64_t keyOf(SourceRange range) { return uint64_t(range.file) << 32 | range.begin; }

static bool isBefore(SourceRange a, SourceRange b) {
  return std::tie(a.file, a.begin) < std::tie(b.file, b.begin);
}

Index::Index(const Program &program) : main_(program.main().id) {
  IndexBuilder(program, *this).build();
  std::stable_sort(occurrences_.begin(), occurrences_.end(),
                   [](const Occurrence &a, const Occurrence &b) { return isBefore(a.range, b.range); });
}

const Occurrence *Index::at(uint32_t offset) const {
  auto next = std::upper_bound(
      occurrences_.begin(), occurrences_.end(), SourceRange{main_, offset, offset},
      [](SourceRange range, const Occurrence &occurrence) { return isBefore(range, occurrence.range); });
  if (next == occurrences_.begin())
    return nullptr;
  const Occurrence &last = *std::prev(next);
  return last.range.file == main_ && offset <= last.range.end ? &last : nullptr;
}

const Typed *Index::typedAt(uint32_t offset) const {
  const Typed *inner = nullptr;
  for (const Typed &each : typed_)
    if (each.range.begin <= offset && offset < each.range.end &&
        (!inner || each.range.end - each.range.begin <= inner->range.end - inner->range.begin))
      inner = &each;
  return inner;
}

const Scope *Index::scopeAt(uint32_t file, uint32_t offset) const {
  const Scope *inner = nullptr;
  for (const Scope &scope : scopes_) {
    const SourceRange range = scope.range;
    const bool isOutside = range.file != file || offset < range.begin || offset > range.end;
    if (isOutside || (scope.hasBraces && (offset == range.begin || offset == range.end)))
      continue;
    // Of equal ones the later is the inner.
    if (!inner || range.end - range.begin <= inner->range.end - inner->range.begin)
      inner = &scope;
  }
  return inner;
}

void Index::setDeclared(SourceRange name, const Symbol &symbol) { declared_.emplace(keyOf(name), &symbol); }

const Symbol *Index::declaredAt(SourceRange name) const {
  auto found = name.valid() ? declared_.find(keyOf(name)) : declared_.end();
  return found == declared_.end() ? nullptr : found->second;
}

const Scope *Index::scopeOf(const File *file) const {
  auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second;
}

std::vector<const Symbol *> Index::membersOf(const Symbol *owner) const {
  std::vector<const Symbol *> members;
  for (const Symbol &symbol : symbols_)
    if (symbol.owner == owner && symbol.kind != NameKind::Dim)
      members.push_back(&symbol);
  return members;
}

} // namespace dbc::lsp
