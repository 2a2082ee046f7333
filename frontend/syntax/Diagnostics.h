// Errors, warnings and notes in the words of the source.
//
// How a message is worded: lower case, no full stop, code in `backticks`; what was observed first, then the
// rule; what to do about it goes into the hint. The rule number (`S2` of the manual) is printed in brackets
// and is never part of the message.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_DIAGNOSTICS_H
#define DBC_FRONTEND_DIAGNOSTICS_H

#include "frontend/syntax/Source.h"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::frontend {

enum class Severity { Error, Warning, Note };

/// What a diagnostic adds about another location ("declared here").
struct DiagnosticNote {
  SourceRange range; ///< may be invalid: the note is then printed without a location
  std::string message;
};

/// One finding. The builder functions return *this, so that a report reads as one statement:
///   diags.error(range, "`x` is not declared", "N1").note(other, "`y` is declared here").hint("did you mean
///   `y`?");
struct Diagnostic {
  Severity severity = Severity::Error;
  SourceRange range; ///< may be invalid: the diagnostic is then printed without a location
  std::string message;
  std::string rule; ///< "S2"; empty for plain syntax
  std::vector<DiagnosticNote> notes;
  std::string hintText; ///< what to do; empty for none

  Diagnostic &note(SourceRange where, std::string text);
  Diagnostic &hint(std::string text);
};

/// Collects the diagnostics of one run and prints them in the order of their locations. Not thread-safe.
///
/// A rendered diagnostic:
///   model.dyn:3:9: error: `y` is not declared [N1]
///       let x = y;
///               ^
///   model.dyn:1:5: note: ...
///   hint: did you mean `x`?
class DiagnosticEngine {
public:
  explicit DiagnosticEngine(const SourceManager &sources) : sources_(sources) {}

  /// Adds a diagnostic. The reference is valid until the next one is added: call note() and hint() at once.
  Diagnostic &error(SourceRange range, std::string message, std::string rule = "");
  Diagnostic &warning(SourceRange range, std::string message, std::string rule = "");
  /// A remark that stands alone ("descent not proven, tested for each batch"); it makes nothing fail.
  Diagnostic &remark(SourceRange range, std::string message, std::string rule = "");

  bool hasErrors() const { return errors_ > 0; }
  size_t errorCount() const { return errors_; }
  const SourceManager &sources() const { return sources_; }
  /// In the order in which they were reported.
  const std::vector<Diagnostic> &all() const { return diagnostics_; }

  /// How many errors (and apart from them how many warnings and remarks) print() shows before it only counts.
  /// Default 20.
  void setLimit(size_t limit) { limit_ = limit; }

  /// Everything reported, sorted by file and position (equal locations: order of report), equal diagnostics
  /// at one location once.
  void print(std::ostream &out) const;
  /// What print() writes.
  std::string str() const;

private:
  Diagnostic &add(Severity severity, SourceRange range, std::string message, std::string rule);

  const SourceManager &sources_;
  std::vector<Diagnostic> diagnostics_;
  size_t errors_ = 0;
  size_t limit_ = 20;
};

/// Number of inserted, deleted, replaced and swapped neighbouring letters that make `a` into `b`.
size_t editDistance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or "" if none is near enough to be meant (a third of its letters, at
/// least one). Of equally near ones the first is taken.
std::string nearestName(std::string_view name, const std::vector<std::string> &candidates);

/// "did you mean `x`?" for the nearest candidate, or "".
std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates);

} // namespace dbc::frontend

#endif // DBC_FRONTEND_DIAGNOSTICS_H
