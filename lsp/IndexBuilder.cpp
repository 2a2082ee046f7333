// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What stands in the bodies of functions.
#include "lsp/IndexBuilder.h"

#include <cassert>

namespace dbc::lsp {

using namespace frontend;

//===----------------------------------------------------------------------===//
// Writing down
//===----------------------------------------------------------------------===//

Scope &IndexBuilder::newScope(SourceRange range, const Scope *parent, bool hasBraces) {
  Scope &scope = out_.scopes_.emplace_back();
  scope.range = range;
  scope.parent = parent;
  scope.hasBraces = hasBraces;
  return scope;
}

Occurrence &IndexBuilder::add(SourceRange range, const Symbol &symbol, bool isMember) {
  assert(range.valid() && "a name stands in a text");
  Occurrence &occurrence = out_.occurrences_.emplace_back();
  occurrence.range = range;
  occurrence.symbol = &symbol;
  occurrence.isMember = isMember;
  return occurrence;
}

Occurrence *IndexBuilder::occur(SourceRange range, const Symbol *symbol, bool isMember) {
  return symbol ? &add(range, *symbol, isMember) : nullptr;
}

const Symbol *IndexBuilder::occurQualified(const Ident &module, const Ident &name, const Type *type,
                                           const Scope &scope) {
  const Symbol *symbol = nullptr;
  if (module) {
    const Symbol *of = lookup(module.text, scope, module.range.begin);
    occur(module.range, of);
    symbol = lookupIn(of, name.text);
  } else {
    symbol = lookup(name.text, scope, name.range.begin);
  }
  if (Occurrence *occurrence = occur(name.range, symbol, /*isMember=*/static_cast<bool>(module)))
    occurrence->type = type;
  return symbol;
}

void IndexBuilder::occurWord(SourceRange range, const std::string &word, const Type *type) {
  range.end = range.begin + static_cast<uint32_t>(word.size());
  add(range, language(word)).type = type;
}

const Symbol &IndexBuilder::language(const std::string &name) {
  const Symbol *&known = language_[name];
  if (!known) {
    Symbol &symbol = out_.symbols_.emplace_back();
    symbol.kind = NameKind::Language;
    symbol.name = name;
    if (const BuiltinInfo *info = findBuiltin(name))
      symbol.builtin = info->id;
    known = &symbol;
  }
  return *known;
}

const Symbol *IndexBuilder::lookup(const std::string &name, const Scope &scope, uint32_t at) {
  if (const Symbol *symbol = scope.find(name, at))
    return symbol;
  return findBuiltin(name) ? &language(name) : nullptr;
}

const Symbol *IndexBuilder::lookupIn(const Symbol *module, const std::string &name) const {
  if (!module || module->kind != NameKind::Module)
    return nullptr;
  const Symbol *symbol = out_.scopeOf(module->file)->find(name, 0);
  return symbol && symbol->kind != NameKind::Module ? symbol : nullptr; // imports of imports are not seen
}

void IndexBuilder::addTyped(SourceRange range, const Type *type) {
  if (range.file == out_.main_ && type && !type->isError())
    out_.typed_.push_back({range, type});
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

void IndexBuilder::visitBlock(const CodeBlock &block, const Scope &outer) {
  Scope &scope = newScope(block.range, &outer, block.braces);
  for (const Let &let : block.lets) {
    if (let.annotation)
      visitType(*let.annotation, scope);
    visit(*let.value, scope);
    visitPattern(*let.pattern, scope, let.range.end);
  }
  visit(*block.result, scope);
}

void IndexBuilder::visitPattern(const Pattern &pattern, Scope &scope, uint32_t from) {
  if (pattern.kind == Pattern::Kind::Name)
    scope.add(&declareLocal(pattern.name, pattern.resolved).symbol, from);
  else
    addTyped(pattern.range, pattern.type);
  for (const PatternPtr &element : pattern.elements)
    visitPattern(*element, scope, from);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void IndexBuilder::visit(const Expr &expr, const Scope &scope) {
  addTyped(expr.range, expr.type);
  switch (expr.kind) {
  case Expr::Kind::Name:
    visitName(static_cast<const NameExpr &>(expr), scope);
    return;
  case Expr::Kind::Member:
    visitMember(static_cast<const MemberExpr &>(expr), scope);
    return;
  case Expr::Kind::Call:
    return visitCall(static_cast<const CallExpr &>(expr), scope);
  case Expr::Kind::Record:
    return visitRecord(static_cast<const RecordExpr &>(expr), scope);
  case Expr::Kind::Match:
    return visitMatch(static_cast<const MatchExpr &>(expr), scope);
  case Expr::Kind::Binder:
    return visitBinder(static_cast<const BinderExpr &>(expr), scope);
  default:
    return visitOperands(expr, scope);
  }
}

void IndexBuilder::visitOperands(const Expr &expr, const Scope &scope) {
  if (auto *tuple = expr.as<TupleExpr>()) {
    for (const ExprPtr &element : tuple->elements)
      visit(*element, scope);
  } else if (auto *join = expr.as<JoinExpr>()) {
    for (const ExprPtr &element : join->elements)
      visit(*element, scope);
  } else if (auto *cond = expr.as<IfExpr>()) {
    visit(*cond->condition, scope);
    visitBlock(cond->thenBlock, scope);
    visitBlock(cond->elseBlock, scope);
  } else if (auto *unary = expr.as<UnaryExpr>()) {
    visit(*unary->operand, scope);
  } else if (auto *binary = expr.as<BinaryExpr>()) {
    visit(*binary->lhs, scope);
    visit(*binary->rhs, scope);
  } else if (auto *range = expr.as<RangeExpr>()) {
    visit(*range->low, scope);
    visit(*range->high, scope);
  } else if (auto *subscript = expr.as<SubscriptExpr>()) {
    visit(*subscript->base, scope);
    for (const Sub &sub : subscript->subs)
      for (const Expr *operand : {sub.index.get(), sub.low.get(), sub.high.get()})
        if (operand)
          visit(*operand, scope);
  }
}

Occurrence *IndexBuilder::visitName(const NameExpr &name, const Scope &scope) {
  Occurrence *occurrence = occur(name.nameRange, lookup(name.name, scope, name.nameRange.begin));
  if (occurrence)
    occurrence->type = name.type;
  return occurrence;
}

Occurrence *IndexBuilder::visitMember(const MemberExpr &member, const Scope &scope) {
  visit(*member.base, scope);
  const Symbol *symbol = nullptr;
  auto *base = member.base->as<NameExpr>();
  const Symbol *module = base ? lookup(base->name, scope, base->nameRange.begin) : nullptr;
  if (module && module->kind == NameKind::Module)
    symbol = lookupIn(module, member.member.text);
  else if (member.resolved)
    symbol = out_.declaredAt(member.resolved->range);
  Occurrence *occurrence = occur(member.member.range, symbol, /*isMember=*/true);
  if (occurrence)
    occurrence->type = member.type;
  return occurrence;
}

Occurrence *IndexBuilder::visitCallee(const Expr &callee, const Scope &scope) {
  auto *name = callee.as<NameExpr>();
  auto *member = callee.as<MemberExpr>();
  if (!name && !member) {
    visit(callee, scope);
    return nullptr;
  }
  addTyped(callee.range, callee.type);
  return name ? visitName(*name, scope) : visitMember(*member, scope);
}

void IndexBuilder::visitCall(const CallExpr &call, const Scope &scope) {
  if (Occurrence *function = visitCallee(*call.callee, scope)) {
    function->isCallee = true;
    function->type = call.type;
  }
  for (const ExprPtr &arg : call.args)
    visit(*arg, scope);
  if (call.axis) {
    occurWord(call.axisRange, "axis");
    visit(*call.axis, scope);
  }
  for (const NamedArg &setting : call.settings) {
    occurWord(setting.name.range, setting.name.text);
    visit(*setting.value, scope);
  }
}

void IndexBuilder::visitRecord(const RecordExpr &record, const Scope &scope) {
  const Symbol *symbol = occurQualified(record.module, record.record, record.type, scope);
  auto *decl = symbol && symbol->kind == NameKind::Record ? symbol->decl->as<RecordDecl>() : nullptr;
  for (const FieldInit &init : record.fields) {
    if (decl)
      for (const Field &field : decl->fields)
        if (field.name.text == init.name.text)
          if (Occurrence *occurrence = occur(init.name.range, out_.declaredAt(field.name.range), true))
            occurrence->type = init.value->type;
    visit(*init.value, scope);
  }
}

void IndexBuilder::visitMatch(const MatchExpr &match, const Scope &scope) {
  visit(*match.subject, scope);
  const DataDecl *data = match.resolved && match.resolved->data ? match.resolved->data->decl : nullptr;
  for (const MatchArm &arm : match.arms)
    visitArm(arm, data, scope);
}

void IndexBuilder::visitArm(const MatchArm &arm, const DataDecl *data, const Scope &outer) {
  Scope &scope = newScope(arm.range, &outer);
  const Constructor *constructor = nullptr;
  if (data)
    for (const Constructor &each : data->constructors)
      if (each.name.text == arm.constructor.text)
        constructor = &each;
  if (constructor)
    occur(arm.constructor.range, out_.declaredAt(constructor->name.range), /*isMember=*/true);
  for (const ArmField &field : arm.fields)
    visitArmField(field, constructor, scope, arm.patternRange.end);
  visitBlock(arm.body, scope);
}

void IndexBuilder::visitArmField(const ArmField &field, const Constructor *constructor, Scope &scope,
                                 uint32_t from) {
  const Symbol *symbol = nullptr;
  SourceRange target;
  if (constructor)
    for (const Field &each : constructor->fields)
      if (each.name.text == field.field.text) {
        symbol = out_.declaredAt(each.name.range);
        target = each.name.range;
      }
  const Type *type = field.resolved ? field.resolved->type : nullptr;
  if (!(field.field.range == field.name.range))
    if (Occurrence *occurrence = occur(field.field.range, symbol, /*isMember=*/true)) {
      occurrence->target = target;
      occurrence->arm = &field;
      occurrence->type = type;
    }
  const Declared local = declareLocal(field.name, field.resolved);
  scope.add(&local.symbol, from);
  local.occurrence.arm = &field;
  local.occurrence.type = type;
  if (field.field.range == field.name.range) {
    local.occurrence.field = symbol;
    local.occurrence.target = target;
  }
}

void IndexBuilder::visitBinder(const BinderExpr &binder, const Scope &outer) {
  if (Occurrence *occurrence =
          occur(binder.name.range, lookup(binder.name.text, outer, binder.name.range.begin))) {
    occurrence->type = binder.type;
    occurrence->isCallee = true;
  }
  visit(*binder.list, outer);
  if (binder.start)
    visit(*binder.start, outer);
  SourceRange inside = binder.range;
  inside.begin = binder.list->range.end;
  Scope &scope = newScope(inside, &outer);
  visitPattern(*binder.element, scope, binder.list->range.end);
  if (binder.state)
    visitPattern(*binder.state, scope, binder.start->range.end);
  for (const Expr *condition : {binder.filter.get(), binder.condition.get()})
    if (condition)
      visit(*condition, scope);
  visitBlock(binder.body, scope);
}

} // namespace dbc::lsp
