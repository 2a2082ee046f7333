// Declarations and types; expressions are in BuildExpr.cpp.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/syntax/BuildAst.h"

namespace dbc::frontend {

using antlr4::Token;
using syntax::DynParser;

void AstBuilder::header(P::HeaderContext *ctx, File &file) {
  file.isModule = ctx->MODULE() != nullptr;
  file.name = ident(ctx->ID());
}

void AstBuilder::import(P::ImportDeclContext *ctx, File &file) {
  Import import;
  import.range = range(ctx->importPath());
  for (auto *name : ctx->importPath()->ID())
    import.path.push_back(ident(name));
  file.imports.push_back(std::move(import));
}

void AstBuilder::decl(P::DeclContext *ctx, std::vector<DeclPtr> &out) {
  if (auto *dims = ctx->dimDecl()) {
    for (auto *item : dims->dimItem())
      out.push_back(std::make_unique<DimDecl>(range(item), ident(item->ID()),
                                              item->expr() ? shape(item->expr()) : nullptr));
  } else if (auto *c = ctx->constDecl()) {
    consts(c, out);
  } else if (auto *p = ctx->paramDecl()) {
    params(p, out);
  } else if (auto *d = ctx->dataDecl()) {
    out.push_back(data(d));
  } else if (auto *r = ctx->recordDecl()) {
    out.push_back(record(r));
  } else if (auto *l = ctx->layerDecl()) {
    out.push_back(layer(l));
  } else {
    out.push_back(func(ctx->funcDecl()));
  }
}

void AstBuilder::consts(P::ConstDeclContext *ctx, std::vector<DeclPtr> &out) {
  Token *last = ctx->type() ? ctx->type()->stop : ctx->expr()->stop;
  auto decl = std::make_unique<ConstDecl>(ranges_.of(ctx->ID()->getSymbol(), last), ident(ctx->ID()));
  if (ctx->type()) {
    decl->annotation = type(ctx->type());
  } else {
    decl->value = expr(ctx->expr());
    double ignored;
    if (!signedNumber(*decl->value, ignored))
      diags_
          .error(decl->value->range, "the value of `" + decl->name.text +
                                         "` is not a number; a const is a number, or a tensor that is loaded")
          .hint("sizes are computed by `dim`, other values by a `fn` without parameters");
  }
  out.push_back(std::move(decl));
}

void AstBuilder::params(P::ParamDeclContext *ctx, std::vector<DeclPtr> &out) {
  for (auto *item : ctx->paramItem())
    out.push_back(std::make_unique<ParamDecl>(range(item), ident(item->ID()), type(item->type()),
                                              item->expr() ? init(item->expr()) : nullptr));
}

bool AstBuilder::signedNumber(const Expr &e, double &value) const {
  const Expr *inner = &e;
  auto *minus = e.as<UnaryExpr>();
  if (minus && minus->op == UnaryExpr::Op::Minus)
    inner = minus->operand.get();
  auto *number = inner->as<NumberExpr>();
  if (!number || number->parenthesised)
    return false;
  value = inner == &e ? number->value : -number->value;
  return true;
}

std::unique_ptr<Init> AstBuilder::init(P::ExprContext *ctx) {
  ExprPtr written = expr(ctx);
  auto init = std::make_unique<Init>();
  init->range = written->range;
  if (signedNumber(*written, init->first))
    return init;
  auto *call = written->as<CallExpr>();
  auto *name = call ? call->callee->as<NameExpr>() : nullptr;
  struct InitForm {
    const char *name;
    Init::Kind kind;
    size_t arguments;
    const char *use;
  };
  static const InitForm forms[] = {{"uniform", Init::Kind::Uniform, 2, "the bounds: `uniform(-0.1, 0.1)`"},
                                   {"normal", Init::Kind::Normal, 2, "mean and deviation: `normal(0, 0.1)`"},
                                   {"glorot", Init::Kind::Glorot, 0, "nothing: `glorot()`"}};
  for (const InitForm &form : forms) {
    if (!name || name->name != form.name)
      continue;
    init->kind = form.kind;
    bool fits = call->args.size() == form.arguments && !call->axis && call->settings.empty();
    if (fits && form.arguments == 2)
      fits = signedNumber(*call->args[0], init->first) && signedNumber(*call->args[1], init->second);
    if (!fits)
      diags_.error(init->range,
                   "`" + text(init->range) + "` does not fit; `" + form.name + "` takes " + form.use);
    return init;
  }
  diags_.error(init->range,
               "this is no initial value; a param begins as a number, `uniform(low, high)`, "
               "`normal(mean, deviation)` or `glorot()`",
               "N6");
  return init;
}

DeclPtr AstBuilder::data(P::DataDeclContext *ctx) {
  auto decl = std::make_unique<DataDecl>(range(ctx), ident(ctx->ID()));
  if (ctx->fields()) {
    SourceRange written = decl->name.range.to(range(ctx->fields()));
    decl->constructors.push_back({written, decl->name, fields(ctx->fields())});
  }
  for (auto *c : ctx->constructor())
    decl->constructors.push_back(
        {range(c), ident(c->ID()), c->fields() ? fields(c->fields()) : std::vector<Field>()});
  if (decl->constructors.empty())
    diags_
        .error(decl->name.range, "`" + decl->name.text + "` has no constructor; a data type has at least one")
        .hint("write `data " + decl->name.text + "(..);` or `data " + decl->name.text + " { Name(..); }`");
  return decl;
}

std::vector<Field> AstBuilder::fields(P::FieldsContext *ctx) {
  checkCommas(ctx, "a field");
  std::vector<Field> result;
  for (auto *f : ctx->field())
    result.push_back({range(f), ident(f->ID()), type(f->type())});
  return result;
}

DeclPtr AstBuilder::record(P::RecordDeclContext *ctx) {
  auto decl = std::make_unique<RecordDecl>(range(ctx), ident(ctx->ID()));
  if (ctx->dims())
    decl->dims = dims(ctx->dims());
  for (auto *f : ctx->recordField())
    decl->fields.push_back({range(f), ident(f->ID()), type(f->type())});
  return decl;
}

DeclPtr AstBuilder::layer(P::LayerDeclContext *ctx) {
  auto decl = std::make_unique<LayerDecl>(range(ctx), ident(ctx->ID()));
  if (ctx->dims())
    decl->dims = dims(ctx->dims());
  for (auto *member : ctx->layerMember()) {
    if (member->paramDecl()) {
      params(member->paramDecl(), decl->members);
    } else if (member->constDecl()) {
      consts(member->constDecl(), decl->members);
    } else {
      DeclPtr made = func(member->funcDecl());
      auto *f = made->as<FuncDecl>();
      if (f->funcKind == FuncDecl::FuncKind::Entry || f->funcKind == FuncDecl::FuncKind::Loss)
        diags_.error(f->name.range, std::string("the ") + spelling(f->funcKind) + " `" + f->name.text +
                                        "` stands in a layer; a layer has `param`, `const`, `fn` and `cell`");
      decl->members.push_back(std::move(made));
    }
  }
  return decl;
}

std::vector<Ident> AstBuilder::dims(P::DimsContext *ctx) {
  checkCommas(ctx, "a name");
  std::vector<Ident> result;
  for (auto *d : ctx->ID())
    result.push_back(ident(d));
  return result;
}

DeclPtr AstBuilder::func(P::FuncDeclContext *ctx) {
  using Kind = FuncDecl::FuncKind;
  Kind kind = ctx->FN() ? Kind::Fn : ctx->CELL() ? Kind::Cell : ctx->ENTRY() ? Kind::Entry : Kind::Loss;
  auto decl = std::make_unique<FuncDecl>(range(ctx), ident(ctx->ID()), kind);
  std::string called = std::string("the ") + spelling(kind) + " `" + decl->name.text + "`";
  if (ctx->dims()) {
    decl->dims = dims(ctx->dims());
    if (kind != Kind::Fn)
      diags_.error(range(ctx->dims()),
                   called + " has dims of its own; only a `fn`, a record or a layer has them");
  }
  decl->args = args(ctx->args());
  if (ctx->type())
    decl->result = type(ctx->type());
  else if (kind != Kind::Loss)
    diags_.error(decl->name.range, called + " has no result type; only a loss may do without")
        .hint("write `-> type` after the parameters");
  if (ctx->expr()) {
    decl->measure = expr(ctx->expr());
    if (kind != Kind::Cell)
      diags_.error(decl->measure->range, called + " states a measure; only a `cell` has `by`", "C3");
  }
  decl->body = block(ctx->block());
  return decl;
}

std::vector<FuncArg> AstBuilder::args(P::ArgsContext *ctx) {
  checkCommas(ctx, "a parameter");
  std::vector<FuncArg> result;
  for (auto *a : ctx->arg()) {
    FuncArg arg;
    arg.range = range(a);
    arg.name = ident(a->ID());
    if (a->type()) {
      arg.annotation = type(a->type());
    } else {
      ExprPtr bounds = expr(a->expr());
      auto *between = bounds->as<RangeExpr>();
      if (between && !between->parenthesised) {
        arg.low = std::move(between->low);
        arg.high = std::move(between->high);
      } else {
        diags_
            .error(bounds->range,
                   "`" + text(bounds->range) + "` is no range; a parameter with `in` is an int within bounds",
                   "C2")
            .hint("write `" + arg.name.text + " in low..high`, or `" + arg.name.text + ": type`");
        arg.low = placeholder(bounds->range);
        arg.high = placeholder(bounds->range);
      }
    }
    result.push_back(std::move(arg));
  }
  return result;
}

TypeExprPtr AstBuilder::type(P::TypeContext *ctx) {
  if (!ctx->ID().empty())
    return namedType(ctx);
  auto result = std::make_unique<TypeExpr>();
  result->range = range(ctx);
  for (auto *element : ctx->type())
    result->elements.push_back(type(element));
  if (ctx->LPAREN()) {
    checkCommas(ctx, "a type");
    result->kind = TypeExpr::Kind::Tuple;
    if (result->elements.size() < 2)
      diags_.error(result->range, "`" + text(result->range) + "` has one element; a tuple has at least two")
          .hint("write the type without parentheses");
  } else if (ctx->expr()) {
    result->kind = TypeExpr::Kind::Table;
    result->count = shape(ctx->expr());
  } else {
    result->kind = TypeExpr::Kind::List;
  }
  return result;
}

TypeExprPtr AstBuilder::namedType(P::TypeContext *ctx) {
  auto result = std::make_unique<TypeExpr>();
  result->range = range(ctx);
  result->name = ident(ctx->ID().back());
  if (ctx->ID().size() > 1)
    result->module = ident(ctx->ID().front());
  const std::string &name = result->name.text;
  result->kind = result->module    ? TypeExpr::Kind::Named
                 : name == "f32"   ? TypeExpr::Kind::F32
                 : name == "int"   ? TypeExpr::Kind::Int
                 : name == "bool"  ? TypeExpr::Kind::Bool
                 : name == "index" ? TypeExpr::Kind::Index
                                   : TypeExpr::Kind::Named;
  auto lists = ctx->extents();
  size_t next = 0;
  if (result->kind == TypeExpr::Kind::Index) {
    if (lists.empty()) {
      diags_.error(result->range, "`index` stands without its bound; the numbers 0..n-1 are `index[n]`",
                   "T4");
      result->bound = placeholder(result->range);
      return result;
    }
    if (lists[0]->expr().size() > 1)
      diags_
          .error(range(lists[0]),
                 "`" + text(result->range) + "` gives `index` more than one bound; it has one", "T4")
          .hint("a tensor of them is `index[n][shape]`");
    result->bound = shape(lists[0]->expr(0));
    checkCommas(lists[0], "an extent");
    ++next;
  }
  if (next < lists.size()) {
    checkCommas(lists[next], "an extent");
    for (auto *extent : lists[next]->expr())
      result->shape.push_back(shape(extent));
    ++next;
  }
  if (next < lists.size())
    diags_
        .error(range(lists[next]), "`" + text(range(lists[next])) +
                                       "` is one pair of brackets too many; all extents stand in one")
        .hint("write `" + name + "[a, b]`");
  return result;
}

ExprPtr AstBuilder::shape(P::ExprContext *ctx) {
  ExprPtr e = expr(ctx);
  checkShape(*e);
  return e;
}

/// T1: extents are made of dims, consts, numbers and + - * /. Which of the names are dims is the checker's
/// question.
void AstBuilder::checkShape(const Expr &e) {
  if (auto *number = e.as<NumberExpr>()) {
    if (!number->isInteger)
      diags_.error(e.range, "`" + text(e.range) + "` is not an integer, which an extent is", "T1");
    return;
  }
  if (e.as<NameExpr>())
    return;
  if (auto *member = e.as<MemberExpr>())
    if (member->base->as<NameExpr>())
      return;
  if (auto *minus = e.as<UnaryExpr>())
    if (minus->op == UnaryExpr::Op::Minus)
      return checkShape(*minus->operand);
  if (auto *b = e.as<BinaryExpr>()) {
    using Op = BinaryExpr::Op;
    if (b->op == Op::Add || b->op == Op::Sub || b->op == Op::Mul || b->op == Op::Div) {
      checkShape(*b->lhs);
      return checkShape(*b->rhs);
    }
  }
  diags_.error(
      e.range,
      "`" + text(e.range) + "` is no extent; extents are made of dims, consts, integers and `+ - * /`", "T1");
}

void AstBuilder::checkCommas(antlr4::ParserRuleContext *ctx, const char *what) {
  antlr4::tree::TerminalNode *before = nullptr;
  for (auto *child : ctx->children) {
    auto *leaf = dynamic_cast<antlr4::tree::TerminalNode *>(child);
    bool comma = leaf && leaf->getSymbol()->getType() == DynParser::COMMA;
    if (comma && before)
      diags_.error(range(leaf), std::string("expected ") + what + " after `,`, found `,`");
    before = comma ? leaf : nullptr;
  }
}

bool AstBuilder::endsInComma(antlr4::ParserRuleContext *ctx) const {
  size_t n = ctx->children.size();
  auto *leaf = n < 2 ? nullptr : dynamic_cast<antlr4::tree::TerminalNode *>(ctx->children[n - 2]);
  return leaf && leaf->getSymbol()->getType() == DynParser::COMMA;
}

} // namespace dbc::frontend
