// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Diagnostics.h"

#include <algorithm>
#include <numeric>
#include <ostream>
#include <sstream>
#include <tuple>

namespace dbc::frontend {

Diagnostic &Diagnostic::note(SourceRange where, std::string text) {
  notes.push_back({where, std::move(text)});
  return *this;
}

Diagnostic &Diagnostic::hint(std::string text) {
  hintText = std::move(text);
  return *this;
}

Diagnostic &DiagnosticEngine::add(Severity severity, SourceRange range, std::string message,
                                  std::string rule) {
  Diagnostic d;
  d.severity = severity;
  d.range = range;
  d.message = std::move(message);
  d.rule = std::move(rule);
  diagnostics_.push_back(std::move(d));
  return diagnostics_.back();
}

Diagnostic &DiagnosticEngine::error(SourceRange range, std::string message, std::string rule) {
  ++errors_;
  return add(Severity::Error, range, std::move(message), std::move(rule));
}

Diagnostic &DiagnosticEngine::warning(SourceRange range, std::string message, std::string rule) {
  return add(Severity::Warning, range, std::move(message), std::move(rule));
}

Diagnostic &DiagnosticEngine::remark(SourceRange range, std::string message, std::string rule) {
  return add(Severity::Note, range, std::move(message), std::move(rule));
}

namespace {

const char *word(Severity severity) {
  switch (severity) {
  case Severity::Error:
    return "error";
  case Severity::Warning:
    return "warning";
  case Severity::Note:
    return "note";
  }
  return "";
}

/// The longest stretch of a line that is shown; longer lines (generated sources) are cut at both ends.
constexpr size_t kShownColumns = 160;

bool continuesCodePoint(char c) { return (c & 0xC0) == 0x80; }

/// A line as a terminal can show it: one cell for each code point, so that underlines fit. Tabs stay, other
/// control characters (a source may hold escape sequences) and bytes that are not UTF-8 become `?`.
std::vector<std::string> cells(std::string_view line) {
  std::vector<std::string> result;
  for (size_t i = 0; i < line.size();) {
    size_t length = 1;
    unsigned char c = line[i];
    if (c >= 0xC2 && c <= 0xF4) {
      size_t wanted = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
      while (length < wanted && i + length < line.size() && continuesCodePoint(line[i + length]))
        ++length;
      result.push_back(length == wanted ? std::string(line.substr(i, length)) : std::string("?"));
    } else {
      result.push_back(c == '\t' || (c >= 0x20 && c < 0x7F) ? std::string(1, c) : std::string("?"));
    }
    i += length;
  }
  return result;
}

/// The source line and below it `^~~~` under the range, or under its part on this line.
void printExcerpt(const SourceFile &file, SourceRange range, std::ostream &out) {
  LineColumn at = file.lineColumn(range.begin);
  std::string_view text = file.line(at.line);
  uint32_t lineBegin = file.lineBegin(at.line);
  size_t from = std::min<size_t>(range.begin - lineBegin, text.size());
  size_t to = std::clamp<size_t>(range.end > lineBegin ? range.end - lineBegin : 0, from, text.size());

  // Of a line that nobody could read only the bytes round the position are looked at.
  size_t begin = from > 4 * kShownColumns ? from - 4 * kShownColumns : 0;
  while (begin < from && continuesCodePoint(text[begin]))
    ++begin;
  size_t end = std::min(text.size(), from + 8 * kShownColumns);
  bool cutBehind = end < text.size();
  text = text.substr(begin, end - begin);
  from -= begin;
  to = std::min(to - begin, text.size());

  size_t before = cells(text.substr(0, from)).size();
  size_t under = cells(text.substr(from, to - from)).size();
  std::vector<std::string> line = cells(text);
  bool tooLong = begin > 0 || line.size() > kShownColumns;
  size_t first = tooLong && before > kShownColumns / 2 ? before - kShownColumns / 2 : 0;
  size_t last = std::min(line.size(), first + kShownColumns);
  bool cutBefore = begin > 0 || first > 0;

  out << "    " << (cutBefore ? "..." : "");
  for (size_t i = first; i < last; ++i)
    out << line[i];
  out << (cutBehind || last < line.size() ? "..." : "") << "\n    " << (cutBefore ? "   " : "");
  for (size_t i = first; i < before; ++i)
    out << (i < line.size() && line[i] == "\t" ? '\t' : ' ');
  out << '^';
  for (size_t i = before + 1; i < before + under && i < last; ++i)
    out << '~';
  out << '\n';
}

void printOne(const SourceManager &sources, Severity severity, SourceRange range, const std::string &message,
              const std::string &rule, std::ostream &out) {
  if (range.valid()) {
    const SourceFile &file = sources.file(range.file);
    LineColumn at = file.lineColumn(range.begin);
    out << file.path() << ':' << at.line << ':' << at.column << ": ";
  } else {
    out << "dbc: ";
  }
  out << word(severity) << ": " << message;
  if (!rule.empty())
    out << " [" << rule << ']';
  out << '\n';
  if (range.valid())
    printExcerpt(sources.file(range.file), range, out);
}

} // namespace

void DiagnosticEngine::print(std::ostream &out) const {
  std::vector<const Diagnostic *> order;
  for (const Diagnostic &d : diagnostics_)
    order.push_back(&d);
  // Those without a location come first: they concern the command line, whose mistakes explain the rest. At
  // equal locations the order of the report, which is that of the addresses.
  auto location = [](const Diagnostic *d) {
    return std::make_tuple(d->range.valid(), d->range.file, d->range.begin, d);
  };
  std::sort(order.begin(), order.end(),
            [&](const Diagnostic *a, const Diagnostic *b) { return location(a) < location(b); });

  size_t shown[2] = {0, 0}, more[2] = {0, 0}; // errors; warnings and remarks
  const Diagnostic *previous = nullptr;
  for (const Diagnostic *d : order) {
    if (previous && previous->range == d->range && previous->message == d->message)
      continue;
    previous = d;
    size_t slot = d->severity == Severity::Error ? 0 : 1;
    if (shown[slot] == limit_) {
      ++more[slot];
      continue;
    }
    ++shown[slot];
    printOne(sources_, d->severity, d->range, d->message, d->rule, out);
    for (const DiagnosticNote &n : d->notes)
      printOne(sources_, Severity::Note, n.range, n.message, "", out);
    if (!d->hintText.empty())
      out << "hint: " << d->hintText << '\n';
  }
  if (more[0])
    out << "dbc: " << more[0] << (more[0] == 1 ? " more error\n" : " more errors\n");
  if (more[1])
    out << "dbc: " << more[1] << (more[1] == 1 ? " more warning\n" : " more warnings\n");
}

std::string DiagnosticEngine::str() const {
  std::ostringstream out;
  print(out);
  return out.str();
}

size_t editDistance(std::string_view a, std::string_view b) {
  // Damerau's distance in its restricted form, three rows at a time.
  std::vector<size_t> beforeLast, last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t(0));
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.size()];
}

std::string nearestName(std::string_view name, const std::vector<std::string> &candidates) {
  size_t bound = std::max<size_t>(1, name.size() / 3);
  std::string best;
  size_t bestDistance = bound + 1;
  for (const std::string &c : candidates) {
    size_t lengths = c.size() > name.size() ? c.size() - name.size() : name.size() - c.size();
    // A name of which every letter would change is no misspelling.
    if (lengths >= bestDistance || c.empty() || c == name)
      continue;
    size_t distance = editDistance(name, c);
    if (distance < bestDistance && distance < std::max(name.size(), c.size())) {
      best = c;
      bestDistance = distance;
    }
  }
  return best;
}

std::string didYouMean(std::string_view name, const std::vector<std::string> &candidates) {
  std::string best = nearestName(name, candidates);
  return best.empty() ? "" : "did you mean `" + best + "`?";
}

} // namespace dbc::frontend
