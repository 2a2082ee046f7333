// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CallTyper.h"

namespace dbc::frontend {

const Type *CallTyper::inferCall(CallExpr &expr) {
  Expr &callee = *expr.callee;
  if (auto *name = callee.as<NameExpr>())
    return callNamed(expr, *name);
  if (auto *member = callee.as<MemberExpr>())
    return callMember(expr, *member);
  if (auto *subscript = callee.as<SubscriptExpr>()) {
    auto *base = subscript->base->as<NameExpr>();
    if (base && base->name == "index" && scopes_.lookup("index") == scopes_.builtinBinding(Builtin::Index)) {
      base->resolved = scopes_.builtinBinding(Builtin::Index);
      std::optional<Shape> bound;
      if (subscript->subs.size() == 1 && !subscript->subs[0].isSlice)
        bound = shapes_.resolveShape(*subscript->subs[0].index);
      else
        error(subscript->range, "`index[n]` takes one extent", "T4");
      return builtins_.convert(expr, Builtin::Index, bound);
    }
  }
  infer(callee);
  coercion_.defaultLiterals(callee);
  if (callee.type->isLayer())
    return callLayer(expr, callee, "call", callee.range);
  operands_.inferArguments(expr);
  if (!callee.type->isError())
    error(callee.range, quote(callee) + " is " + quote(callee.type) + ", which cannot be called", "C1");
  return fail();
}

const Type *CallTyper::callNamed(CallExpr &expr, NameExpr &callee) {
  Binding *binding = scopes_.lookup(callee.name);
  if (binding)
    return callBinding(expr, callee, binding);
  operands_.inferArguments(expr);
  names_.inferName(callee); // reports
  return fail();
}

const Type *CallTyper::callMember(CallExpr &expr, MemberExpr &callee) {
  if (scopes_.namesModule(*callee.base)) {
    auto &module = static_cast<NameExpr &>(*callee.base);
    Binding *binding = scopes_.lookupIn({module.name, module.range}, callee.member);
    if (binding)
      return callBinding(expr, callee, binding);
    operands_.inferArguments(expr);
    return fail();
  }
  const Type *base = value(*callee.base);
  const std::string &name = callee.member.text;
  if (base->kind == Type::Kind::Layer) {
    const Binding *member = base->layer->member(name);
    if (!member || member->kind != Binding::Kind::Param || member->type->kind != Type::Kind::Layer)
      return callLayer(expr, *callee.base, name, callee.member.range);
    infer(callee); // a layer inside the layer
    return callLayer(expr, callee, "call", callee.range);
  }
  operands_.inferArguments(expr);
  if (base->isError())
    return fail();
  Diagnostic &diagnostic = error(
      callee.member.range, quote(*callee.base) + " is " + quote(base) + "; only layers have functions", "N3");
  Binding *function = scopes_.lookup(name);
  bool callable =
      function && (function->kind == Binding::Kind::Func || function->kind == Binding::Kind::Builtin);
  if (callable)
    diagnostic.hint("write `" + name + "(" + reporter_.text(callee.base->range) +
                    (expr.args.empty() ? ")`" : ", ..)`"));
  else
    diagnostic.hint(idiomFor(name));
  return fail();
}

const Type *CallTyper::callBinding(CallExpr &expr, Expr &callee, Binding *binding) {
  callee.resolved = binding;
  if (binding->kind == Binding::Kind::Func)
    return callFunction(expr, *binding->func, nullptr);
  if (binding->kind == Binding::Kind::Builtin)
    return builtins_.callBuiltin(expr, builtinInfo(binding->builtin));
  if (binding->type && binding->type->kind == Type::Kind::Layer) {
    callee.type = binding->type;
    return callLayer(expr, callee, "call", callee.range);
  }
  operands_.inferArguments(expr);
  if (binding->type && binding->type->isError() && binding->kind != Binding::Kind::Data)
    return fail();
  std::string message = quote(callee);
  std::string rule = "C1", hint;
  switch (binding->kind) {
  case Binding::Kind::Record:
    message += " is a record, which is not called";
    rule = "T5";
    hint = "write `" + reporter_.text(callee.range) + " { .. }`";
    break;
  case Binding::Kind::Data:
    message += " is data, which comes from the application; programs never build it";
    rule = "D1";
    break;
  case Binding::Kind::Layer:
    message += " is a layer, not one of its instances";
    rule = "N3";
    hint = "declare a param of it: `param p: " + reporter_.text(callee.range) +
           (binding->layer->dims.empty() ? ";`" : "[..];`");
    break;
  case Binding::Kind::Module:
    message += " is a module, which is not called";
    rule = "N2";
    break;
  default:
    message += binding->type ? " is " + quote(binding->type) + ", which cannot be called"
                             : " is a number, which cannot be called";
    break;
  }
  Diagnostic &diagnostic = error(callee.range, message, rule);
  if (binding->range.valid())
    diagnostic.note(binding->range, "`" + binding->name + "` is declared here");
  diagnostic.hint(hint);
  return fail();
}

const Type *CallTyper::callLayer(CallExpr &expr, const Expr &layer, const std::string &function,
                                 SourceRange range) {
  const LayerInfo &info = *layer.type->layer;
  const Binding *member = info.member(function);
  if (member && member->kind == Binding::Kind::Func) {
    scopes_.use(member);
    if (expr.callee.get() != &layer) // `fwd(x)`: there `fwd` stays the parameter
      expr.callee->resolved = const_cast<Binding *>(member);
    return callFunction(expr, *member->func, &layer);
  }
  operands_.inferArguments(expr);
  std::vector<std::string> names;
  std::string list;
  for (const Binding *candidate : info.members)
    if (candidate->kind == Binding::Kind::Func) {
      names.push_back(candidate->name);
      list += (list.empty() ? "`" : ", `") + candidate->name + "`";
    }
  std::string near = didYouMean(function, names);
  Diagnostic &diagnostic =
      member ? error(range, "`" + function + "` of layer `" + info.name + "` is no function", "N3")
             : error(range, "layer `" + info.name + "` has no function `" + function + "`", "N3");
  diagnostic.note(info.decl->name.range, "`" + info.name + "` is declared here");
  diagnostic.hint(!near.empty() ? near : list.empty() ? "it has no functions" : "its functions: " + list);
  return fail();
}

const Type *CallTyper::callFunction(CallExpr &expr, const FuncInfo &func, const Expr *receiver) {
  for (ExprPtr &arg : expr.args)
    infer(*arg);
  if (!isCallable(expr, func))
    return fail();
  DimMap dims;
  if (receiver)
    dims = func.layer->bind(receiver->type->arguments);
  std::optional<DimMap> own = ownDims(expr, func, dims);
  if (!own)
    return fail();
  dims.insert(own->begin(), own->end());
  for (size_t i = 0; i < expr.args.size(); ++i) // whether an int key is in its range, the scheduler says (C2)
    coercion_.require(
        *expr.args[i],
        func.decl->args[i].ranged() ? types_.integer() : types_.substitute(func.arguments[i]->type, dims),
        "`" + func.arguments[i]->name + "` of `" + func.name + "` is", func.arguments[i]->range);

  auto owned = std::make_unique<Call>();
  owned->kind = Binding::Kind::Call;
  owned->name = func.name;
  owned->target = Call::Target::Function;
  owned->func = &func;
  owned->receiver = receiver;
  owned->dims = std::move(*own);
  expr.resolved = owned.get();
  out_.bindings.push_back(std::move(owned));
  calls_.add(func, expr.range);
  return types_.substitute(func.result, dims);
}

void CallTyper::defaultArgumentLiterals(CallExpr &expr) {
  for (ExprPtr &arg : expr.args)
    coercion_.defaultLiterals(*arg);
}

bool CallTyper::isCallable(CallExpr &expr, const FuncInfo &func) {
  std::string kind = spelling(func.decl->funcKind), name = "`" + func.name + "`";
  if (expr.axis) {
    value(*expr.axis);
    error(expr.axisRange, kind + " " + name + " takes no `axis`", "C1");
  }
  operands_.refuseSettings(expr, kind + " " + name, "C1");
  if (func.decl->funcKind == FuncDecl::FuncKind::Entry || func.decl->funcKind == FuncDecl::FuncKind::Loss) {
    defaultArgumentLiterals(expr);
    error(expr.callee->range,
          kind + " " + name + " cannot be called; entries and losses are for the application", "C1")
        .note(func.decl->name.range, name + " is declared here")
        .hint("put what both need into a `fn`, a recursion into a `cell`");
    return false;
  }
  size_t wanted = func.arguments.size();
  if (expr.args.size() == wanted)
    return true;
  defaultArgumentLiterals(expr);
  error(expr.range,
        kind + " " + name + " takes " + std::to_string(wanted) + (wanted == 1 ? " argument" : " arguments") +
            ", not " + std::to_string(expr.args.size()),
        "C1")
      .note(func.decl->name.range, name + " is declared here");
  return false;
}

std::optional<DimMap> CallTyper::ownDims(CallExpr &expr, const FuncInfo &func, const DimMap &layerDims) {
  std::set<const DimVar *> own(func.dims.begin(), func.dims.end());
  DimMap map;
  bool fine = true;
  for (size_t i = 0; i < expr.args.size(); ++i) {
    fine &= !expr.args[i]->type->isError();
    DimInference::match(types_.substitute(func.arguments[i]->type, layerDims), expr.args[i]->type, own, map);
  }
  bool complete = true;
  for (const DimVar *dim : func.dims)
    complete &= map.count(dim) > 0;
  if (complete)
    return map;
  if (fine) // else that is why
    dims_.requireAll(func.dims, map, expr.range,
                     std::string(spelling(func.decl->funcKind)) + " `" + func.name + "`");
  defaultArgumentLiterals(expr);
  return std::nullopt;
}

} // namespace dbc::frontend
