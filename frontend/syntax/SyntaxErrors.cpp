// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/SyntaxErrors.h"

#include <algorithm>
#include <utility>

namespace dbc::frontend {

using antlr4::ParserRuleContext;
using antlr4::Token;
using syntax::DynParser;
using Tree = antlr4::tree::ParseTree;

namespace {

ParserRuleContext *asRule(Tree *tree) { return dynamic_cast<ParserRuleContext *>(tree); }

/// Type of the token if the node is one, else 0.
size_t tokenType(Tree *tree) {
  auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(tree);
  return leaf ? leaf->getSymbol()->getType() : 0;
}

/// Finds out what to say about one wrong token.
class Report {
public:
  Report(DynParser &parser, Token *found, const TokenRanges &ranges, DiagnosticEngine &diags)
      : found_(found), ranges_(ranges), diags_(diags), vocabulary_(parser.getVocabulary()),
        expected_(parser.getExpectedTokens()), ctx_(parser.getContext()) {
    if (!ctx_->children.empty())
      last_ = ctx_->children.back();
    // What was read before the wrong token: the last finished phrase, in this rule or in the nearest around
    // it that has one.
    auto *inner = ctx_;
    before_ = last_;
    while (!before_) {
      outer_ = asRule(inner->parent);
      if (!outer_)
        break;
      const auto &siblings = outer_->children;
      if (siblings.size() > 1)
        before_ = siblings[siblings.size() - 2];
      inner = outer_;
    }
    if (!outer_)
      outer_ = ctx_;
    size_t index = found_->getTokenIndex();
    beforeToken_ = index > 0 ? parser.getTokenStream()->get(index - 1) : nullptr;
    auto next = [&](Token *token) {
      return !token || token->getType() == Token::EOF
                 ? nullptr
                 : parser.getTokenStream()->get(token->getTokenIndex() + 1);
    };
    following_ = next(found_);
    afterFollowing_ = next(following_);
  }

  void give();

private:
  size_t rule() const { return ctx_->getRuleIndex(); }
  /// The rule that the phrase before the wrong token belongs to.
  size_t outerRule() const { return outer_->getRuleIndex(); }
  bool expects(size_t type) const { return expected_.contains(type); }
  bool followsArgs() const {
    auto *phrase = asRule(before_);
    return phrase && phrase->getRuleIndex() == DynParser::RuleArgs;
  }
  bool found(size_t type) const { return found_->getType() == type; }
  std::string text(Token *token) const { return std::string(diags_.sources().text(ranges_.of(token))); }

  std::string expectedText() const;
  std::string closerText(size_t closer) const;
  std::string afterText() const;
  bool endsType() const;
  std::string hintText() const;
  std::string wordHint() const;
  bool wantsName() const;
  void noteOpener(Diagnostic &d) const;

