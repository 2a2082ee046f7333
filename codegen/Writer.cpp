// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Where long lines are broken: at the outermost place that makes the line fit, as late as possible; what
// follows stands under the start of the innermost open bracket, or four columns in.
#include "codegen/Writer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace dbc::codegen {

namespace {

struct Break {
  size_t at = 0;     ///< the rest starts here
  size_t column = 0; ///< where the rest is to stand, counted from the start of the line
};

/// Where all of the rest fits on a line of its own behind the outermost bracket, it goes there rather than
/// being broken deep inside.
bool findOuterBreak(StringRef text, size_t hanging, Break &best) {
  size_t open = text.find('(');
  if (open == StringRef::npos || open + 1 >= text.size() || text.take_front(open).contains('"'))
    return false;
  if (hanging + text.size() - open - 1 > Writer::kColumns)
    return false;
  best = {open + 1, hanging};
  return true;
}

/// Finds the best place to break `text`, whose first column is `column`; `limit` is the last column that
/// fits. `hanging` is the column for a break outside all brackets.
bool findBreak(StringRef text, size_t column, size_t hanging, Break &best) {
  constexpr size_t kDeep = 3;
  SmallVector<size_t> open;
  size_t bestDepth = ~size_t(0);
  bool found = false, string = false;
  for (size_t i = 0; i + 1 < text.size() && column + i < Writer::kColumns; ++i) {
    char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\'))
      string = !string;
    if (string)
      continue;
    if (c == '(' || c == '{' || c == '[') {
      open.push_back(column + i + 1);
      continue;
    }
    if ((c == ')' || c == '}' || c == ']') && !open.empty()) {
      open.pop_back();
      continue;
    }
    if (text[i + 1] != ' ')
      continue;
    bool comma = c == ',' || c == ';';
    bool operation = StringRef("+-*/%<>=&|?:").contains(c) && i > 0 && text[i - 1] == ' ';
    bool two = i > 1 && StringRef("<>=&|!+*-/").contains(text[i - 1]) && StringRef("=&|").contains(c) &&
               text[i - 2] == ' ';
    if (!comma && !operation && !two)
      continue;
    // Commas bind more loosely than operators inside the same brackets; outside of brackets `=` does.
    size_t depth = 2 * open.size() + (comma || c == '=' ? 0 : 1);
    if (depth > bestDepth)
      continue;
    bestDepth = depth;
    best = {i + 2, open.empty() ? hanging : open.back()};
    found = true;
  }
  Break outer;
  if (found && bestDepth > kDeep && findOuterBreak(text, hanging, outer))
    best = outer;
  return found;
}

} // namespace

void Writer::line(const Twine &twine) {
  SmallString<256> storage;
  StringRef text = twine.toStringRef(storage);
  size_t column = indent_;
  while (true) {
    Break at;
    if (column + text.size() <= kColumns || !findBreak(text, column, indent_ + 4, at))
      break;
    text_.append(column, ' ');
    text_ += text.take_front(at.at).rtrim().str();
    text_ += '\n';
    text = text.drop_front(at.at);
    column = at.column;
  }
  text_.append(text.empty() ? 0 : column, ' ');
  text_ += text.str();
  text_ += '\n';
}

void Writer::blank() {
  StringRef text = text_;
  if (text.empty() || text.ends_with("\n\n") || text.ends_with("{\n"))
    return;
  text_ += '\n';
}

void Writer::close(const Twine &end) {
  indent_ -= 2;
  line(end);
}

void Writer::otherwise(StringRef condition) {
  close("} else " + condition + "{");
  indent_ += 2;
}

void Writer::comment(const Twine &twine, StringRef mark) {
  SmallVector<StringRef> lines, words;
  std::string storage = twine.str();
  StringRef(storage).split(lines, '\n');
  for (StringRef whole : lines) {
    words.clear();
    whole.split(words, ' ', -1, /*KeepEmpty=*/true);
    std::string out = std::string(indent_, ' ') + mark.str();
    size_t start = out.size();
    for (StringRef word : words) {
      if (out.size() > start && out.size() + 1 + word.size() > kColumns) {
        text_ += out + '\n';
        out = std::string(indent_, ' ') + mark.str();
      }
      out += ' ' + word.str();
    }
    text_ += StringRef(out).rtrim().str() + '\n';
  }
}

void Writer::aligned(ArrayRef<std::pair<std::string, std::string>> lines) {
  size_t width = 0;
  for (const auto &[declaration, comment] : lines)
    if (!comment.empty())
      width = std::max(width, declaration.size());
  for (const auto &[declaration, comment] : lines) {
    text_.append(indent_, ' ');
    text_ += declaration;
    if (!comment.empty())
      text_ += std::string(width - declaration.size() + 1, ' ') + "///< " + comment;
    text_ += '\n';
  }
}

void Writer::function(const Twine &head, StringRef body) {
  std::string first = head.str();
  StringRef only = body.trim();
  if (body.count('\n') == 1 && !only.starts_with("//") && !only.starts_with("if (") &&
      !only.starts_with("for (") && indent_ + first.size() + only.size() + 5 <= kColumns)
    return line(first + " { " + only + " }");
  open(first);
  raw(body);
  close();
}

void Writer::label(StringRef text) {
  blank();
  text_.append(indent_ >= 2 ? indent_ - 2 : 0, ' ');
  text_ += text.str();
  text_ += '\n';
}

std::string commas(const std::vector<std::string> &parts) { return join(parts, ", "); }

std::string quoted(StringRef text) {
  std::string out;
  raw_string_ostream os(out);
  os << '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\')
      os << '\\' << c;
    else if (c == '\n')
      os << "\\n";
    else if (c < 32 || c == 127)
      os << format("\\%03o", c);
    else
      os << c;
  }
  os << '"';
  return out;
}

} // namespace dbc::codegen
