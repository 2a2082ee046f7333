// From ANTLR's parse tree to ours. Private to DbcFrontendSyntax: it shows ANTLR types.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_BUILDAST_H
#define DBC_FRONTEND_BUILDAST_H

#include "frontend/syntax/Ast.h"
#include "frontend/syntax/Diagnostics.h"
#include "frontend/syntax/Tokens.h"

#include "DynParser.h"

namespace dbc::frontend {

/// Builds syntax trees of declarations that ANTLR has accepted, and refuses what the grammar lets through but
/// the language does not (see dsl/Dyn.g4). After an error the tree is still whole, so that the rest can be
/// looked at, but it must not be used further.
class AstBuilder {
public:
  AstBuilder(const TokenRanges &ranges, DiagnosticEngine &diags) : ranges_(ranges), diags_(diags) {}

  void header(syntax::DynParser::HeaderContext *ctx, File &file);
  void import(syntax::DynParser::ImportDeclContext *ctx, File &file);
  /// Appends one declaration, or one for each name of a `dim` or `param` list, to `out`.
  void decl(syntax::DynParser::DeclContext *ctx, std::vector<DeclPtr> &out);

private:
  using P = syntax::DynParser;

  // Declarations (BuildAst.cpp)
  void consts(P::ConstDeclContext *ctx, std::vector<DeclPtr> &out);
  void params(P::ParamDeclContext *ctx, std::vector<DeclPtr> &out);
  std::unique_ptr<Init> init(P::ExprContext *ctx);
  bool signedNumber(const Expr &e, double &value) const;
  DeclPtr data(P::DataDeclContext *ctx);
  std::vector<Field> fields(P::FieldsContext *ctx);
  DeclPtr record(P::RecordDeclContext *ctx);
  DeclPtr layer(P::LayerDeclContext *ctx);
  std::vector<Ident> dims(P::DimsContext *ctx);
  DeclPtr func(P::FuncDeclContext *ctx);
  std::vector<FuncArg> args(P::ArgsContext *ctx);
  TypeExprPtr type(P::TypeContext *ctx);
  TypeExprPtr namedType(P::TypeContext *ctx);
  ExprPtr shape(P::ExprContext *ctx);
  void checkShape(const Expr &e);

  // Blocks, patterns, expressions (BuildExpr.cpp)
  CodeBlock block(P::BlockContext *ctx);
  CodeBlock bare(ExprPtr result);
  PatternPtr pattern(P::PatternContext *ctx);
  ExprPtr expr(P::ExprContext *ctx);
  ExprPtr orExpr(P::OrExprContext *ctx);
  ExprPtr andExpr(P::AndExprContext *ctx);
  ExprPtr comparison(P::CmpExprContext *ctx);
  ExprPtr sum(P::AddExprContext *ctx);
  ExprPtr product(P::MulExprContext *ctx);
  ExprPtr unary(P::UnaryContext *ctx);
  ExprPtr postfix(P::PostfixContext *ctx);
  ExprPtr trailer(ExprPtr base, P::TrailerContext *ctx);
  ExprPtr call(ExprPtr callee, P::TrailerContext *ctx);
  void setting(CallExpr &call, const Expr &name, P::CallArgContext *ctx);
  ExprPtr subscript(ExprPtr base, P::TrailerContext *ctx);
  ExprPtr recordLiteral(ExprPtr base, P::TrailerContext *ctx);
  ExprPtr primary(P::PrimaryContext *ctx);
  ExprPtr number(antlr4::Token *token);
  ExprPtr cond(P::CondContext *ctx);
  ExprPtr match(P::MatchExprContext *ctx);
  std::unique_ptr<BinderExpr> binderHead(P::BinderHeadContext *ctx);
  /// Joins operands and operators, which alternate among the children, from left to right.
  template <typename Operand, typename Build> ExprPtr chain(antlr4::ParserRuleContext *ctx, Build build);
  ExprPtr binary(ExprPtr lhs, antlr4::Token *op, ExprPtr rhs);
  void checkOperatorAfterBinder(const Expr &lhs, SourceRange op, const Expr &rhs);

  /// Lists are parsed as `item (COMMA item?)*`: at most the last item may be missing. Reports others; `what`
  /// as in "a field".
  void checkCommas(antlr4::ParserRuleContext *ctx, const char *what);
  /// The comma that a rule does not allow behind its last item.
  bool endsInComma(antlr4::ParserRuleContext *ctx) const;

  SourceRange range(const antlr4::ParserRuleContext *ctx) const { return ranges_.of(ctx); }
  SourceRange range(antlr4::tree::TerminalNode *leaf) const { return ranges_.of(leaf->getSymbol()); }
  std::string text(SourceRange r) const { return std::string(diags_.sources().text(r)); }
  Ident ident(antlr4::tree::TerminalNode *leaf) const { return ident(leaf->getSymbol()); }
  Ident ident(antlr4::Token *token) const {
    SourceRange r = ranges_.of(token);
    return {text(r), r};
  }
  /// Stands in where an error was reported.
  ExprPtr placeholder(SourceRange r) const { return std::make_unique<NumberExpr>(r, true, 0, 0.0); }

  const TokenRanges &ranges_;
  DiagnosticEngine &diags_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_BUILDAST_H
