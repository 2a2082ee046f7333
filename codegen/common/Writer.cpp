// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Where long lines are broken: at the outermost point that makes the line fit, as late as possible; what
// follows stands under the start of the innermost open bracket, or four columns in.
#include "codegen/common/Writer.h"
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

/// Where the arguments of the outermost call fit on a line of their own, they may go there.
bool findOuterBreak(StringRef text, size_t hanging, Break &best) {
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '(' && depth == 0 && text[i + 1] != ')') {
      best = {i + 1, hanging};
      return hanging + text.size() - best.at <= Writer::kColumns;
    }
    depth += StringRef("([{").contains(text[i]);
    depth -= StringRef(")]}").contains(text[i]);
  }
  return false;
}

/// Finds the best point to break `text`, whose first column is `column`; `hanging` is the column for a break
/// outside all brackets. Best is the outermost that leaves a rest which fits on one line, then the outermost.
bool findBreak(StringRef text, size_t column, size_t hanging, bool start, Break &best) {
  constexpr size_t kDeep = 3;
  SmallVector<size_t> open;
  size_t depths[2] = {~size_t(0), ~size_t(0)}; // of the best whose rest fits, of the best of all
  Break breaks[2];
  bool string = false;
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
    Break here = {i + 2, open.empty() ? hanging : open.back()};
    bool fits = here.column + text.size() - here.at <= Writer::kColumns;
    bool assigns = c == '=' && open.empty();
    if (assigns && (!fits || text.substr(here.at).starts_with("{")))
      continue;
    if (fits && depth <= depths[0])
      depths[0] = depth, breaks[0] = here;
    if (depth <= depths[1])
      depths[1] = depth, breaks[1] = here;
  }
  if (start && depths[0] > kDeep && findOuterBreak(text, hanging, best))
    return true;
  bool fits = depths[0] != ~size_t(0);
  best = breaks[fits ? 0 : 1];
  return fits || depths[1] != ~size_t(0);
}

} // namespace

void Writer::line(const Twine &twine) {
  SmallString<256> storage;
  StringRef text = twine.toStringRef(storage);
  size_t column = indent_, hanging = indent_ + 4;
  while (true) {
    Break at;
    if (column + text.size() <= kColumns || text.starts_with("//") ||
        !findBreak(text, column, hanging, column == indent_, at))
      break;
    text_.append(column, ' ');
    text_ += text.take_front(at.at).rtrim().str();
    text_ += '\n';
    text = text.drop_front(at.at);
    column = hanging = at.column;
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

std::string commas(const std::vector<std::string> &items) { return join(items, ", "); }

std::string shapeText(ArrayRef<int64_t> shape) {
  std::string out;
  for (int64_t extent : shape)
    out += (out.empty() ? "" : " x ") + std::to_string(extent);
  return out.empty() ? "scalar" : out;
}

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
