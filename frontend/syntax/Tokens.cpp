// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Tokens.h"

#include "frontend/syntax/Parse.h"

#include <algorithm>
#include <cstdio>

namespace dbc::frontend {

using antlr4::Token;
using syntax::DynParser;

static constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

//===--------------------------------------------------------------------===//
// TokenRanges
//===--------------------------------------------------------------------===//

TokenRanges::TokenRanges(uint32_t file, const SourceFile &source)
    : file_(file), skipped_(0), text_(source.text()) {
  if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    skipped_ = kByteOrderMark.size();
    text_.remove_prefix(skipped_);
  }
  auto continues = [](char c) { return (c & 0xC0) == 0x80; };
  if (std::none_of(text_.begin(), text_.end(), continues))
    return;
  for (uint32_t i = 0; i < text_.size(); ++i)
    if (!continues(text_[i]))
      bytes_.push_back(i);
  bytes_.push_back(static_cast<uint32_t>(text_.size()));
}

uint32_t TokenRanges::byte(size_t codePoint) const {
  size_t inText =
      bytes_.empty() ? std::min(codePoint, text_.size()) : bytes_[std::min(codePoint, bytes_.size() - 1)];
  return skipped_ + static_cast<uint32_t>(inText);
}

SourceRange TokenRanges::of(Token *token) const {
  if (token->getType() == Token::EOF)
    return {file_, byte(text_.size()), byte(text_.size())};
  return {file_, byte(token->getStartIndex()), byte(token->getStopIndex() + 1)};
}

//===--------------------------------------------------------------------===//
// Before the lexer
//===--------------------------------------------------------------------===//

std::string lexerText(std::string_view text) {
  constexpr char foreign = '\x01';
  std::string result;
  result.reserve(text.size());
  for (char c : text)
    if ((c & 0x80) == 0)
      result += c;
    else if ((c & 0xC0) != 0x80) // the first byte of its character
      result += foreign;
  return result;
}

/// Length of the UTF-8 sequence at the start of `text`; 0 if it is none (overlong, a surrogate, cut off).
static size_t utf8Length(std::string_view text) {
  unsigned char c = text[0];
  if (c < 0x80)
    return 1;
  size_t length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
  if (c < 0xC2 || c > 0xF4 || text.size() < length)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xC0) != 0x80)
      return 0;
  unsigned char second = text[1];
  bool wrong = (c == 0xE0 && second < 0xA0) || (c == 0xED && second > 0x9F) || (c == 0xF0 && second < 0x90) ||
               (c == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

static bool checkUtf8(uint32_t file, std::string_view text, DiagnosticEngine &diags) {
  for (size_t i = 0; i < text.size();) {
    size_t length = utf8Length(text.substr(i));
    if (length == 0) {
      char hex[8];
      std::snprintf(hex, sizeof hex, "0x%02X", static_cast<unsigned char>(text[i]));
      uint32_t at = static_cast<uint32_t>(i);
      diags
          .error({file, at, at + 1}, "the byte " + std::string(hex) + " at offset " + std::to_string(i) +
                                         " is not UTF-8; source files are written in UTF-8")
          .hint("convert the file, for example with `iconv -f latin1 -t utf-8`");
      return false;
    }
    i += length;
  }
  return true;
}

/// The language has no strings, so that `/*` opens a comment wherever it stands outside of one.
static bool checkComments(uint32_t file, std::string_view text, DiagnosticEngine &diags) {
  for (size_t i = text.find('/'); i < text.size(); i = text.find('/', i)) {
    size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = text.find('\n', i);
    } else if (text.substr(i, 2) == "/*") {
      end = text.find("*/", i + 2);
      if (end == std::string_view::npos) {
        uint32_t at = static_cast<uint32_t>(i);
        diags.error({file, at, at + 2}, "the comment that begins here is not closed; `/*` goes up to `*/`");
        return false;
      }
      end += 2;
    }
    i = std::min(end, text.size());
  }
  return true;
}

bool checkText(uint32_t file, DiagnosticEngine &diags) {
  const std::string &text = diags.sources().file(file).text();
  if (text.size() > kMaxFileBytes) {
    diags
        .error({file, 0, 0}, "the file has more than the " + std::to_string(kMaxFileBytes) +
                                 " bytes that a source file may have")
        .hint("split it into modules");
    return false;
  }
  return checkUtf8(file, text, diags) && checkComments(file, text, diags);
}