  Token *found_;
  const TokenRanges &ranges_;
  DiagnosticEngine &diags_;
  const antlr4::dfa::Vocabulary &vocabulary_;
  antlr4::misc::IntervalSet expected_;
  ParserRuleContext *ctx_;
  ParserRuleContext *outer_ = nullptr;
  Tree *last_ = nullptr;   // of ctx_
  Tree *before_ = nullptr; // see above
  Token *beforeToken_;
  Token *following_, *afterFollowing_; // null behind the end
};

const char *spelling(size_t type) {
  switch (type) {
  case DynParser::ID:
  case DynParser::BINDER:
    return "a name";
  case DynParser::NUMBER:
    return "a number";
  case DynParser::LRECORD:
  case DynParser::LBRACE:
    return "`{`";
  case DynParser::UNDERSCORE:
    return "`_`";
  case Token::EOF:
    return "the end of the file";
  default:
    return nullptr;
  }
}

/// "`a`, `b` or `c`".
std::string join(const std::vector<std::string> &words) {
  std::string all;
  for (size_t i = 0; i < words.size(); ++i)
    all += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return all;
}

/// What the lists of a rule are made of.
const char *itemOf(size_t rule) {
  switch (rule) {
  case DynParser::RuleArgs:
    return "a parameter";
  case DynParser::RuleFields:
  case DynParser::RuleRecordDecl:
    return "a field";
  case DynParser::RuleTrailer:
    return "an argument";
  case DynParser::RuleExtents:
    return "an extent";
  case DynParser::RuleType:
    return "a type";
  case DynParser::RulePattern:
    return "a pattern";
  case DynParser::RulePrimary:
    return "an expression";
  case DynParser::RuleArmFields:
  case DynParser::RuleDims:
    return "a name";
  case DynParser::RuleDataDecl:
    return "a constructor";
  case DynParser::RuleMatchExpr:
    return "an arm";
  case DynParser::RuleBinderHead:
    return "a state";
  default:
    return nullptr;
  }
}

/// What a finished phrase is called in "after ..".
const char *nounOf(size_t rule) {
  switch (rule) {
  case DynParser::RuleImportPath:
    return "the module's name";
  case DynParser::RuleDimItem:
    return "the dim";
  case DynParser::RuleParamItem:
  case DynParser::RuleArg:
    return "the parameter";
  case DynParser::RuleConstructor:
    return "the constructor";
  case DynParser::RuleFields:
    return "the fields";
  case DynParser::RuleField:
  case DynParser::RuleRecordField:
  case DynParser::RuleFieldInit:
    return "the field";
  case DynParser::RuleDims:
    return "the dims";
  case DynParser::RuleArgs:
    return "the parameters";
  case DynParser::RuleType:
  case DynParser::RuleExtents:
    return "the type";
  case DynParser::RulePattern:
    return "the pattern";
  case DynParser::RuleLet:
    return "the `let`";
  case DynParser::RuleArm:
    return "the arm";
  case DynParser::RuleCallArg:
    return "the argument";
  case DynParser::RuleSub:
    return "the index";
  case DynParser::RuleBinderState:
    return "the state";
  case DynParser::RuleExpr:
  case DynParser::RuleOrExpr:
    return "the expression";
  default:
    return nullptr;
  }
}

std::string Report::closerText(size_t closer) const {
  const char *end = closer == DynParser::RPAREN ? "`)`" : closer == DynParser::RBRACKET ? "`]`" : "`}`";
  size_t last = tokenType(last_);
  bool opened = last == DynParser::LPAREN || last == DynParser::LBRACKET || last == DynParser::LBRACE ||
                last == DynParser::LRECORD;
  switch (rule()) {
  case DynParser::RuleBlock:
    return end;
  case DynParser::RuleLayerDecl:
    return std::string("`param`, `const`, `fn`, `cell` or ") + end;
  case DynParser::RuleDataDecl:
  case DynParser::RuleRecordDecl:
    return std::string(itemOf(rule())) + " or " + end;
  case DynParser::RuleMatchExpr: {
    auto *arm = asRule(last_);
    auto *armEnd = arm ? asRule(arm->children.back()) : nullptr; // null behind a comma
    bool comma = armEnd && armEnd->getRuleIndex() == DynParser::RuleExpr;
    return (comma ? "`,` or " : "an arm or ") + std::string(end);
  }
  case DynParser::RuleTrailer:
    if (last == DynParser::COMMA && closer != DynParser::RPAREN)
      return (closer == DynParser::RBRACE ? "a field or " : "an index or ") + std::string(end);
    break;
  case DynParser::RuleType:
    if (closer == DynParser::RBRACKET) // `[T` or `[L; n`
      return tokenType(ctx_->children.size() > 2 ? ctx_->children[2] : nullptr) == DynParser::SEMI
                 ? std::string(end)
                 : std::string("`;` or ") + end;
    break;
  case DynParser::RuleBinderHead:
    if (ctx_->children.size() == 5) // NAME ( pattern in list
      return std::string("`if`, `,` or ") + end;
    break;
  }
  if (opened || last == DynParser::COMMA)
    if (const char *item = itemOf(rule()))
      return std::string(item) + " or " + end;
  return std::string("`,` or ") + end;
}

std::string Report::expectedText() const {
  if (expects(DynParser::NUMBER))
    return rule() == DynParser::RuleSub ? "an index or a slice" : "an expression";
  if (rule() == DynParser::RuleType && expects(DynParser::LPAREN))
    return "a type";
  if (rule() == DynParser::RulePattern && expects(DynParser::UNDERSCORE))
    return "a pattern";
  if (rule() == DynParser::RuleArm && expects(DynParser::UNDERSCORE))
    return "an arm";
  if (rule() == DynParser::RuleBlock && expects(DynParser::LBRACE) && followsArgs())
    return "`->` or `{`";
  if (expected_.size() == 1) {
    for (size_t closer : {DynParser::RPAREN, DynParser::RBRACKET, DynParser::RBRACE})
      if (expects(closer))
        return closerText(closer);
  }
  std::vector<ssize_t> types = expected_.toList();
  std::sort(types.begin(), types.end(), [](ssize_t a, ssize_t b) { // reserved words last
    auto key = [](ssize_t t) { return std::make_pair(isReservedWord(static_cast<size_t>(t)), t); };
    return key(a) < key(b);
  });
  std::vector<std::string> words;
  for (ssize_t type : types) {
    const char *known = spelling(static_cast<size_t>(type));
    std::string literal = vocabulary_.getLiteralName(static_cast<size_t>(type)); // in single quotes
    words.push_back(known ? known : "`" + literal.substr(1, literal.size() - 2) + "`");
  }
  return join(words);
}

std::string Report::afterText() const {
  if (!before_ || !beforeToken_)
    return "";
  if (auto *phrase = asRule(before_))
    if (phrase->start != phrase->stop)
      if (const char *noun = nounOf(phrase->getRuleIndex()))
        return std::string(" after ") + noun;
  return " after `" + text(beforeToken_) + "`";
}

/// Words of other languages that stand where nobody would look for them.
std::string Report::wordHint() const {
  static const std::pair<const char *, const char *> words[] = {
      {"and", "`and` of two bools is written `&&`"},
      {"or", "`or` of two bools is written `||`"},
      {"not", "`not` is written `!`"},
      {"elif", "write `else if`"},
      {"return", "the value of a block is its last expression; there is no `return`"},
      {"for", "there are no loops; a list is gone through with `map`, `scan`, `fold`, `sum` .."},
      {"then", "arms stand in braces: `if c { a } else { b }`"},
      {"is", "constructors are told apart by `match t { Leaf => .., Node(left, right) => .. }`"},
      {"break", "a `scan` or `fold` stops by `while` behind its state"},
      {"var", "a name is given to a value with `let`"},
      {"def", "a function is `fn f(x: f32) -> f32 { .. }`"},
      {"lambda",
       "a function is `fn f(x: f32) -> f32 { .. }`; binders take an expression: `map(x in xs) exp(x)`"},
      {"class",
       "values of several fields are `record`, nodes of the input `data`, parameters of their own `layer`"},
      {"struct", "values of several fields are `record`, nodes of the input `data`"},
  };
  for (Token *token : {found_, beforeToken_})
    if (token && (token->getType() == DynParser::ID || token->getType() == DynParser::BINDER))
      for (const auto &[word, hint] : words)
        if (text(token) == word)
          return hint;
  return "";
}

/// Whether a name, or something that begins with one, should stand where the wrong token is.
bool Report::wantsName() const {
  if (expects(DynParser::ID) && (expected_.size() == 1 || rule() == DynParser::RulePattern))
    return true;
  size_t last = tokenType(last_);
  bool list = rule() == DynParser::RuleArgs || rule() == DynParser::RuleFields ||
              rule() == DynParser::RuleDims || rule() == DynParser::RuleArmFields ||
              rule() == DynParser::RuleRecordDecl || rule() == DynParser::RuleDataDecl;
  return list && (last == DynParser::LPAREN || last == DynParser::LBRACE || last == DynParser::COMMA);
}

/// Whether a type stands before the wrong token, not an expression.
bool Report::endsType() const {
  switch (rule()) {
  case DynParser::RuleParamDecl:
  case DynParser::RuleConstDecl:
  case DynParser::RuleRecordField:
  case DynParser::RuleFields:
  case DynParser::RuleArgs:
    return true;
  default:
    return false;
  }
}

std::string Report::hintText() const {
  std::string hint = wordHint();
  if (!hint.empty())
    return hint;
  if (found(DynParser::STAR) && beforeToken_ && beforeToken_->getType() == DynParser::STAR)
    return "a power is written `pow(x, y)`, a square `square(x)`";
  bool assigns = found(DynParser::EQ) && beforeToken_;
  if (assigns && (beforeToken_->getType() == DynParser::PLUS || beforeToken_->getType() == DynParser::MINUS ||
                  beforeToken_->getType() == DynParser::STAR))
    return "values do not change: bind a new one with `let`, or go through a list with `fold`";
  if (assigns && expects(DynParser::LBRACE) && outerRule() == DynParser::RuleFuncDecl)
    return "a body stands in braces";
  if (found(DynParser::LPAREN) && beforeToken_ && beforeToken_->getType() == DynParser::ID && endsType())
    return "sizes stand in brackets: `f32[d, d]`, `nn.Linear[d, d]`";
  if (found(DynParser::IF) && expects(DynParser::RBRACE))
    return "an `if` stands first: `if c { a } else { b }`";
  if (found(DynParser::COLON) && expects(DynParser::RBRACKET))
    return "a slice is written `a..b`; `a..` goes on to the end, `..b` begins at the start";
  if (found(DynParser::COLON) && beforeToken_ && beforeToken_->getType() == DynParser::LBRACKET)
    return "a slice is written `a..b`, all of an axis `..`";
  bool inBlock = rule() == DynParser::RuleBlock;
  if (inBlock && expects(DynParser::RBRACE)) {
    auto *value = asRule(last_);
    if (found(DynParser::SEMI))
      return "the last expression of a block is its value; no `;` follows it";
    if (found(DynParser::EQ) && value && value->start == value->stop)
      return "a name is given to a value with `let " + text(beforeToken_) + " = ..;`";
  }
  if (expects(DynParser::NUMBER) && found(DynParser::RBRACE) && outerRule() == DynParser::RuleBlock)
    return "a block ends with an expression, its value";
  if (found(DynParser::SEMI) && rule() == DynParser::RuleTrailer && expects(DynParser::RBRACE) &&
      ctx_->children.size() == 2)
    return "if this is no record literal: a name is given to a value with `let`";
  if (found(DynParser::EQ) && expects(DynParser::LBRACE) && inBlock)
    return "equality is written `==`";
  if (found(DynParser::EQ) && expects(DynParser::RPAREN) && rule() != DynParser::RuleArgs)
    return "equality is written `==`";
  if (rule() == DynParser::RuleBinderHead) {
    if (found(DynParser::COMMA) && expects(DynParser::IN))
      return "a pattern of several names has parentheses: `(a, b) in ..`";
    if (found(DynParser::WHILE))
      return "`while` follows a state: `scan(x in xs, s = start while c)`";
    if (found(DynParser::IF))
      return "the filter stands before the state: `scan(x in xs if c, s = start)`";
  }
  if (rule() == DynParser::RuleArg && found(DynParser::EQ))
    return "parameters have a type, and no default: `x: f32`";
  bool inExpr = inBlock || rule() == DynParser::RuleTrailer || rule() == DynParser::RuleLet ||
                rule() == DynParser::RulePrimary;
  bool colonFollows = afterFollowing_ && afterFollowing_->getType() == DynParser::COLON;
  if ((found(DynParser::LBRACE) && inExpr && colonFollows) ||
      (found(DynParser::COLON) && rule() == DynParser::RuleFieldInit))
    return "a record literal is `Name { field = value, .. }` or `module.Name { .. }`";
  if (found(DynParser::LRECORD) && following_)
    return "a name is given to a value with `let " + text(following_) + " = ..;`";
  if (found(DynParser::DIM) && following_ && following_->getType() == DynParser::EQ)
    return "an axis is named `axis = ..`";
  if (isReservedWord(found_->getType()) && wantsName())
    return "a reserved word cannot be a name";
  if (rule() == DynParser::RuleMatchExpr && expects(DynParser::LBRACE))
    return "a match is written `match e { Name => value, .. }`";
  if (inBlock && found(DynParser::COLON) && followsArgs())
    return "the type of the result follows `->`";
  if (rule() == DynParser::RuleMatchExpr && found(DynParser::SEMI))
    return "arms end in `,`";
  return "";
}

/// Where the bracket that is not closed stands, if not on the same line.
void Report::noteOpener(Diagnostic &d) const {
  bool closes = expects(DynParser::RPAREN) || expects(DynParser::RBRACKET) || expects(DynParser::RBRACE);
  if (!closes || expected_.size() != 1)
    return;
  const auto &children = ctx_->children;
  for (auto child = children.rbegin(); child != children.rend(); ++child) {
    size_t type = tokenType(*child);
    if (type != DynParser::LPAREN && type != DynParser::LBRACKET && type != DynParser::LBRACE &&
        type != DynParser::LRECORD)
      continue;
    Token *opener = dynamic_cast<antlr4::tree::TerminalNode *>(*child)->getSymbol();
    SourceRange range = ranges_.of(opener);
    const SourceFile &file = diags_.sources().file(range.file);
    if (file.lineColumn(range.begin).line != file.lineColumn(d.range.begin).line)
      d.note(range, "`" + text(opener) + "` was opened here");
    return;
  }
}

void Report::give() {
  // `{ x = 1; ..`: the brace looks like that of a record literal where a block or something else should
  // begin.
  if (found(DynParser::LRECORD) && expects(DynParser::LBRACE) && following_) {
    diags_
        .error(ranges_.of(following_),
               "expected an expression or `let` after `{`, found `" + text(following_) + " =`")
        .hint(hintText());
    return;
  }
  bool missing = !expects(DynParser::NUMBER);
  SourceRange range = missing ? missingAt(beforeToken_, found_, ranges_, diags_) : ranges_.of(found_);
  if (found(Token::EOF))
    range = missingAt(beforeToken_, found_, ranges_, diags_);
  Diagnostic &d = diags_.error(range, "expected " + expectedText() + afterText() + ", found " +
                                          foundText(found_, ranges_, diags_));
  noteOpener(d);
  std::string hint = hintText();
  if (!hint.empty())
    d.hint(std::move(hint));
}

} // namespace

std::string foundText(Token *token, const TokenRanges &ranges, const DiagnosticEngine &diags) {
  if (token->getType() == Token::EOF)
    return "the end of the file";
  std::string quoted = "`" + std::string(diags.sources().text(ranges.of(token))) + "`";
  return isReservedWord(token->getType()) ? "the reserved word " + quoted : quoted;
}

SourceRange missingAt(Token *before, Token *found, const TokenRanges &ranges, const DiagnosticEngine &diags) {
  SourceRange range = ranges.of(found);
  if (!before)
    return range;
  SourceRange last = ranges.of(before);
  const SourceFile &file = diags.sources().file(range.file);
  if (file.lineColumn(last.end).line == file.lineColumn(range.begin).line && found->getType() != Token::EOF)
    return range;
  return {range.file, last.end, last.end};
}

Token *SyntaxErrors::recoverInline(antlr4::Parser *parser) { throw antlr4::InputMismatchException(parser); }

void SyntaxErrors::recover(antlr4::Parser *, std::exception_ptr) {
  throw antlr4::ParseCancellationException();
}

void SyntaxErrors::reportError(antlr4::Parser *parser, const antlr4::RecognitionException &e) {
  if (reported_)
    return;
  reported_ = true;
  Token *found = e.getOffendingToken();
  stoppedAt_ = found->getTokenIndex();
  Report(*static_cast<DynParser *>(parser), found, ranges_, diags_).give();
}

} // namespace dbc::frontend
