// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "lsp/CompletionContext.h"

#include "lsp/Words.h"
#include <algorithm>

namespace dbc::lsp {

namespace {

/// The tokens of a text's beginning. Numbers and names are one token each, `..` and `=>` too. ANTLR's lexer
/// is of no use here: it skips comments, and so does not say whether the text ends in one; it counts code
/// points; and it is private to frontend/syntax.
class Tokens {
public:
  explicit Tokens(std::string_view text) : text_(text) {
    while (at_ < text.size())
      read();
  }

  size_t size() const { return tokens_.size(); }
  /// "" before the first one.
  std::string_view operator[](size_t i) const { return i < tokens_.size() ? tokens_[i] : ""; }
  /// The one before `i`, or "".
  std::string_view before(size_t i) const { return i == 0 ? "" : tokens_[i - 1]; }
  bool endsInComment() const { return inComment_; }
  static bool isName(std::string_view token) { return lsp::isName(token) && !isReserved(token); }

  /// The bracket that the one before `end` closes; nothing if it closes none.
  std::optional<size_t> opening(size_t end) const;
  /// Whether there is a `..` directly between the brackets at `opening` and before `end`.
  bool isSlice(size_t opening, size_t end) const;
  /// The innermost bracket that is open before `end`.
  std::optional<size_t> open(size_t end) const;

private:
  void read();

