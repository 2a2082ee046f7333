// From ANTLR's trees to tokens with their places.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/format/Text.h"

#include "frontend/syntax/ParseTree.h"

#include <algorithm>
#include <cassert>

namespace dbc::frontend::layout {

using antlr4::tree::ParseTree;
using antlr4::tree::TerminalNode;
using P = syntax::DynParser;

namespace {

class Reader {
public:
  explicit Reader(std::string_view source) : source_(source) {
    makeGroup(kNone, /*body=*/true);
    text_.groups[0].open = true;
  }

  void read(antlr4::ParserRuleContext &tree, const TokenRanges &ranges);
  Text finish();

private:
  /// Where in the tree a walk is.
  struct At {
    uint32_t group = 0;
    uint32_t construct = 0; ///< the token that what stands in the next braces is indented by
    uint32_t item = 0;      ///< the token that lines which go on are indented by
    uint32_t level = 0;
    uint32_t outer() const { return 2 * level; }     ///< the level of gaps that open brackets
    uint32_t inner() const { return 2 * level + 1; } ///< of those between operands and things in brackets
  };
  /// Brackets that a child of a rule opened.
  struct Brackets {
    uint32_t opener = kNone;
    bool body = false;
  };
  /// What the next token is to have.
  struct Next {
    LineBreak lineBreak = LineBreak::Never;
    uint32_t level = 0;
    uint32_t anchor = kNone; ///< kNone: what lines are indented by that go on
    uint32_t deeper = 1;
    bool closes = false, isOperator = false;
  };

  uint32_t count() const { return static_cast<uint32_t>(text_.tokens.size()); }
  void walk(ParseTree *node, At at);
  void children(antlr4::ParserRuleContext *ctx, At at, size_t from = 0);
  void cond(antlr4::ParserRuleContext *ctx, At at, uint32_t ring);
  void postfix(antlr4::ParserRuleContext *ctx, At at);
  void open(size_t type, bool isEmpty, Brackets &brackets, At &at);
  void close(const Brackets &brackets, At inside, At outside);
  uint32_t makeGroup(uint32_t parent, bool body);
  Token gapUpTo(uint32_t begin);
  void addToken(antlr4::Token *symbol, size_t rule, At at);
  bool isGlued(size_t type, size_t rule) const;

