// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/Diagnostics.h"

#include "llvm/Support/JSON.h"
#include <algorithm>
#include <set>
#include <tuple>

namespace dbc::lsp {

using namespace frontend;

/// Editors need no more to show that a text is no model.
static constexpr size_t kMost = 500;

static protocol::DiagnosticSeverity severityOf(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return protocol::DiagnosticSeverity::Error;
  case Severity::Warning:
    return protocol::DiagnosticSeverity::Warning;
  case Severity::Note:
    break;
  }
  return protocol::DiagnosticSeverity::Information;
}

/// Texts of files that are no UTF-8 can be quoted; the protocol wants UTF-8.
static std::string shown(const std::string &text) { return llvm::json::fixUTF8(text); }

static protocol::Location locate(const Documents &documents, const Analysis &analysis, SourceRange range) {
  return {documents.uriOf(analysis.path(range.file)),
          analysis.positions(range.file).range(range.begin, range.end)};
}

static CodedDiagnostic convert(const Documents &documents, const Analysis &analysis,
                               const Diagnostic &found) {
  CodedDiagnostic result;
  protocol::Diagnostic &diagnostic = result.diagnostic;
  std::vector<protocol::DiagnosticRelatedInformation> related;
  result.code = found.rule;
  diagnostic.severity = severityOf(found.severity);
  diagnostic.source = "dbc";
  diagnostic.message = shown(found.message);
  SourceRange range = found.range;
  if (range.valid() && range.file != 0) {
    related.emplace_back(locate(documents, analysis, range), diagnostic.message);
    diagnostic.message = "in `" + analysis.path(range.file) + "`: " + diagnostic.message;
    range = analysis.importOf(range.file);
  }
  if (range.valid())
    diagnostic.range = analysis.positions(0).range(range.begin, range.end);
  for (const DiagnosticNote &note : found.notes)
    if (note.range.valid())
      related.emplace_back(locate(documents, analysis, note.range), shown(note.message));
    else
      diagnostic.message += "\nnote: " + shown(note.message);
  if (!found.hintText.empty())
    diagnostic.message += "\nhint: " + shown(found.hintText);
  if (!related.empty())
    diagnostic.relatedInformation = std::move(related);
  return result;
}

std::vector<CodedDiagnostic> diagnosticsOf(const Documents &documents, const Document &document) {
  const Analysis &analysis = *document.latest;
  std::vector<CodedDiagnostic> result;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t, std::string>> seen;
  for (const Diagnostic &found : analysis.diagnostics().all()) {
    const bool isNew =
        seen.emplace(found.range.file, found.range.begin, found.range.end, found.message).second;
    if (isNew && result.size() < kMost)
      result.push_back(convert(documents, analysis, found));
  }
  std::stable_sort(result.begin(), result.end(), [](const CodedDiagnostic &a, const CodedDiagnostic &b) {
    return a.diagnostic.range < b.diagnostic.range;
  });
  return result;
}

} // namespace dbc::lsp
