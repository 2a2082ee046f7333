// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/format/Format.h"

#include "frontend/format/Lines.h"
#include "frontend/syntax/Parse.h"

#include <algorithm>
#include <stdexcept>

namespace dbc::frontend {

using namespace layout;

namespace {

/// Writes lines as they were decided on.
class Writer {
public:
  Writer(const Text &text, const Lines &lines) : text_(text), lines_(lines) {}
  std::string write();

private:
  void separate(Piece piece, uint32_t indentation, bool space);

  const Text &text_;
  const Lines &lines_;
  std::string out_;
};

bool endsIn(const std::string &text, std::string_view characters) {
  return !text.empty() && characters.find(text.back()) != std::string_view::npos;
}

void Writer::separate(Piece piece, uint32_t indentation, bool space) {
  if (piece == Piece::Inline)
    out_.append(space, ' ');
  else
    out_.append(piece == Piece::Blank ? 2 : 1, '\n').append(indentation, ' ');
}

std::string Writer::write() {
  for (uint32_t i = 0; i < text_.tokens.size(); ++i) {
    const Token &token = text_.tokens[i];
    bool space = !out_.empty() && !endsIn(out_, "([");
    for (uint32_t k = text_.commentsBegin(i); k < text_.commentsEnd(i); ++k) {
      const Comment &comment = text_.comments[k];
      separate(comment.before, lines_.commentIndentation(i), space);
      out_ += comment.text;
      space = true;
    }
    const bool follows = token.text.find_first_of(")],;") == 0;
    separate(token.before, lines_.tokenIndentation(i), text_.hasComments(i) ? !follows : token.space);
    out_ += token.text;
  }
  return std::move(out_);
}

/// With the line ends of `source`: those of its first line.
std::string withLineEnds(const std::string &text, std::string_view source) {
  const size_t end = source.find('\n');
  if (end == std::string_view::npos || end == 0 || source[end - 1] != '\r')
    return text;
  std::string with;
  for (const char c : text)
    with.append(c == '\n' ? 1 : 0, '\r') += c;
  return with;
}

bool isSame(const Text &a, const Text &b) {
  return std::equal(a.tokens.begin(), a.tokens.end(), b.tokens.begin(), b.tokens.end(),
                    [](const Token &x, const Token &y) {
                      return x.type == y.type && x.text == y.text && x.comments == y.comments;
                    }) &&
         std::equal(a.comments.begin(), a.comments.end(), b.comments.begin(), b.comments.end(),
                    [](const Comment &x, const Comment &y) { return x.text == y.text; });
}

} // namespace

std::optional<std::string> format(uint32_t file, SourceManager &sources, DiagnosticEngine &diags) {
  std::optional<Text> text = readText(file, diags);
  if (!text)
    return std::nullopt;
  Lines lines(*text);
  lines.decide();
  const std::string out = withLineEnds(Writer(*text, lines).write(), sources.file(file).text());
  if (out.size() > kMaxFileBytes) {
    diags.error({file, 0, 0}, "formatted the file would have more than the " + std::to_string(kMaxFileBytes) +
                                  " bytes that a source file may have");
    return std::nullopt;
  }
  const uint32_t again = sources.add(sources.file(file).path(), out);
  DiagnosticEngine unexpected(sources);
  std::optional<Text> written = readText(again, unexpected);
  if (!written || !isSame(*text, *written))
    throw std::logic_error("formatting " + sources.file(file).path() + " changed what it says");
  return out;
}

} // namespace dbc::frontend