//===--------------------------------------------------------------------===//
// Between lexer and parser
//===--------------------------------------------------------------------===//

bool beginsDeclaration(size_t type) {
  switch (type) {
  case DynParser::DIM:
  case DynParser::CONST:
  case DynParser::PARAM:
  case DynParser::DATA:
  case DynParser::RECORD:
  case DynParser::LAYER:
  case DynParser::FN:
  case DynParser::CELL:
  case DynParser::ENTRY:
  case DynParser::LOSS:
    return true;
  default:
    return false;
  }
}

bool isReservedWord(size_t type) { return type >= DynParser::MODEL && type <= DynParser::FALSE; }

namespace {

class TokenChecker {
public:
  TokenChecker(const std::vector<Token *> &tokens, const TokenRanges &ranges, DiagnosticEngine &diags)
      : tokens_(tokens), ranges_(ranges), diags_(diags) {}

  bool checkCharacters();
  bool checkNumbers();
  bool checkDepth();
  void mark();

private:
  size_t type(size_t i) const { return i < tokens_.size() ? tokens_[i]->getType() : Token::EOF; }
  bool adjacent(size_t i) const { // token i + 1 follows at once
    return i + 1 < tokens_.size() && tokens_[i]->getStopIndex() + 1 == tokens_[i + 1]->getStartIndex();
  }
  std::string text(SourceRange range) const { return std::string(diags_.sources().text(range)); }
  bool opensBinder(size_t i) const;
  /// Whether what begins with token i can follow a type, not an expression.
  bool endsType(size_t i) const {
    switch (type(i)) {
    case DynParser::COMMA:
    case DynParser::SEMI:
    case DynParser::RPAREN:
    case DynParser::RBRACKET:
    case DynParser::EQ:
    case DynParser::LBRACE:
    case Token::EOF:
      return true;
    default:
      return false;
    }
  }