  std::string_view text_;
  size_t at_ = 0;
  std::vector<std::string_view> tokens_;
  bool inComment_ = false;
};

void Tokens::read() {
  const size_t begin = at_;
  const std::string_view rest = text_.substr(begin);
  auto take = [&](size_t size) {
    tokens_.push_back(rest.substr(0, size));
    at_ += size;
  };
  if (rest.substr(0, 2) == "//" || rest.substr(0, 2) == "/*") {
    const bool isLine = rest[1] == '/';
    const size_t end = rest.find(isLine ? "\n" : "*/", 2);
    inComment_ = end == std::string_view::npos;
    at_ = inComment_ ? text_.size() : begin + end + (isLine ? 1 : 2);
  } else if (isspace(static_cast<unsigned char>(rest[0]))) {
    ++at_;
  } else if (isNameCharacter(rest[0])) {
    const bool isNumber = isDigit(rest[0]);
    size_t size = 1;
    while (size < rest.size() &&
           (isNameCharacter(rest[size]) ||
            // `0.5`, but not `0..n`.
            (isNumber && rest[size] == '.' && size + 1 < rest.size() && isDigit(rest[size + 1]))))
      ++size;
    take(size);
  } else {
    take(rest.substr(0, 2) == ".." || rest.substr(0, 2) == "=>" ? 2 : 1);
  }
}

bool opens(std::string_view token) { return token == "(" || token == "[" || token == "{"; }
bool closes(std::string_view token) { return token == ")" || token == "]" || token == "}"; }

std::optional<size_t> Tokens::opening(size_t end) const {
  size_t depth = 0;
  for (size_t i = end; i-- > 0;) {
    depth += closes(tokens_[i]);
    if (opens(tokens_[i]) && --depth == 0)
      return i;
    if (depth == 0)
      break;
  }
  return std::nullopt;
}

bool Tokens::isSlice(size_t opening, size_t end) const {
  size_t depth = 0;
  for (size_t i = opening + 1; i + 1 < end; ++i) {
    depth += opens(tokens_[i]);
    depth -= closes(tokens_[i]);
    if (depth == 0 && tokens_[i] == "..")
      return true;
  }
  return false;
}

std::optional<size_t> Tokens::open(size_t end) const {
  size_t depth = 0;
  for (size_t i = end; i-- > 0;) {
    if (closes(tokens_[i]))
      ++depth;
    else if (opens(tokens_[i]) && depth-- == 0)
      return i;
  }
  return std::nullopt;
}

/// The chain that ends before `end`, and where it begins.
std::optional<Chain> chainBefore(const Tokens &tokens, size_t end, size_t *begin = nullptr) {
  Chain chain;
  while (true) {
    const std::string_view last = tokens.before(end);
    if (last == ")" || last == "]") {
      std::optional<size_t> opening = tokens.opening(end);
      const std::string_view owner = opening ? tokens.before(*opening) : "";
      if (!Tokens::isName(owner) && owner != ")" && owner != "]")
        return std::nullopt;
      if (last == ")" || !tokens.isSlice(*opening, end))
        chain.links.push_back({last == ")" ? Chain::Step::Call : Chain::Step::Element, ""});
      end = *opening;
      continue;
    }
    if (!Tokens::isName(last))
      return std::nullopt;
    --end;
    const bool isMember = tokens.before(end) == ".";
    chain.links.push_back({isMember ? Chain::Step::Member : Chain::Step::Name, std::string(last)});
    if (!isMember)
      break;
    --end;
  }
  std::reverse(chain.links.begin(), chain.links.end());
  if (begin)
    *begin = end;
  return chain;
}

/// Whether a `{` is that of a match: then what it matches, as far as it is a chain.
bool isMatch(const Tokens &tokens, size_t brace, std::optional<Chain> &subject) {
  size_t begin = 0;
  subject = chainBefore(tokens, brace, &begin);
  if (subject && tokens.before(begin) == "match")
    return true;
  subject = std::nullopt;
  for (size_t i = brace; i > 0;) {
    const std::string_view token = tokens[i - 1];
    if (token == "match")
      return true;
    if (token == ")" || token == "]") {
      std::optional<size_t> opening = tokens.opening(i);
      if (!opening)
        return false;
      i = *opening;
      continue;
    }
    if (opens(token) || closes(token) || token == ";" || token == "," || token == "=>")
      return false;
    --i;
  }
  return false;
}

bool isLayer(const Tokens &tokens, size_t brace) {
  size_t end = brace;
  if (tokens.before(end) == "]")
    end = tokens.opening(end).value_or(0);
  return end >= 2 && tokens[end - 2] == "layer";
}

/// `import a.`: the folders; nothing if the last tokens are no import.
std::optional<std::vector<std::string>> importBefore(const Tokens &tokens) {
  std::vector<std::string> path;
  size_t end = tokens.size();
  while (tokens.before(end) == "." && Tokens::isName(tokens.before(end - 1))) {
    path.insert(path.begin(), std::string(tokens.before(end - 1)));
    end -= 2;
  }
  if (tokens.before(end) != "import")
    return std::nullopt;
  return path;
}

} // namespace

/// What an open bracket says about the word behind it.
static void lookAround(const Tokens &tokens, size_t opening, CompletionContext &context) {
  using Kind = CompletionContext::Kind;
  const std::string_view last = tokens.before(tokens.size());
  const bool isFirst = tokens.size() == opening + 1;
  if (tokens[opening] == "{") {
    std::optional<Chain> subject;
    if (isMatch(tokens, opening, subject)) {
      if (isFirst || last == "," || last == "}") {
        context.kind = Kind::Arm;
        context.base = subject;
      }
    } else if (isLayer(tokens, opening)) {
      context.kind = Kind::LayerMember;
    } else if (isFirst || last == ",") {
      context.record = chainBefore(tokens, opening);
    }
    return;
  }
  std::optional<size_t> outer = tokens.open(opening);
  std::optional<Chain> subject;
  if (tokens[opening] != "(" || !outer || tokens[*outer] != "{" || opening == 0 ||
      !Tokens::isName(tokens[opening - 1]) || !isMatch(tokens, *outer, subject))
    return;
  const std::string_view before = tokens.before(opening - 1);
  const bool beginsArm = before == "{" || before == "," || before == "}";
  if (!beginsArm || !(isFirst || last == ","))
    return;
  context.kind = Kind::ArmField;
  context.base = subject;
  context.constructor = std::string(tokens[opening - 1]);
}

CompletionContext contextAt(std::string_view text, uint32_t offset) {
  using Kind = CompletionContext::Kind;
  CompletionContext context;
  uint32_t begin = offset;
  while (begin > 0 && isNameCharacter(text[begin - 1]))
    --begin;
  context.begin = begin;
  const Tokens tokens(text.substr(0, begin));
  const bool isNumber = begin < offset && isDigit(text[begin]);
  if (tokens.endsInComment() || isNumber) {
    context.kind = Kind::None;
    return context;
  }
  if (std::optional<std::vector<std::string>> path = importBefore(tokens)) {
    context.kind = Kind::Import;
    context.path = *path;
    return context;
  }
  if (tokens.before(tokens.size()) == ".") {
    context.kind = Kind::Member;
    context.base = chainBefore(tokens, tokens.size() - 1);
    return context;
  }
  std::optional<size_t> opening = tokens.open(tokens.size());
  if (!opening)
    context.kind =
        tokens.size() == 0 || tokens.before(tokens.size()) == ";" || tokens.before(tokens.size()) == "}"
            ? Kind::Declaration
            : Kind::Expression;
  else
    lookAround(tokens, *opening, context);
  return context;
}

} // namespace dbc::lsp
