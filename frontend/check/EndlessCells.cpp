// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/EndlessCells.h"

#include "frontend/check/Components.h"

namespace dbc::frontend {

static bool isKeyedByNodes(const FuncInfo &func) {
  if (func.decl->funcKind != FuncDecl::FuncKind::Cell)
    return true; // what it is called with says nothing
  return std::all_of(func.arguments.begin(), func.arguments.end(), [](const Binding *argument) {
    return !argument->type->isKey() || argument->type->isNode();
  });
}

static const FuncInfo *calleeOf(const CallExpr *call) {
  return static_cast<const Call *>(call->resolved)->func;
}

/// The calls as they stand in the text.
static std::vector<const CallExpr *> inOrder(const std::map<const FuncInfo *, const CallExpr *> &needs) {
  std::vector<const CallExpr *> calls;
  for (const auto &[callee, call] : needs)
    calls.push_back(call);
  std::sort(calls.begin(), calls.end(),
            [](const CallExpr *a, const CallExpr *b) { return a->range.begin < b->range.begin; });
  return calls;
}

void EndlessCells::warn() {
  Graph<const FuncInfo> all, always;
  for (const auto &[caller, sites] : calls_.calls())
    for (const CallSite &site : sites)
      if (isKeyedByNodes(*caller) && isKeyedByNodes(*site.callee))
        all.edge(caller, site.callee);
  circleOf_ = all.circleNumbers();
  std::map<const FuncInfo *, Needs> needs;
  for (const FuncInfo &func : out_.funcInfos) {
    auto circle = circleOf_.find(&func);
    if (circle == circleOf_.end())
      continue;
    circle_ = circle->second;
    needs[&func] = ofBlock(func.decl->body);
    for (const CallExpr *call : inOrder(needs[&func]))
      always.edge(&func, calleeOf(call));
  }
  circleOf_ = always.circleNumbers();
  std::set<size_t> reported; // a circle is one warning
  for (const FuncInfo &func : out_.funcInfos)
    if (auto circle = circleOf_.find(&func); circle != circleOf_.end() &&
                                             func.decl->funcKind == FuncDecl::FuncKind::Cell &&
                                             reported.insert(circle->second).second)
      report(func, needs);
}

void EndlessCells::add(Needs &to, const Expr *expr) {
  if (expr)
    to.merge(of(*expr));
}

EndlessCells::Needs EndlessCells::ofBlock(const CodeBlock &block) {
  for (const Let &let : block.lets) {
    // Of a tuple that is taken apart at once only some elements may be needed.
    Needs value = let.value->as<TupleExpr>() ? Needs() : of(*let.value);
    std::function<void(const Pattern &)> bind = [&](const Pattern &pattern) {
      if (pattern.resolved)
        lets_[pattern.resolved] = value;
      for (const PatternPtr &element : pattern.elements)
        bind(*element);
    };
    bind(*let.pattern);
  }
  return of(*block.result);
}

/// Those that all of these need.
static void keepCommon(std::map<const FuncInfo *, const CallExpr *> &all,
                       const std::map<const FuncInfo *, const CallExpr *> &other) {
  for (auto at = all.begin(); at != all.end();)
    at = other.count(at->first) ? std::next(at) : all.erase(at);
}

EndlessCells::Needs EndlessCells::of(const Expr &expr) {
  Needs needs;
  if (auto *name = expr.as<NameExpr>()) {
    auto let = lets_.find(name->resolved);
    return let == lets_.end() ? needs : let->second;
  }
  if (auto *call = expr.as<CallExpr>())
    return ofCall(*call);
  if (auto *either = expr.as<IfExpr>()) {
    needs = ofBlock(either->thenBlock);
    keepCommon(needs, ofBlock(either->elseBlock));
    add(needs, either->condition.get());
  } else if (auto *match = expr.as<MatchExpr>()) {
    for (const MatchArm &arm : match->arms)
      if (&arm == &match->arms.front())
        needs = ofBlock(arm.body);
      else
        keepCommon(needs, ofBlock(arm.body));
    add(needs, match->subject.get());
  } else if (auto *binder = expr.as<BinderExpr>()) {
    add(needs, binder->list.get()); // which may be empty
  } else if (auto *binary = expr.as<BinaryExpr>()) {
    add(needs, binary->lhs.get());
    if (binary->op != BinaryExpr::Op::And && binary->op != BinaryExpr::Op::Or)
      add(needs, binary->rhs.get());
  } else if (auto *unary = expr.as<UnaryExpr>()) {
    add(needs, unary->operand.get());
  } else if (auto *range = expr.as<RangeExpr>()) {
    add(needs, range->low.get());
    add(needs, range->high.get());
  } else if (auto *member = expr.as<MemberExpr>()) {
    add(needs, member->base.get());
  } else if (auto *subscript = expr.as<SubscriptExpr>()) {
    add(needs, subscript->base.get());
    for (const Sub &sub : subscript->subs)
      for (const ExprPtr *each : {&sub.index, &sub.low, &sub.high})
        add(needs, each->get());
  } else if (auto *tuple = expr.as<TupleExpr>()) {
    for (const ExprPtr &element : tuple->elements)
      add(needs, element.get());
  } else if (auto *join = expr.as<JoinExpr>()) {
    for (const ExprPtr &element : join->elements)
      add(needs, element.get());
  } else if (auto *record = expr.as<RecordExpr>()) {
    for (const FieldInit &field : record->fields)
      add(needs, field.value.get());
  }
  return needs;
}

EndlessCells::Needs EndlessCells::ofCall(const CallExpr &expr) {
  Needs needs;
  auto *call = dynamic_cast<const Call *>(expr.resolved);
  if (call && call->target == Call::Target::Builtin && call->builtin == Builtin::Every)
    return needs; // of each node that there is
  if (call && call->target == Call::Target::Function)
    if (auto circle = circleOf_.find(call->func); circle != circleOf_.end() && circle->second == circle_)
      needs.emplace(call->func, &expr);
  add(needs, expr.callee.get());
  for (const ExprPtr &arg : expr.args)
    add(needs, arg.get());
  return needs;
}

void EndlessCells::report(const FuncInfo &cell, const std::map<const FuncInfo *, Needs> &needs) {
  // The shortest way back to the cell: by breadth, each function with the call that leads to it.
  std::map<const FuncInfo *, std::pair<const FuncInfo *, const CallExpr *>> from;
  std::vector<const FuncInfo *> met = {&cell};
  for (size_t i = 0; i < met.size() && !from.count(&cell); ++i)
    for (const CallExpr *call : inOrder(needs.at(met[i])))
      if (const FuncInfo *callee = calleeOf(call);
          circleOf_.count(callee) && from.emplace(callee, std::make_pair(met[i], call)).second)
        met.push_back(callee);
  std::vector<const CallExpr *> chain;
  for (const FuncInfo *at = &cell; chain.empty() || at != &cell; at = from[at].first)
    chain.push_back(from[at].second);
  std::reverse(chain.begin(), chain.end());
  constexpr size_t kMostNamed = 5;
  std::string way = chain.size() == 1 ? quote(*chain[0]) : "by way of";
  for (size_t i = 0; i + 1 < std::min(chain.size(), kMostNamed); ++i)
    way += (i ? ", `" : " `") + calleeOf(chain[i])->name + "`";
  if (chain.size() > kMostNamed)
    way += " ..";
  Diagnostic &diagnostic = reporter_.shown().warning(
      chain[0]->range,
      "each value of cell `" + cell.name + "` needs another, " + way + ": it ends for no input", "D4");
  for (size_t i = 1; i < std::min(chain.size(), kMostNamed); ++i)
    diagnostic.note(chain[i]->range, "`" + calleeOf(chain[i])->name + "` is called here");
  if (const DataInfo *data = endlessKey(cell))
    diagnostic
        .note(data->decl->name.range,
              "data type `" + data->name +
                  "` has no finite value: each of its constructors needs another node")
        .hint("what may be absent is a list, `[" + data->name + "]`");
  else
    diagnostic.hint("a recursion ends in an arm of `match` or `if`, or where a list is empty");
}

const DataInfo *EndlessCells::endlessKey(const FuncInfo &cell) {
  if (!finite_)
    finite_ = finiteDatas();
  for (const Binding *argument : cell.arguments)
    if (argument->type->isNode() && !finite_->count(argument->type->data))
      return argument->type->data;
  return nullptr;
}

std::set<const DataInfo *> EndlessCells::finiteDatas() const {
  std::set<const DataInfo *> finite;
  auto isFinite = [&](const ConstructorInfo &constructor) {
    return std::all_of(constructor.fields.begin(), constructor.fields.end(), [&](const FieldInfo &field) {
      return !field.type->isNode() || finite.count(field.type->data);
    });
  };
  for (size_t before = 1; before != finite.size();) {
    before = finite.size();
    for (const DataInfo *data : out_.datas)
      if (std::any_of(data->constructors.begin(), data->constructors.end(), isFinite))
        finite.insert(data);
  }
  return finite;
}

} // namespace dbc::frontend
