// Drives ANTLR: one declaration at a time, so that a syntax error in one leaves the others readable and
// ANTLR's tree of one is freed before the next is read.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/Parse.h"

#include "frontend/syntax/BuildAst.h"
#include "frontend/syntax/ParseTree.h"
#include "frontend/syntax/SyntaxErrors.h"
#include "frontend/syntax/Tokens.h"

#include "DynLexer.h"
#include "DynParser.h"
#include "antlr4-runtime.h"

namespace dbc::frontend {

using antlr4::Token;
using syntax::DynParser;

namespace {

class FileParser {
public:
  FileParser(uint32_t file, DiagnosticEngine &diags, const SeeTree &see)
      : see_(see), diags_(diags), errorsBefore_(diags.errorCount()),
        ranges_(file, diags.sources().file(file)), input_(lexerText(ranges_.text())), lexer_(&input_),
        tokens_(&lexer_), parser_(&tokens_), errors_(std::make_shared<SyntaxErrors>(ranges_, diags)),
        builder_(ranges_, diags) {
    lexer_.removeErrorListeners();
    parser_.removeErrorListeners();
    parser_.setErrorHandler(errors_);
  }

  std::unique_ptr<File> parse();

private:
  Token *here() { return tokens_.LT(1); }
  size_t next() { return here()->getType(); }
  bool foundErrors() const { return diags_.errorCount() != errorsBefore_; }
  void skipToDeclaration();
  void wrongStart();

  /// Runs a rule of the grammar at the current token and hands its tree to `build`. After a syntax error goes
  /// on to the next declaration.
  template <typename Rule, typename Build> void read(Rule rule, Build build) {
    size_t start = tokens_.index();
    try {
      auto *tree = (parser_.*rule)();
      build(tree);
      if (see_ && !foundErrors())
        see_(*tree, ranges_);
    } catch (const antlr4::ParseCancellationException &) {
      tokens_.seek(std::max(errors_->stoppedAt(), start));
      if (tokens_.index() == start && next() != Token::EOF)
        tokens_.consume();
      skipToDeclaration();
    }
    // Frees the tree; the parser thinks it begins anew, only the tokens stay where they are.
    size_t index = tokens_.index();
    parser_.reset();
    tokens_.seek(index);
  }

  const SeeTree &see_;
  DiagnosticEngine &diags_;
  const size_t errorsBefore_;
  TokenRanges ranges_;
  antlr4::ANTLRInputStream input_;
  syntax::DynLexer lexer_;
  antlr4::CommonTokenStream tokens_;
  DynParser parser_;
  std::shared_ptr<SyntaxErrors> errors_;
  AstBuilder builder_;
};

/// A reserved word that no name follows may be meant as a name itself; it is no point to go on from.
void FileParser::skipToDeclaration() {
  auto begins = [&] {
    size_t name = tokens_.LA(2);
    return (beginsDeclaration(next()) || next() == DynParser::IMPORT) &&
           (name == DynParser::ID || name == DynParser::BINDER);
  };
  while (next() != Token::EOF && !begins())
    tokens_.consume();
}

/// A token at which neither an import nor a declaration begins.
void FileParser::wrongStart() {
  Diagnostic &d =
      diags_.error(ranges_.of(here()), "expected a declaration, found " + foundText(here(), ranges_, diags_));
  if (next() == DynParser::ID || next() == DynParser::BINDER) {
    std::string word(diags_.sources().text(ranges_.of(here())));
    if (word == "def" || word == "fun" || word == "func" || word == "function")
      d.hint("functions are declared by `fn` and `cell`");
    else
      d.hint(didYouMean(word, {"dim", "const", "param", "data", "record", "layer", "fn", "cell", "entry",
                               "loss", "import"}));
  } else if (next() == DynParser::RBRACE) {
    d.hint("no `{` is open here");
  } else if (next() == DynParser::STAR && tokens_.LA(2) == DynParser::SLASH) {
    d.hint("comments do not nest; the first `*/` ends one");
  }
}

std::unique_ptr<File> FileParser::parse() {
  auto file = std::make_unique<File>();
  file->id = ranges_.file();
  tokens_.fill();
  if (!prepareTokens(tokens_.getTokens(), ranges_, diags_))
    return nullptr;

  if (next() == DynParser::MODEL || next() == DynParser::MODULE) {
    read(&DynParser::header, [&](auto *tree) { builder_.header(tree, *file); });
  } else {
    diags_
        .error(ranges_.of(here()),
               "expected `model` or `module`, found " + foundText(here(), ranges_, diags_))
        .hint("a file begins with `model name;`, a library with `module name;`");
    if (!beginsDeclaration(next()))
      skipToDeclaration();
  }
  while (next() != Token::EOF) {
    if (next() == DynParser::IMPORT) {
      if (!file->decls.empty())
        diags_.error(ranges_.of(here()), "this import stands behind declarations; imports come first");
      read(&DynParser::importDecl, [&](auto *tree) { builder_.import(tree, *file); });
    } else if (beginsDeclaration(next())) {
      read(&DynParser::decl, [&](auto *tree) { builder_.decl(tree, file->decls); });
    } else {
      // A brace too many is often what an earlier mistake left over.
      if (next() != DynParser::RBRACE || !foundErrors())
        wrongStart();
      tokens_.consume();
      skipToDeclaration();
    }
  }
  return foundErrors() ? nullptr : std::move(file);
}

} // namespace

std::unique_ptr<File> parseFile(uint32_t file, DiagnosticEngine &diags) {
  return parseFile(file, diags, SeeTree());
}

std::unique_ptr<File> parseFile(uint32_t file, DiagnosticEngine &diags, const SeeTree &see) {
  if (!checkText(file, diags))
    return nullptr;
  try {
    return FileParser(file, diags, see).parse();
  } catch (const std::exception &e) {
    diags.error({file, 0, 0}, std::string("the parser failed: ") + e.what() + "; this is a bug of dbc");
    return nullptr;
  }
}

} // namespace dbc::frontend
