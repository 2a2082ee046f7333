// Which values are structural, across calls: of fns, cells and built-in functions. See StructureChecker.cpp.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/StructureChecker.h"

#include <algorithm>

namespace dbc::frontend {

AbstractValue StructureChecker::evalCall(const CallExpr &expr) {
  auto &call = static_cast<const Call &>(*expr.resolved);
  std::vector<AbstractValue> args;
  for (const ExprPtr &arg : expr.args)
    args.push_back(eval(*arg));
  switch (call.target) {
  case Call::Target::Conversion: {
    AbstractValue result = all(args);
    if (call.builtin != Builtin::Bool && !args.empty())
      result.number = args[0].number;
    return result;
  }
  case Call::Target::Builtin:
    return evalBuiltin(expr, call, args);
  case Call::Target::Function:
    break;
  }
  AbstractValue layer =
      call.func->layer ? call.receiver ? evalLayer(*call.receiver) : layer_ : AbstractValue();
  if (call.func->decl->funcKind == FuncDecl::FuncKind::Cell) {
    requireStructural(expr, layer, "which layer of a table the cell `" + call.func->name + "` is of",
                      "if it may be computed, make `" + call.func->name + "` a `fn`");
    return evalCell(expr, call, args);
  }
  callers_.push_back(expr.range);
  std::swap(layer_, layer);
  AbstractValue result = body(*call.func, args);
  std::swap(layer_, layer);
  callers_.pop_back();
  return result;
}

/// Which of a table's layers an expression stands for; structural where there is but one.
AbstractValue StructureChecker::evalLayer(const Expr &expr) {
  if (auto *subscript = expr.as<SubscriptExpr>()) {
    AbstractValue layer = evalLayer(*subscript->base);
    if (subscript->subs[0].index)
      layer.taint(eval(*subscript->subs[0].index));
    return layer;
  }
  if (auto *member = expr.as<MemberExpr>(); member && member->base->type && member->base->type->isLayer())
    return evalLayer(*member->base);
  // A member of the layer that the function is of, or the element of a table; else a param of the file.
  return expr.resolved && (expr.resolved->layer || expr.resolved->kind == Binding::Kind::Local)
             ? layer_
             : AbstractValue();
}

AbstractValue StructureChecker::evalCell(const CallExpr &expr, const Call &call,
                                         const std::vector<AbstractValue> &args) {
  bool own = !args.empty(), same = own;
  size_t keys = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const Binding &parameter = *call.func->arguments[i];
    if (!parameter.type->isKey()) {
      requireElements(*expr.args[i], parameter.type, args[i], call.func->name);
      continue;
    }
    requireStructural(*expr.args[i], args[i],
                      "the key " + quote(*expr.args[i]) + " of cell `" + call.func->name + "`",
                      "if the value may be computed, make `" + call.func->name + "` a `fn`");
    ++keys;
    own &= args[i].ownKey > 0;
    same &= args[i].ownKey == i + 1;
  }
  if (cell_) {
    descent_.call(*cell_, *call.func, expr.range, args);
    cellCalls_.add(*cell_, *call.func, expr, args);
  }
  if (cell_ && own) {
    cellCalls_.addOwn(*cell_, *call.func, expr.range);
    if (call.func == cell_ && same)
      if (Diagnostic *diagnostic = error(expr.range,
                                         quote(expr) + " needs itself: cell `" + cell_->name +
                                             "` is called with its own " + (keys == 1 ? "key" : "keys"),
                                         "C3"))
        diagnostic->hint("a recursion goes down a field of its node, or along a list, or lowers an int key");
  }
  return ofType(expr.type, true, expr.range, quote(expr) + " is the result of a cell");
}

/// Of a captured argument of a cell: lengths of lists, and integers and truths in them, be it within tuples
/// and records, are structure (C2).
void StructureChecker::requireElements(const Expr &expr, const Type *type, const AbstractValue &value,
                                       const std::string &cell, bool inList) {
  if (inList && type->isKey())
    return requireStructural(expr, value,
                             "an element of the list " + quote(expr) + " given to cell `" + cell + "`",
                             "if it may be computed, make `" + cell + "` a `fn`");
  if (type->isList()) {
    requireLength(expr, value, "given to a cell");
    if (value.element)
      requireElements(expr, type->element, *value.element, cell, true);
    return;
  }
  std::vector<const Type *> elements = type->elements;
  if (type->isRecord())
    for (const FieldInfo &field : type->record->fields)
      elements.push_back(field.type);
  for (size_t i = 0; i < elements.size() && i < value.elements.size(); ++i)
    requireElements(expr, elements[i], value.elements[i], cell, inList);
}