  const std::vector<Token *> &tokens_;
  const TokenRanges &ranges_;
  DiagnosticEngine &diags_;
};

bool TokenChecker::checkCharacters() {
  bool fine = true;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    if (type(i) != DynParser::UNKNOWN)
      continue;
    size_t last = i; // a run of them is one mistake
    while (type(last + 1) == DynParser::UNKNOWN && adjacent(last))
      ++last;
    SourceRange range = ranges_.of(tokens_[i], tokens_[last]);
    std::string shown = text(range);
    bool printable = std::none_of(shown.begin(), shown.end(),
                                  [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
    Diagnostic &d = diags_.error(range, (printable && shown.size() <= 40 ? "`" + shown + "`" : "this") +
                                            " is no part of the language");
    switch (shown[0]) {
    case '&':
      d.hint("`and` of two bools is written `&&`");
      break;
    case '|':
      d.hint("`or` of two bools is written `||`");
      break;
    case '"':
    case '\'':
      d.hint("there are no strings and characters");
      break;
    case '#':
      d.hint("comments begin with `//`");
      break;
    case '?':
      d.hint(endsType(last + 1) ? "what may be absent is a list of none or one"
                                : "write `if c { a } else { b }`; elementwise it is `select(c, a, b)`");
      break;
    case '^':
      d.hint("powers are written `pow(x, y)`");
      break;
    }
    fine = false;
    i = last;
  }
  return fine;
}

bool TokenChecker::checkNumbers() {
  bool fine = true;
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (!adjacent(i))
      continue;
    SourceRange both = ranges_.of(tokens_[i], tokens_[i + 1]);
    if (type(i) == DynParser::NUMBER && type(i + 1) != DynParser::DOT && type(i + 1) != DynParser::NUMBER) {
      if (type(i + 1) != DynParser::ID && type(i + 1) != DynParser::UNDERSCORE &&
          !isReservedWord(type(i + 1)))
        continue;
      diags_.error(both, "`" + text(both) + "` is neither a number nor a name");
    } else if (type(i) == DynParser::NUMBER && type(i + 1) == DynParser::DOT) {
      diags_.error(both, "`" + text(both) + "` is not a number; digits stand on both sides of the point");
    } else if (type(i) == DynParser::DOT && type(i + 1) == DynParser::NUMBER &&
               (i == 0 || !adjacent(i - 1) ||
                (type(i - 1) != DynParser::ID && type(i - 1) != DynParser::RPAREN))) {
      diags_.error(both, "`" + text(both) + "` is not a number; digits stand on both sides of the point");
    } else {
      continue;
    }
    fine = false;
    ++i;
  }
  return fine;
}

/// Neither the parser nor any later walk over the tree may meet more nesting than kMaxBrackets and kMaxDepth.
/// How deep the tree of an expression becomes is bounded from its tokens: every token that may add a level
/// counts until a `,` `;` `=>` or a declaration begins something new, and what stands in brackets counts as
/// deep as it is.
bool TokenChecker::checkDepth() {
  struct Level {
    unsigned here = 0;    // tokens that nest, since the last separator
    unsigned inside = 0;  // the deepest bracket since then
    unsigned deepest = 0; // of what stands between earlier separators
    unsigned now() const { return here + inside; }
    void next() {
      deepest = std::max(deepest, now());
      here = inside = 0;
    }
  };
  std::vector<Level> levels(1);
  for (Token *token : tokens_) {
    switch (token->getType()) {
    case DynParser::ID:
    case DynParser::NUMBER:
    case DynParser::UNDERSCORE:
    case DynParser::COLON:
    case DynParser::EQ:
      break;
    case DynParser::COMMA:
    case DynParser::SEMI:
    case DynParser::FATARROW:
      levels.back().next();
      break;
    case DynParser::LPAREN:
    case DynParser::LBRACKET:
    case DynParser::LBRACE:
      ++levels.back().here;
      if (levels.size() > kMaxBrackets) {
        diags_
            .error(ranges_.of(token), "more than " + std::to_string(kMaxBrackets) + " brackets are open here")
            .hint("give names to subexpressions with `let`");
        return false;
      }
      levels.emplace_back();
      break;
    case DynParser::RPAREN:
    case DynParser::RBRACKET:
    case DynParser::RBRACE:
      if (levels.size() > 1) {
        levels.back().next();
        unsigned deep = levels.back().deepest;
        levels.pop_back();
        levels.back().inside = std::max(levels.back().inside, deep);
      }
      break;
    default:
      if (beginsDeclaration(token->getType()))
        levels.back().next();
      ++levels.back().here;
    }
    if (levels.back().now() > kMaxDepth) {
      diags_
          .error(ranges_.of(token),
                 "more than " + std::to_string(kMaxDepth) +
                     " operators, calls and brackets follow one another or lie inside one another up to here")
          .hint("give names to subexpressions with `let`");
      return false;
    }
  }
  return true;
}

/// Whether `(` behind token i is followed by a pattern and `in`. Only tokens that patterns are made of are
/// passed, so that a mistake in the pattern is still a mistake in a binder.
bool TokenChecker::opensBinder(size_t i) const {
  unsigned depth = 0;
  for (size_t k = i + 1;; ++k) {
    switch (type(k)) {
    case DynParser::LPAREN:
      if (k > i + 1 && type(k - 1) == DynParser::ID)
        return false; // a call
      ++depth;
      break;
    case DynParser::RPAREN:
      if (--depth == 0)
        return false;
      break;
    case DynParser::ID:
    case DynParser::UNDERSCORE:
    case DynParser::COMMA:
      break;
    case DynParser::IN:
      return depth == 1;
    default:
      return false;
    }
  }
}

void TokenChecker::mark() {
  auto retype = [&](size_t i, size_t type) { static_cast<antlr4::CommonToken *>(tokens_[i])->setType(type); };
  size_t before = Token::EOF;
  for (size_t i = 0; i < tokens_.size(); ++i) {
    size_t here = type(i);
    // `fn f(t in ..` declares a parameter.
    bool declared = before == DynParser::FN || before == DynParser::CELL || before == DynParser::ENTRY ||
                    before == DynParser::LOSS;
    if (here == DynParser::ID && type(i + 1) == DynParser::LPAREN && !declared && opensBinder(i))
      retype(i, DynParser::BINDER);
    else if (here == DynParser::LBRACE && type(i + 1) == DynParser::ID && type(i + 2) == DynParser::EQ)
      retype(i, DynParser::LRECORD);
    before = here;
  }
}

} // namespace

bool prepareTokens(const std::vector<Token *> &tokens, const TokenRanges &ranges, DiagnosticEngine &diags) {
  TokenChecker checker(tokens, ranges, diags);
  bool characters = checker.checkCharacters();
  bool numbers = checker.checkNumbers();
  if (!characters || !numbers || !checker.checkDepth())
    return false;
  checker.mark();
  return true;
}

} // namespace dbc::frontend
