// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/BinderTyper.h"

namespace dbc::frontend {

const Type *BinderTyper::inferBinder(BinderExpr &expr) {
  const BuiltinInfo *info = findBuiltin(expr.name.text);
  if (!info || !info->isBinder) {
    std::vector<std::string> binders;
    for (const std::string &name : builtinNames())
      if (findBuiltin(name)->isBinder)
        binders.push_back(name);
    Diagnostic &diagnostic =
        error(expr.name.range, "`" + expr.name.text + "` does not go through a list (`x in xs`)", "L1");
    std::string near = didYouMean(expr.name.text, binders);
    if (near.empty())
      near = idiomFor(expr.name.text);
    diagnostic.hint(near.empty()
                        ? "those that do: `map sum mean max min logsumexp softmax argmax any all scan "
                          "scan_back fold`"
                        : near);
    return fail();
  }
  expr.resolved = scopes_.builtinBinding(info->id);
  if (info->wantsState != static_cast<bool>(expr.state)) {
    if (expr.state)
      error(expr.state->range, std::string("`") + info->name + "` has no state", "L2")
          .hint("`scan`, `scan_back` and `fold` do");
    else
      error(expr.name.range, std::string("`") + info->name + "` needs a state and its start", "L2")
          .hint(std::string("write `") + info->usage + "`");
    return fail();
  }
  return info->wantsState ? inferScan(expr, info->id) : inferReducer(expr, info->id);
}

const Type *BinderTyper::inferRange(RangeExpr &expr) {
  infer(*expr.low);
  infer(*expr.high);
  bool low = coercion_.require(*expr.low, types_.integer(), "a range's bound is");
  bool high = coercion_.require(*expr.high, types_.integer(), "a range's bound is");
  if (!low || !high)
    return fail();
  // `0..n` with n a shape has elements index[n] (C2).
  std::optional<Shape> from = CheckedProgram::asShape(*expr.low), to = CheckedProgram::asShape(*expr.high);
  bool positive = to && !(to->constant() && *to->constant() < 1);
  if (from && from->constant() == 0 && positive)
    return types_.list(types_.index(*to));
  return types_.list(types_.integer());
}

void BinderTyper::bindElement(BinderExpr &expr) {
  const Type *list = expr.list->type;
  if (!list->isList() && !list->isTable() && !list->isError()) {
    Diagnostic &diagnostic = error(expr.list->range,
                                   "`" + expr.name.text + "(.. in ..)` goes through a list, but " +
                                       quote(*expr.list) + " is " + quote(list),
                                   "L1");
    Builtin builtin = expr.resolved->builtin;
    bool whole = builtin != Builtin::Map && builtin != Builtin::Scan && builtin != Builtin::ScanBack &&
                 builtin != Builtin::Fold;
    if (list->isTensor())
      diagnostic.hint((whole ? "reductions take a tensor as it is: `" + expr.name.text + "(x)`; its rows are "
                             : "its rows are ") +
                      std::string("`x[i]` with `i in 0..") + list->extents[0].str() + "`");
    else if (list->isScalar() && list->scalar != Scalar::F32 && list->scalar != Scalar::Bool)
      diagnostic.hint("write `0.." + reporter_.text(expr.list->range) + "`");
    else if (list->isNode())
      diagnostic.hint(hintForNode(*expr.list));
  }
  const Type *element = list->isList() || list->isTable() ? list->element : types_.error();
  if (!bindsTables(*expr.element, *expr.list))
    element = types_.error();
  scopes_.bindPattern(*expr.element, element, Binding::LocalKind::Element);
  if (expr.filter) {
    infer(*expr.filter);
    coercion_.require(*expr.filter, types_.boolean(), "a filter is");
  }
}

std::string BinderTyper::hintForNode(const Expr &node) const {
  const Binding *binding = node.resolved;
  auto *member = node.as<MemberExpr>();
  const bool isField = member || (binding && binding->kind == Binding::Kind::Local &&
                                  binding->local == Binding::LocalKind::ArmField);
  if (!isField)
    return "`nodes(t)` is the list of its nodes";
  return "it is one node; a field that holds several is a list, `" +
         (member ? member->member.text : reporter_.text(node.range)) + ": [" + node.type->str() + "]`";
}

/// Layers are bound one by one, straight from their table: which it is must be seen.
bool BinderTyper::bindsTables(const Pattern &pattern, const Expr &list) {
  if (list.type->isTable() || !list.type->isList() || !holdsLayer(list.type))
    return true;
  auto *call = list.as<CallExpr>();
  auto *zip = call ? static_cast<const Call *>(call->resolved) : nullptr;
  if (zip && zip->target == Call::Target::Builtin && zip->builtin == Builtin::Zip &&
      pattern.kind == Pattern::Kind::Tuple && pattern.elements.size() == call->args.size()) {
    bool fine = true;
    for (size_t i = 0; i < call->args.size(); ++i)
      fine &= bindsTables(*pattern.elements[i], *call->args[i]);
    return fine;
  }
  error(list.range, "layers are taken straight from their table", "N3")
      .hint("write `(l, x) in zip(layers, xs)`");
  return false;
}

const Type *BinderTyper::inferReducer(BinderExpr &expr, Builtin builtin) {
  value(*expr.list);
  size_t mark = scopes_.mark();
  bindElement(expr);
  inference_.inferBlock(expr.body);
  scopes_.leave(mark);
  Expr &body = *expr.body.result;
  if (body.type->isError())
    return fail();
  if (builtin == Builtin::Map) {
    if (!coercion_.refuseLayer(body))
      return fail();
    return types_.list(body.type);
  }
  const Type *result = reductions_.reduceElement(builtin, body.type, body.range, quote(body));
  if (builtin == Builtin::Mean || builtin == Builtin::LogSumExp)
    coercion_.coerce(body, result);
  else if (builtin == Builtin::Softmax)
    coercion_.coerce(body, result->isError() ? result : result->element);
  else if (builtin == Builtin::ArgMax)
    coercion_.defaultLiterals(body);
  return result;
}

const Type *BinderTyper::inferScan(BinderExpr &expr, Builtin builtin) {
  value(*expr.list);
  infer(*expr.start);
  const Type *state = coercion_.refuseLayer(*expr.start) ? expr.start->type : types_.error();

  // A literal start takes the body's type (T4): that is found by checking the body once with the literal.
  if (TypeRules::hasLiteral(state)) {
    const Type *next = tryNextState(expr, state);
    const Type *both = next->isError() ? nullptr : rules_.unify(state, next);
    state = rules_.defaulted(both ? both : state);
    // Inside another trial only the type matters; checking twice at each level would take 2^levels.
    if (reporter_.isTrying())
      return next->isError() ? fail() : builtin == Builtin::Fold ? state : types_.list(state);
  }
  if (state->isError())
    coercion_.defaultLiterals(*expr.start);
  else
    coercion_.require(*expr.start, state, "the state is");

  size_t mark = scopes_.mark();
  bindElement(expr);
  scopes_.bindPattern(*expr.state, state, Binding::LocalKind::State);
  if (expr.condition)
    inferCondition(expr, mark);
  inference_.inferBlock(expr.body);
  scopes_.leave(mark);
  if (!checkState(expr, builtin, state))
    return fail();
  return builtin == Builtin::Fold ? state : types_.list(state);
}

void BinderTyper::inferCondition(BinderExpr &expr, size_t mark) {
  // The condition is of the state alone: no element is there yet.
  std::vector<const Binding *> elements = scopes_.elementsUsed(mark, [&] {
    calls_.twice([&] { infer(*expr.condition); }); // for the first state, and for each further one
  });
  for (const Binding *element : elements)
    error(expr.condition->range,
          "`while` looks at the state, but " + quote(*expr.condition) + " uses the element `" +
              element->name + "`",
          "S4")
        .note(element->range, "`" + element->name + "` is bound here")
        .hint("keep what it needs in the state");
  coercion_.require(*expr.condition, types_.boolean(), "the condition of `while` is");
}

bool BinderTyper::checkState(BinderExpr &expr, Builtin builtin, const Type *state) {
  Expr &next = *expr.body.result;
  if (state->isError() || next.type->isError()) {
    coercion_.defaultLiterals(next);
    return false;
  }
  if (holdsNode(state)) {
    error(expr.start->range, "the state is " + quote(state) + ", which holds nodes; states hold numbers",
          "S1");
    return false;
  }
  if (holdsList(state) && builtin != Builtin::Fold && expr.condition) {
    error(expr.condition->range,
          "this ends a `" + expr.name.text + "` whose state is " + quote(state) +
              "; a list that a `while` ends has no lists for elements",
          "S4")
        .note(expr.start->range, "the state begins here")
        .hint("a `fold` that stops may have it, and gives the last state");
    return false;
  }
  if (coercion_.coerce(next, state))
    return true;
  coercion_.defaultLiterals(next);
  Diagnostic &diagnostic =
      error(next.range, "the next state is " + quote(next.type) + ", but the state begins as " + quote(state),
            "L2");
  diagnostic.note(expr.start->range, "it begins here");
  diagnostic.hint(coercion_.hintFor(next, next.type, state));
  return false;
}

const Type *BinderTyper::tryNextState(BinderExpr &expr, const Type *state) {
  Reporter::Trial trial(reporter_);
  size_t mark = scopes_.mark();
  bindElement(expr);
  scopes_.bindPattern(*expr.state, state, Binding::LocalKind::State);
  const Type *next = inference_.inferBlock(expr.body);
  scopes_.leave(mark);
  return next;
}

} // namespace dbc::frontend