AbstractValue StructureChecker::evalBuiltin(const CallExpr &expr, const Call &call,
                                            const std::vector<AbstractValue> &args) {
  switch (call.builtin) {
  case Builtin::Maximum:
  case Builtin::Minimum:
  case Builtin::Div:
    return all(args);
  case Builtin::Sum:
  case Builtin::Max:
  case Builtin::Min:
  case Builtin::Any:
  case Builtin::All: {
    if (!args[0].element)
      break;
    AbstractValue result;
    result.taint(*args[0].element);
    markEnded(result, *expr.args[0], args[0]);
    return result;
  }
  case Builtin::Len:
    requireLength(*expr.args[0], args[0], "asked for its length");
    return AbstractValue();
  case Builtin::Reverse: {
    requireLength(*expr.args[0], args[0], "reversed");
    AbstractValue reversed = args[0];
    reversed.ownValue = nullptr;
    return reversed;
  }
  case Builtin::Zip: {
    for (size_t i = 0; i < args.size(); ++i)
      requireLength(*expr.args[i], args[i], "zipped");
    AbstractValue pair;
    for (const AbstractValue &list : args)
      pair.elements.push_back(list.element ? *list.element : AbstractValue());
    AbstractValue result;
    result.element = std::make_shared<AbstractValue>(std::move(pair));
    return result;
  }
  case Builtin::Nodes: {
    if (cell_)
      if (Diagnostic *diagnostic = error(expr.range, "`nodes` does not stand inside cells", "D3"))
        diagnostic->note(cell_->decl->name.range, "this is inside the cell `" + cell_->name + "`")
            .hint("go down the fields of the node");
    return ofType(expr.type, false, {}, "");
  }
  case Builtin::Every: {
    if (cell_)
      if (Diagnostic *diagnostic = error(expr.range, "`every` does not stand inside cells", "C5"))
        diagnostic->note(cell_->decl->name.range, "this is inside the cell `" + cell_->name + "`");
    AbstractValue pair, result;
    pair.elements = {AbstractValue(), args[0]};
    result.element = std::make_shared<AbstractValue>(std::move(pair));
    return result;
  }
  case Builtin::CrossEntropy:
  case Builtin::BinaryCrossEntropy:
    checkOrigin(expr, args[0]);
    return AbstractValue();
  case Builtin::Softmax:
  case Builtin::LogSoftmax:
  case Builtin::Sigmoid: {
    AbstractValue result = ofType(expr.type, true, expr.range, quote(expr) + " is computed");
    result.origin = call.builtin;
    result.originRange = expr.range;
    result.ends = args[0].ends;
    return result;
  }
  case Builtin::Split:
    return ofType(expr.type, true, expr.range, quote(expr) + " is made of a tensor");
  default:
    break;
  }
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].computed)
      return ofType(expr.type, true, args[i].where, args[i].why);
    if (args[i].element)
      return ofType(expr.type, true, expr.args[i]->range,
                    quote(*expr.args[i]) + " is `" + expr.args[i]->type->str() + "`");
  }
  return ofType(expr.type, true, expr.range, quote(expr) + " is computed");
}

void StructureChecker::checkOrigin(const CallExpr &expr, const AbstractValue &logits) {
  bool soft = logits.origin == Builtin::Softmax || logits.origin == Builtin::LogSoftmax;
  bool binary = expr.resolved->builtin == Builtin::BinaryCrossEntropy;
  if (!(binary ? logits.origin == Builtin::Sigmoid : soft))
    return;
  std::string loss = builtinInfo(expr.resolved->builtin).name, made = builtinInfo(logits.origin).name;
  Diagnostic *diagnostic = error(expr.args[0]->range,
                                 "`" + loss + "` takes " + (binary ? "a logit" : "logits") + ", but " +
                                     quote(*expr.args[0]) + " is what `" + made + "` gives",
                                 "E1");
  if (!diagnostic)
    return;
  diagnostic->note(logits.originRange, "`" + made + "` stands here");
  diagnostic->hint("leave `" + made + "` out: `" + loss + "` has it built in");
}

} // namespace dbc::frontend