  Text text_;
  std::string_view source_;
  const TokenRanges *ranges_ = nullptr;
  Next next_;
  uint32_t end_ = 0;   ///< of the last token, in bytes
  bool unary_ = false; ///< the last token is an operator of one operand
};

bool isBinary(size_t rule) {
  return rule == P::RuleOrExpr || rule == P::RuleAndExpr || rule == P::RuleCmpExpr ||
         rule == P::RuleAddExpr || rule == P::RuleMulExpr;
}

/// Whether braces of a rule, or of a block in it, are indented by its first token.
bool isConstruct(size_t rule) {
  return rule == P::RuleFuncDecl || rule == P::RuleDataDecl || rule == P::RuleRecordDecl ||
         rule == P::RuleLayerDecl || rule == P::RuleMatchExpr || rule == P::RuleArm;
}

bool isOpener(size_t type) {
  return type == P::LPAREN || type == P::LBRACKET || type == P::LBRACE || type == P::LRECORD;
}
bool isCloser(size_t type) { return type == P::RPAREN || type == P::RBRACKET || type == P::RBRACE; }

/// Added to the level of what is left whole as long as anything else can be broken.
constexpr uint32_t kFar = 1u << 16;

bool isLastToBreak(size_t rule) {
  return rule == P::RulePattern || rule == P::RuleArmFields || rule == P::RuleType || rule == P::RuleDims;
}

size_t typeOf(ParseTree *node) {
  auto *leaf = dynamic_cast<TerminalNode *>(node);
  return leaf ? leaf->getSymbol()->getType() : size_t(antlr4::Token::INVALID_TYPE);
}

/// What line ends make of white space.
Piece pieceOf(std::string_view space) {
  const auto ends = std::count(space.begin(), space.end(), '\n');
  return ends == 0 ? Piece::Inline : ends == 1 ? Piece::Line : Piece::Blank;
}

/// A comment without what editors of other systems put at the ends of lines.
std::string commentText(std::string_view comment) {
  std::string text;
  for (const char c : comment) {
    while (c == '\n' && !text.empty() && text.back() == '\r')
      text.pop_back();
    text += c;
  }
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

} // namespace

void Reader::read(antlr4::ParserRuleContext &tree, const TokenRanges &ranges) {
  ranges_ = &ranges;
  if (count() == 0)
    end_ = static_cast<uint32_t>(source_.size() - ranges.text().size()); // behind a byte order mark
  text_.groups[0].gaps.push_back(count());
  next_.lineBreak = LineBreak::Item;
  At at;
  at.item = at.construct = count();
  walk(&tree, at);
}

Text Reader::finish() {
  text_.groups[0].gaps.push_back(count());
  next_.lineBreak = LineBreak::Item;
  next_.closes = true;
  Token end = gapUpTo(static_cast<uint32_t>(source_.size()));
  end.type = antlr4::Token::EOF;
  text_.tokens.push_back(end);
  return std::move(text_);
}

void Reader::walk(ParseTree *node, At at) {
  auto *ctx = dynamic_cast<antlr4::ParserRuleContext *>(node);
  assert(ctx && "tokens are added where they stand");
  const size_t rule = ctx->getRuleIndex();
  at.level += isLastToBreak(rule) ? kFar : 1;
  if (rule == P::RuleCond)
    return cond(ctx, at, kNone);
  if (rule == P::RulePostfix)
    return postfix(ctx, at);
  if (isConstruct(rule))
    at.construct = count();
  children(ctx, at);
}

/// What stands in a rule from a child on, be it in brackets or not.
void Reader::children(antlr4::ParserRuleContext *ctx, At at, size_t from) {
  const size_t rule = ctx->getRuleIndex(), size = ctx->children.size();
  const At outside = at;
  Brackets brackets;
  for (size_t i = from; i < size; ++i) {
    auto *leaf = dynamic_cast<TerminalNode *>(ctx->children[i]);
    if (!leaf) {
      if (brackets.body) { // each thing begins a line
        text_.groups[at.group].gaps.push_back(count());
        next_ = {LineBreak::Item, outside.outer() - 1, outside.construct, 1};
        at.item = at.construct = count();
      }
      walk(ctx->children[i], at);
      continue;
    }
    const size_t type = leaf->getSymbol()->getType();
    const bool isLast = i + 1 == size || isCloser(typeOf(ctx->children[i + 1]));
    const bool isClosed = brackets.opener != kNone && isCloser(type);
    if (isClosed)
      close(brackets, at, outside);
    else if (isBinary(rule))
      next_ = {LineBreak::Wrap, at.inner(), at.item, 1, /*closes=*/false, /*isOperator=*/true};
    else if ((type == P::IF && rule == P::RuleBinderHead) || type == P::WHILE)
      next_ = {LineBreak::Wrap, at.inner(), at.item, 1};
    addToken(leaf->getSymbol(), rule, at);
    if (isClosed) {
      at = outside;
      brackets = Brackets();
    } else if (isOpener(type)) {
      open(type, isLast, brackets, at);
    } else if (!isLast && (type == P::COMMA || type == P::SEMI)) {
      const bool isInside = brackets.opener != kNone;
      next_ = {LineBreak::Wrap, at.inner(), isInside ? brackets.opener : at.item, 1};
      if (isInside)
        at.item = count();
    } else if (!isLast && (type == P::EQ || type == P::FATARROW) &&
               !dynamic_cast<P::BlockContext *>(ctx->children[i + 1])) {
      next_ = {LineBreak::Kept, 0, at.item, 1};
      at.item = count();
    }
  }
}

/// Behind an opening bracket.
void Reader::open(size_t type, bool isEmpty, Brackets &brackets, At &at) {
  brackets = {count() - 1, type == P::LBRACE};
  at.group = makeGroup(at.group, brackets.body);
  if (brackets.body || isEmpty)
    return; // things of a body are seen to one by one
  text_.groups[at.group].gaps.push_back(count());
  next_ = {LineBreak::Item, at.outer(), brackets.opener, 1};
  at.item = count();
}

/// Before a closing bracket.
void Reader::close(const Brackets &brackets, At inside, At outside) {
  Group &group = text_.groups[inside.group];
  const LineBreak lineBreak = group.gaps.empty() ? LineBreak::Never : LineBreak::Item;
  if (lineBreak == LineBreak::Item)
    group.gaps.push_back(count());
  group.size = count() - brackets.opener;
  next_ = {lineBreak, 0, brackets.body ? outside.construct : brackets.opener, 0, /*closes=*/true};
}

/// `if`, and the `else if`s behind it as well, whose bodies are one ring.
void Reader::cond(antlr4::ParserRuleContext *ctx, At at, uint32_t ring) {
  const uint32_t item = at.item;
  at.construct = count();
  for (ParseTree *child : ctx->children) {
    if (auto *leaf = dynamic_cast<TerminalNode *>(child)) {
      if (leaf->getSymbol()->getType() == P::ELSE)
        next_ = {LineBreak::Never, 0, at.construct, 0};
      addToken(leaf->getSymbol(), P::RuleCond, at);
    } else if (auto *chained = dynamic_cast<P::CondContext *>(child)) {
      at.item = at.construct;
      cond(chained, at, ring);
    } else if (dynamic_cast<P::BlockContext *>(child)) {
      const uint32_t body = static_cast<uint32_t>(text_.groups.size());
      walk(child, at);
      if (ring == kNone)
        ring = text_.groups[body].next = body;
      text_.groups[body].next = text_.groups[ring].next;
      text_.groups[ring].next = body;
    } else {
      next_ = {LineBreak::Never, 0, item, 1};
      at.item = count();
      walk(child, at);
      at.item = item;
    }
  }
}

void Reader::postfix(antlr4::ParserRuleContext *ctx, At at) {
  auto *head = dynamic_cast<P::BinderHeadContext *>(ctx->children[0]);
  if (!head)
    return children(ctx, at);
  At inner = at;
  inner.construct = count();
  walk(head, inner);
  if (!dynamic_cast<P::BlockContext *>(ctx->children[1])) {
    next_ = {LineBreak::Kept, 0, at.item, 1};
    inner.item = count();
    --inner.level; // its brackets are as near as the binder's
  }
  walk(ctx->children[1], inner);
  children(ctx, at, 2);
}

uint32_t Reader::makeGroup(uint32_t parent, bool body) {
  Group group;
  group.body = body;
  group.parent = parent;
  text_.groups.push_back(std::move(group));
  return static_cast<uint32_t>(text_.groups.size() - 1);
}

//===--------------------------------------------------------------------===//
// Tokens and comments
//===--------------------------------------------------------------------===//

/// A token without text, that begins at `begin`, with its gap.
Token Reader::gapUpTo(uint32_t begin) {
  Token token;
  token.comments = static_cast<uint32_t>(text_.comments.size());
  uint32_t at = end_;
  for (size_t slash; (slash = source_.substr(0, begin).find('/', at)) < begin;) {
    const bool toLineEnd = source_[slash + 1] == '/';
    size_t end = toLineEnd ? source_.find('\n', slash) : source_.find("*/", slash + 2) + 2;
    end = std::min(end, source_.size());
    text_.comments.push_back(
        {commentText(source_.substr(slash, end - slash)), pieceOf(source_.substr(at, slash - at))});
    at = static_cast<uint32_t>(end);
  }
  token.before = pieceOf(source_.substr(at, begin - at));
  token.lineBreak = next_.lineBreak;
  token.closes = next_.closes;
  token.isOperator = next_.isOperator;
  token.level = next_.level;
  token.anchor = next_.anchor;
  token.deeper = next_.deeper;
  next_ = Next();
  return token;
}

void Reader::addToken(antlr4::Token *symbol, size_t rule, At at) {
  const SourceRange range = ranges_->of(symbol);
  if (next_.anchor == kNone && next_.lineBreak != LineBreak::Item)
    next_.anchor = at.item;
  Token token = gapUpTo(range.begin);
  token.type = symbol->getType();
  token.text = source_.substr(range.begin, range.end - range.begin);
  token.space = !isGlued(token.type, rule);
  token.group = at.group;
  text_.tokens.push_back(token);
  unary_ = rule == P::RuleUnary;
  end_ = range.end;
}

/// Whether a token follows the last one without a space.
bool Reader::isGlued(size_t type, size_t rule) const {
  const size_t before = text_.tokens.empty() ? size_t(P::LPAREN) : text_.tokens.back().type;
  if (before == P::LPAREN || before == P::LBRACKET || before == P::DOT || before == P::DOTDOT || unary_)
    return true;
  if (before == P::COMMA && type == P::DOTDOT)
    return false;
  switch (type) {
  case P::RPAREN:
  case P::RBRACKET:
  case P::COMMA:
  case P::SEMI:
  case P::COLON:
  case P::DOT:
  case P::DOTDOT:
    return true;
  case P::RBRACE:
    return before == P::LBRACE;
  case P::LPAREN:
    return rule == P::RuleTrailer || rule == P::RuleArgs || rule == P::RuleFields ||
           rule == P::RuleArmFields || rule == P::RuleBinderHead;
  case P::LBRACKET:
    return rule == P::RuleTrailer || rule == P::RuleExtents || rule == P::RuleDims;
  default:
    return false;
  }
}

std::optional<Text> readText(uint32_t file, DiagnosticEngine &diags) {
  Reader reader(diags.sources().file(file).text());
  if (!parseFile(file, diags, [&](auto &tree, const TokenRanges &ranges) { reader.read(tree, ranges); }))
    return std::nullopt;
  return reader.finish();
}

} // namespace dbc::frontend::layout
