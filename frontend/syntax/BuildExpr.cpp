// Blocks, patterns and expressions; declarations are in BuildAst.cpp.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/BuildAst.h"

#include "frontend/syntax/SyntaxErrors.h"

#include <charconv>
#include <cmath>

namespace dbc::frontend {

using antlr4::Token;
using syntax::DynParser;

CodeBlock AstBuilder::block(P::BlockContext *ctx) {
  CodeBlock result;
  result.range = range(ctx);
  for (auto *l : ctx->let())
    result.lets.push_back(
        {range(l), pattern(l->pattern()), l->type() ? type(l->type()) : nullptr, expr(l->expr())});
  result.result = expr(ctx->expr());
  return result;
}

CodeBlock AstBuilder::bare(ExprPtr result) {
  CodeBlock block;
  block.range = result->range;
  block.braces = false;
  block.result = std::move(result);
  return block;
}

PatternPtr AstBuilder::pattern(P::PatternContext *ctx) {
  auto result = std::make_unique<Pattern>();
  result->range = range(ctx);
  if (ctx->ID()) {
    result->kind = Pattern::Kind::Name;
    result->name = ident(ctx->ID());
  } else if (ctx->LPAREN()) {
    result->kind = Pattern::Kind::Tuple;
    checkCommas(ctx, "a pattern");
    for (auto *element : ctx->pattern())
      result->elements.push_back(pattern(element));
    if (result->elements.size() < 2)
      diags_.error(result->range, "`" + text(result->range) + "` has one element; a tuple has at least two")
          .hint("write the pattern without parentheses");
  }
  return result;
}

//===--------------------------------------------------------------------===//
// Operators
//===--------------------------------------------------------------------===//

static BinaryExpr::Op binaryOp(size_t token) {
  using Op = BinaryExpr::Op;
  switch (token) {
  case DynParser::OROR:
    return Op::Or;
  case DynParser::ANDAND:
    return Op::And;
  case DynParser::EQEQ:
    return Op::Eq;
  case DynParser::NE:
    return Op::Ne;
  case DynParser::LT:
    return Op::Lt;
  case DynParser::LE:
    return Op::Le;
  case DynParser::GT:
    return Op::Gt;
  case DynParser::GE:
    return Op::Ge;
  case DynParser::PLUS:
    return Op::Add;
  case DynParser::MINUS:
    return Op::Sub;
  case DynParser::PLUSPLUS:
    return Op::Append;
  case DynParser::STAR:
    return Op::Mul;
  case DynParser::SLASH:
    return Op::Div;
  case DynParser::PERCENT:
    return Op::Mod;
  default:
    assert(token == DynParser::AT);
    return Op::MatMul;
  }
}

/// The binder without braces that `e` ends in, or null. What follows `e` is then read as if it could belong
/// to the binder's body.
static const BinderExpr *openBinder(const Expr &e) {
  if (e.parenthesised)
    return nullptr;
  if (auto *binder = e.as<BinderExpr>())
    return binder->body.braces ? nullptr : binder;
  if (auto *binary = e.as<BinaryExpr>())
    return openBinder(*binary->rhs);
  if (auto *unary = e.as<UnaryExpr>())
    return openBinder(*unary->operand);
  if (auto *range = e.as<RangeExpr>())
    return openBinder(*range->high);
  return nullptr;
}

void AstBuilder::checkOperatorAfterBinder(const Expr &lhs, SourceRange op, const Expr &rhs) {
  const BinderExpr *binder = openBinder(lhs);
  if (!binder)
    return;
  const std::string &name = binder->name.text;
  std::string head = text({binder->range.file, binder->range.begin, binder->body.range.begin});
  std::string body = text(binder->body.range);
  std::string rest = text({op.file, op.begin, rhs.range.end});
  std::string hint = "put its body in braces, and `" + text(op) + "` inside or behind them";
  if ((head + body + rest).size() <= 60 && (head + body + rest).find('\n') == std::string::npos) {
    while (!head.empty() && head.back() == ' ')
      head.pop_back();
    const char *gap = text(op) == ".." ? "" : " ";
    hint = "write `" + head + " { " + body + " }" + gap + rest + "`";
    if (!openBinder(*binder->body.result))
      hint += " or `" + head + " { " + body + gap + rest + " }`";
  }
  diags_
      .error(op,
             "`" + text(op) + "` follows the body of `" + name +
                 "`, which has no braces; only behind braces may an operator stand",
             "T7")
      .note(binder->range, "this is the `" + name + "`")
      .hint(std::move(hint));
}

ExprPtr AstBuilder::binary(ExprPtr lhs, Token *op, ExprPtr rhs) {
  SourceRange at = ranges_.of(op);
  checkOperatorAfterBinder(*lhs, at, *rhs);
  SourceRange whole = lhs->range.to(rhs->range);
  return std::make_unique<BinaryExpr>(whole, binaryOp(op->getType()), at, std::move(lhs), std::move(rhs));
}

template <typename Operand, typename Build>
ExprPtr AstBuilder::chain(antlr4::ParserRuleContext *ctx, Build build) {
  const auto &children = ctx->children;
  auto operand = [&](size_t i) { return build(static_cast<Operand *>(children[i])); };
  auto op = [&](size_t i) { return static_cast<antlr4::tree::TerminalNode *>(children[i])->getSymbol(); };
  ExprPtr result = operand(0);
  for (size_t i = 2; i < children.size(); i += 2)
    result = binary(std::move(result), op(i - 1), operand(i));
  return result;
}

ExprPtr AstBuilder::expr(P::ExprContext *ctx) {
  auto bounds = ctx->orExpr();
  ExprPtr low = orExpr(bounds[0]);
  if (bounds.size() == 1)
    return low;
  ExprPtr high = orExpr(bounds[1]);
  SourceRange op = range(ctx->DOTDOT(0));
  checkOperatorAfterBinder(*low, op, *high);
  if (bounds.size() > 2)
    diags_.error(range(ctx->DOTDOT(1)), "a second `..` follows a range; a range is `low..high`");
  SourceRange whole = low->range.to(high->range);
  return std::make_unique<RangeExpr>(whole, std::move(low), std::move(high));
}

ExprPtr AstBuilder::orExpr(P::OrExprContext *ctx) {
  return chain<P::AndExprContext>(ctx, [&](auto *operand) { return andExpr(operand); });
}

ExprPtr AstBuilder::andExpr(P::AndExprContext *ctx) {
  return chain<P::CmpExprContext>(ctx, [&](auto *operand) { return comparison(operand); });
}

ExprPtr AstBuilder::comparison(P::CmpExprContext *ctx) {
  const auto &children = ctx->children;
  if (children.size() > 3) {
    auto operand = [&](size_t i) {
      return text(ranges_.of(static_cast<antlr4::ParserRuleContext *>(children[i])));
    };
    auto op = [&](size_t i) { return ident(static_cast<antlr4::tree::TerminalNode *>(children[i])); };
    Diagnostic &d =
        diags_.error(op(3).range, "`" + op(3).text + "` follows the comparison `" + operand(0) + " " +
                                      op(1).text + " " + operand(2) + "`; comparisons do not chain");
    d.hint("write `" + operand(0) + " " + op(1).text + " " + operand(2) + " && " + operand(2) + " " +
           op(3).text + " " + operand(4) + "`");
  }
  return chain<P::AddExprContext>(ctx, [&](auto *operand) { return sum(operand); });
}

ExprPtr AstBuilder::sum(P::AddExprContext *ctx) {
  return chain<P::MulExprContext>(ctx, [&](auto *operand) { return product(operand); });
}

ExprPtr AstBuilder::product(P::MulExprContext *ctx) {
  return chain<P::UnaryContext>(ctx, [&](auto *operand) { return unary(operand); });
}

ExprPtr AstBuilder::unary(P::UnaryContext *ctx) {
  if (ctx->postfix())
    return postfix(ctx->postfix());
  return std::make_unique<UnaryExpr>(range(ctx), ctx->MINUS() ? UnaryExpr::Op::Minus : UnaryExpr::Op::Not,
                                     unary(ctx->unary()));
}

//===--------------------------------------------------------------------===//
// Postfix
//===--------------------------------------------------------------------===//

ExprPtr AstBuilder::postfix(P::PostfixContext *ctx) {
  ExprPtr result;
  if (ctx->primary()) {
    result = primary(ctx->primary());
  } else {
    auto binder = binderHead(ctx->binderHead());
    binder->body = ctx->block() ? block(ctx->block()) : bare(postfix(ctx->postfix()));
    binder->range = binder->range.to(binder->body.range);
    result = std::move(binder);
  }
  for (auto *t : ctx->trailer())
    result = trailer(std::move(result), t);
  return result;
}

ExprPtr AstBuilder::trailer(ExprPtr base, P::TrailerContext *ctx) {
  if (ctx->DOT()) {
    Ident member = ident(ctx->ID());
    SourceRange whole = base->range.to(member.range);
    return std::make_unique<MemberExpr>(whole, std::move(base), std::move(member));
  }
  if (ctx->LPAREN())
    return call(std::move(base), ctx);
  if (ctx->LBRACKET())
    return subscript(std::move(base), ctx);
  return recordLiteral(std::move(base), ctx);
}

ExprPtr AstBuilder::call(ExprPtr callee, P::TrailerContext *ctx) {
  checkCommas(ctx, "an argument");
  SourceRange whole = callee->range.to(range(ctx));
  auto result = std::make_unique<CallExpr>(whole, std::move(callee));
  for (auto *a : ctx->callArg()) {
    ExprPtr first = expr(a->expr(0));
    if (!a->EQ()) {
      result->args.push_back(std::move(first));
      continue;
    }
    setting(*result, *first, a);
  }
  return result;
}

void AstBuilder::setting(CallExpr &call, const Expr &name, P::CallArgContext *ctx) {
  auto *known = name.as<NameExpr>();
  std::string called = known ? known->name : "";
  ExprPtr value = expr(ctx->expr(1));
  auto twice = [&](SourceRange first) {
    diags_.error(range(ctx), "`" + called + "` is given a second time").note(first, "here it is given first");
  };
  if (called == "stride" || called == "padding") {
    for (const NamedArg &other : call.settings)
      if (other.name.text == called)
        return twice(other.range);
    call.settings.push_back({{called, name.range}, std::move(value), range(ctx)});
    return;
  }
  if (called != "axis")
    diags_
        .error(name.range, "`" + text(name.range) +
                               " =` names an argument; only `axis`, `stride` and `padding` are given by name")
        .hint("give arguments in order; equality is written `==`");
  else if (call.axis)
    twice(call.axisRange);
  call.axis = std::move(value);
  call.axisRange = range(ctx);
}

ExprPtr AstBuilder::subscript(ExprPtr base, P::TrailerContext *ctx) {
  checkCommas(ctx, "an index or a slice");
  std::vector<Sub> subs;
  for (auto *s : ctx->sub()) {
    Sub sub;
    sub.range = range(s);
    sub.isSlice = s->DOTDOT() != nullptr;
    for (auto *child : s->children) { // bounds may be missing on either side of `..`
      auto *bound = dynamic_cast<P::OrExprContext *>(child);
      if (!bound)
        continue;
      bool isLow = child == s->children.front();
      (!sub.isSlice ? sub.index : isLow ? sub.low : sub.high) = orExpr(bound);
    }
    if (sub.low && sub.high)
      checkOperatorAfterBinder(*sub.low, range(s->DOTDOT()), *sub.high);
    subs.push_back(std::move(sub));
  }
  SourceRange whole = base->range.to(range(ctx));
  return std::make_unique<SubscriptExpr>(whole, std::move(base), std::move(subs));
}

ExprPtr AstBuilder::recordLiteral(ExprPtr base, P::TrailerContext *ctx) {
  checkCommas(ctx, "a field");
  std::vector<FieldInit> fields;
  for (auto *f : ctx->fieldInit())
    fields.push_back({ident(f->ID()), expr(f->expr())});
  SourceRange whole = base->range.to(range(ctx));
  Ident module, record;
  if (auto *name = base->as<NameExpr>(); name && !name->parenthesised) {
    record = {name->name, name->range};
  } else if (auto *member = base->as<MemberExpr>(); member && !member->parenthesised) {
    if (auto *outer = member->base->as<NameExpr>())
      module = {outer->name, outer->range};
    record = member->member;
  }
  bool named = record && (module || base->as<NameExpr>());
  if (!named)
    diags_
        .error(base->range, "`{ " + fields[0].name.text + " = ..` follows what is not a record's name", "T5")
        .hint("a record literal is `Name { field = value, .. }` or `module.Name { .. }`");
  return std::make_unique<RecordExpr>(whole, std::move(module), std::move(record), std::move(fields));
}

//===--------------------------------------------------------------------===//
// Primary
//===--------------------------------------------------------------------===//

ExprPtr AstBuilder::primary(P::PrimaryContext *ctx) {
  SourceRange whole = range(ctx);
  if (ctx->NUMBER())
    return number(ctx->NUMBER()->getSymbol());
  if (ctx->TRUE() || ctx->FALSE())
    return std::make_unique<BoolExpr>(whole, ctx->TRUE() != nullptr);
  if (ctx->ID())
    return std::make_unique<NameExpr>(whole, text(whole));
  if (ctx->cond())
    return cond(ctx->cond());
  if (ctx->matchExpr())
    return match(ctx->matchExpr());

  checkCommas(ctx, "an expression");
  std::vector<ExprPtr> elements;
  for (auto *e : ctx->expr())
    elements.push_back(expr(e));
  if (ctx->LBRACKET())
    return std::make_unique<JoinExpr>(whole, std::move(elements));
  if (elements.size() > 1)
    return std::make_unique<TupleExpr>(whole, std::move(elements));
  if (endsInComma(ctx))
    diags_.error(whole, "`" + text(whole) + "` has one element; a tuple has at least two");
  elements[0]->range = whole;
  elements[0]->parenthesised = true;
  return std::move(elements[0]);
}

ExprPtr AstBuilder::number(Token *token) {
  SourceRange at = ranges_.of(token);
  std::string_view written = diags_.sources().text(at);
  const char *begin = written.data(), *end = begin + written.size();
  bool isInteger = written.find_first_of(".eE") == std::string_view::npos;
  int64_t integer = 0;
  double value = 0;
  auto readValue = std::from_chars(begin, end, value);
  bool tooLarge = readValue.ec == std::errc::result_out_of_range;
  if (tooLarge && written.find_first_of("123456789") != std::string_view::npos) {
    // from_chars also calls out of range what is too near to 0; strtod rounds that.
    value = std::strtod(std::string(written).c_str(), nullptr);
    tooLarge = std::isinf(value);
  }
  if (isInteger)
    tooLarge = std::from_chars(begin, end, integer).ec == std::errc::result_out_of_range;
  if (tooLarge) {
    std::string shown = written.size() <= 40 ? "`" + std::string(written) + "`" : "the number";
    Diagnostic &d =
        diags_.error(at, shown + " is too large for a number" + (isInteger ? " without a point" : ""));
    if (isInteger && written.size() <= 40)
      d.hint("write `" + std::string(written) + ".0` if it is no int");
    return placeholder(at);
  }
  return std::make_unique<NumberExpr>(at, isInteger, integer, value);
}

ExprPtr AstBuilder::cond(P::CondContext *ctx) {
  ExprPtr condition = expr(ctx->expr());
  CodeBlock thenBlock = block(ctx->block(0));
  CodeBlock elseBlock;
  if (ctx->cond()) {
    elseBlock = bare(cond(ctx->cond()));
  } else if (ctx->ELSE()) {
    elseBlock = block(ctx->block(1));
  } else {
    diags_.error(range(ctx->IF()), "this `if` has no `else`; an `if` is a value and needs both")
        .hint("write `if c { a } else { b }`");
    elseBlock = bare(placeholder(range(ctx)));
  }
  return std::make_unique<IfExpr>(range(ctx), std::move(condition), std::move(thenBlock),
                                  std::move(elseBlock));
}

ExprPtr AstBuilder::match(P::MatchExprContext *ctx) {
  ExprPtr subject = expr(ctx->expr());
  std::vector<MatchArm> arms;
  auto written = ctx->arm();
  for (size_t i = 0; i < written.size(); ++i) {
    auto *a = written[i];
    MatchArm arm;
    if (a->ID())
      arm.constructor = ident(a->ID());
    arm.patternRange = ranges_.of(a->start, a->armFields() ? a->armFields()->stop : a->start);
    if (a->armFields()) {
      checkCommas(a->armFields(), "a field");
      for (auto *f : a->armFields()->armField()) {
        Ident field = ident(f->ID(0));
        Ident name = f->EQ() ? ident(f->ID(1)) : field;
        arm.fields.push_back({std::move(field), std::move(name), nullptr});
      }
    }
    arm.body = a->block() ? block(a->block()) : bare(expr(a->expr()));
    arm.range = arm.patternRange.to(arm.body.range);
    if (a->expr() && !a->COMMA() && i + 1 < written.size()) {
      Token *next = written[i + 1]->start;
      diags_
          .error(missingAt(a->stop, next, ranges_, diags_),
                 "expected `,` after the arm, found " + foundText(next, ranges_, diags_))
          .hint("only an arm in braces, or the last one, does without `,`");
    }
    arms.push_back(std::move(arm));
  }
  return std::make_unique<MatchExpr>(range(ctx), std::move(subject), std::move(arms));
}

std::unique_ptr<BinderExpr> AstBuilder::binderHead(P::BinderHeadContext *ctx) {
  auto binder = std::make_unique<BinderExpr>(range(ctx), ident(ctx->BINDER()));
  binder->element = pattern(ctx->pattern());
  binder->list = expr(ctx->expr(0));
  if (ctx->IF())
    binder->filter = expr(ctx->expr(1));
  if (auto *state = ctx->binderState()) {
    binder->state = pattern(state->pattern());
    binder->start = expr(state->expr(0));
    if (state->WHILE())
      binder->condition = expr(state->expr(1));
  }
  return binder;
}

} // namespace dbc::frontend
