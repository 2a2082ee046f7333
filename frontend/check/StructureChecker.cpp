// Which values are structural and which computed (S1), and what must be structural (S2): keys, bounds,
// filters.
//
// A fn is an abbreviation, so whether a value in it is structural depends on the call. Bodies are therefore
// followed from entries, losses and cells through calls of fns; an AbstractValue is a tree
// that has the form of the value's type. What a fn gives for the same abstract values is kept.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/StructureChecker.h"

#include <algorithm>

namespace dbc::frontend {

Diagnostic *StructureChecker::error(SourceRange range, const std::string &message, const std::string &rule) {
  uint64_t location = (static_cast<uint64_t>(range.file) << 32) | range.begin;
  if (!reported_.insert({location, rule}).second)
    return nullptr;
  Diagnostic &diagnostic = reporter_.error(range, message, rule);
  if (!callers_.empty())
    diagnostic.note(callers_.back(), "in this call");
  return &diagnostic;
}

void StructureChecker::run() {
  for (const FuncInfo *func : out_.allFunctions)
    if (func->decl->funcKind != FuncDecl::FuncKind::Fn)
      root(*func);
  // Functions that nothing calls are checked as if their arguments came from the input; those of a library
  // only matter where they are called.
  for (const FuncInfo *func : out_.allFunctions)
    if (func->file == &main_ && !seen_.count(func))
      root(*func);
  cellCalls_.remarkOwnCycles();
  descent_.finish();
  cellCalls_.reportChangingLists(descent_);
  descent_.report(reporter_.shown());
}

void StructureChecker::root(const FuncInfo &func) {
  bool isCell = func.decl->funcKind == FuncDecl::FuncKind::Cell;
  cell_ = isCell ? &func : nullptr;
  std::vector<AbstractValue> args;
  for (const Binding *arg : func.arguments) {
    // Captured arguments of a cell are computed inside; keys are structural (C2).
    bool key = arg->type->isKey();
    args.push_back(ofType(arg->type, isCell && !key && !arg->type->isList(), arg->range,
                          "`" + arg->name + "` is a captured argument of a cell"));
    args.back().ownKey = isCell && key ? args.size() : 0;
    args.back().ownValue = isCell && !key ? arg : nullptr;
  }
  if (isCell)
    keys(func, args);
  AbstractValue result = body(func, args);
  if (isCell)
    requireLengths(*func.decl->body.result, result, "given by a cell");
  cell_ = nullptr;
}

/// The ranges of keys, and the measure.
void StructureChecker::keys(const FuncInfo &cell, std::vector<AbstractValue> &args) {
  Env outer = std::exchange(env_, {});
  std::vector<Descent::Number> numbers;
  for (size_t i = 0; i < args.size(); ++i) {
    const FuncArg &arg = cell.decl->args[i];
    const Type *type = cell.arguments[i]->type;
    AbstractValue low, high;
    if (arg.ranged()) {
      low = eval(*arg.low);
      high = eval(*arg.high);
      requireStructural(*arg.low, low, "the bound " + quote(*arg.low) + " of a key's range", "");
      requireStructural(*arg.high, high, "the bound " + quote(*arg.high) + " of a key's range", "");
    } else if (type->isScalar(Scalar::Index)) {
      low.number = Shape();
      high.number = type->bound;
    }
    if (arg.ranged() || type->isScalar(Scalar::Index))
      args[i].number = descent_.unknown(arg.name.text, low.number, high.number);
    numbers.push_back(args[i].number);
    env_[cell.arguments[i]] = args[i];
  }
  AbstractValue measure;
  if (const Expr *stated = cell.decl->measure.get()) {
    measure = eval(*stated);
    requireStructural(*stated, measure, "the measure " + quote(*stated), "");
  }
  descent_.cell(cell, std::move(numbers), cell.decl->measure != nullptr, measure.number);
  env_ = std::move(outer);
}

AbstractValue StructureChecker::ofType(const Type *type, bool computed, SourceRange where,
                                       const std::string &why) {
  AbstractValue value;
  if (type->isList()) {
    value.element = std::make_shared<AbstractValue>(ofType(type->element, computed, where, why));
    return value;
  }
  if (type->isRecord())
    for (const FieldInfo &field : type->record->fields)
      value.elements.push_back(ofType(field.type, computed, where, why));
  for (const Type *element : type->elements)
    value.elements.push_back(ofType(element, computed, where, why));
  if (type->isNumber() && computed)
    value.mark(where, why);
  return value;
}

AbstractValue StructureChecker::body(const FuncInfo &func, const std::vector<AbstractValue> &args) {
  seen_.insert(&func);
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(&func)) + "/" +
                    std::to_string(reinterpret_cast<uintptr_t>(cell_)) + "/";
  for (const AbstractValue &arg : args) {
    appendKey(arg, key);
    key += ',';
  }
  appendKey(layer_, key);
  auto kept = results_.find(key);
  if (kept != results_.end())
    return kept->second;
  Env outer = std::exchange(env_, {});
  for (size_t i = 0; i < args.size(); ++i)
    env_[func.arguments[i]] = args[i];
  AbstractValue result = block(func.decl->body);
  env_ = std::move(outer);
  return results_[key] = result;
}

AbstractValue StructureChecker::block(const CodeBlock &block) {
  for (const Let &let : block.lets)
    bind(*let.pattern, eval(*let.value));
  return eval(*block.result);
}

void StructureChecker::bind(const Pattern &pattern, const AbstractValue &value) {
  if (pattern.kind == Pattern::Kind::Name) {
    env_[pattern.resolved] = value;
    return;
  }
  for (size_t i = 0; i < pattern.elements.size(); ++i)
    bind(*pattern.elements[i], i < value.elements.size() ? value.elements[i] : value);
}

//===--------------------------------------------------------------------===//
// Expressions
//===--------------------------------------------------------------------===//

AbstractValue StructureChecker::eval(const Expr &expr) {
  AbstractValue value = evalForm(expr);
  const Type *type = expr.type;
  if (type && type->isNumber()) {
    if (type->isTensor())
      value.mark(expr.range, quote(expr) + " is a tensor");
    else if (type->scalar == Scalar::F32)
      value.mark(expr.range, quote(expr) + " is `f32`");
  }
  if (value.computed)
    out_.computed.insert(&expr);
  return value;
}

AbstractValue StructureChecker::all(const std::vector<AbstractValue> &operands) {
  AbstractValue result;
  for (const AbstractValue &operand : operands)
    result.taint(operand);
  return result;
}

AbstractValue StructureChecker::evalForm(const Expr &expr) {
  switch (expr.kind) {
  case Expr::Kind::Number: {
    AbstractValue value;
    value.number = CheckedProgram::asShape(expr);
    return value;
  }
  case Expr::Kind::Bool:
    return AbstractValue();
  case Expr::Kind::Name:
    return evalName(expr);
  case Expr::Kind::Tuple: {
    AbstractValue result;
    for (const ExprPtr &element : static_cast<const TupleExpr &>(expr).elements)
      result.elements.push_back(eval(*element));
    return result;
  }
  case Expr::Kind::Join: {
    for (const ExprPtr &element : static_cast<const JoinExpr &>(expr).elements)
      eval(*element);
    return AbstractValue(); // the empty list: nothing is known of elements
  }
  case Expr::Kind::If:
    return evalIf(static_cast<const IfExpr &>(expr));
  case Expr::Kind::Match:
    return evalMatch(static_cast<const MatchExpr &>(expr));
  case Expr::Kind::Binder:
    return evalBinder(static_cast<const BinderExpr &>(expr));
  case Expr::Kind::Unary: {
    auto &unary = static_cast<const UnaryExpr &>(expr);
    AbstractValue operand = eval(*unary.operand), result = all({operand});
    if (unary.op == UnaryExpr::Op::Minus && operand.number)
      result.number = Shape() - *operand.number;
    return result;
  }
  case Expr::Kind::Binary: {
    auto &binary = static_cast<const BinaryExpr &>(expr);
    AbstractValue lhs = eval(*binary.lhs), rhs = eval(*binary.rhs), result = all({lhs, rhs});
    using Op = BinaryExpr::Op;
    if (binary.op == Op::Append) {
      requireLength(*binary.lhs, lhs, "joined to another");
      requireLength(*binary.rhs, rhs, "joined to another");
      result = either(lhs, rhs);
      result.ownValue = nullptr;
      return result;
    }
    if (lhs.number && rhs.number && (binary.op == Op::Add || binary.op == Op::Sub || binary.op == Op::Mul))
      result.number = binary.op == Op::Add   ? *lhs.number + *rhs.number
                      : binary.op == Op::Sub ? *lhs.number - *rhs.number
                                             : *lhs.number * *rhs.number;
    return result;
  }
  case Expr::Kind::Range: {
    auto &range = static_cast<const RangeExpr &>(expr);
    AbstractValue low = eval(*range.low), high = eval(*range.high), element, result;
    requireStructural(*range.low, low, "the bound " + quote(*range.low) + " of a range", "");
    requireStructural(*range.high, high, "the bound " + quote(*range.high) + " of a range", "");
    if (cell_)
      element.number = descent_.unknown("element", low.number, high.number);
    result.element = std::make_shared<AbstractValue>(element);
    return result;
  }
  case Expr::Kind::Member:
    return evalMember(static_cast<const MemberExpr &>(expr));
  case Expr::Kind::Call:
    return evalCall(static_cast<const CallExpr &>(expr));
  case Expr::Kind::Subscript:
    return evalSubscript(static_cast<const SubscriptExpr &>(expr));
  case Expr::Kind::Record:
    return evalRecord(static_cast<const RecordExpr &>(expr));
  }
  return AbstractValue();
}

AbstractValue StructureChecker::evalName(const Expr &expr) {
  if (auto at = env_.find(expr.resolved); at != env_.end())
    return at->second;
  AbstractValue value; // a dim or a const
  value.number = CheckedProgram::asShape(expr);
  return value;
}

AbstractValue StructureChecker::evalMember(const MemberExpr &expr) {
  if (!expr.resolved || expr.resolved->kind != Binding::Kind::Field)
    return AbstractValue(); // a const or param of a layer or module
  AbstractValue base = eval(*expr.base);
  if (expr.resolved->record)
    return expr.resolved->index < base.elements.size() ? base.elements[expr.resolved->index]
                                                       : AbstractValue();
  AbstractValue field = ofType(expr.type, false, {}, "");
  field.taint(base);
  return field;
}

AbstractValue StructureChecker::evalRecord(const RecordExpr &expr) {
  AbstractValue result;
  const RecordInfo &record = *expr.type->record;
  result.elements.resize(record.fields.size());
  for (const FieldInit &field : expr.fields)
    result.elements[record.fieldIndex(field.name.text)] = eval(*field.value);
  return result;
}

AbstractValue StructureChecker::evalIf(const IfExpr &expr) {
  AbstractValue condition = eval(*expr.condition);
  AbstractValue first = block(expr.thenBlock), second = block(expr.elseBlock);
  requireLengths(*expr.thenBlock.result, first, "given by an arm");
  requireLengths(*expr.elseBlock.result, second, "given by an arm");
  AbstractValue result = either(first, second);
  if (condition.computed) {
    if (holds(expr.type, &Type::isNode))
      if (Diagnostic *diagnostic = error(expr.range, "an `if` on a computed value cannot give nodes", "S3")) {
        diagnostic->note(condition.where, condition.why);
        diagnostic->hint("structure must be known before any arithmetic; give what is computed at the nodes");
      }
    markAll(result, condition);
  }
  return result;
}

AbstractValue StructureChecker::evalMatch(const MatchExpr &expr) {
  eval(*expr.subject);
  AbstractValue result;
  bool first = true;
  for (const MatchArm &arm : expr.arms) {
    for (const ArmField &field : arm.fields)
      env_[field.resolved] = ofType(field.resolved->type, false, {}, "");
    AbstractValue value = block(arm.body);
    requireLengths(*arm.body.result, value, "given by an arm");
    result = first ? value : either(result, value);
    first = false;
  }
  return result;
}

AbstractValue StructureChecker::evalBinder(const BinderExpr &expr) {
  AbstractValue list = eval(*expr.list);
  Builtin builtin = expr.resolved->builtin;
  bind(*expr.element, list.element ? *list.element : AbstractValue());
  if (expr.filter) {
    requireLength(*expr.list, list, "filtered");
    requireStructural(*expr.filter, eval(*expr.filter), "a filter", "");
  }
  if (expr.state) {
    requireLength(*expr.list, list, "gone through by a `" + expr.name.text + "`");
    requireLengths(*expr.start, eval(*expr.start), "the state of a `" + expr.name.text + "`");
    AbstractValue state =
        ofType(expr.start->type, true, expr.state->range, "this is the state of a `" + expr.name.text + "`");
    bind(*expr.state, state);
    if (expr.condition)
      eval(*expr.condition);
    requireLengths(*expr.body.result, block(expr.body), "the state of a `" + expr.name.text + "`");
    if (builtin == Builtin::Fold)
      return state;
    AbstractValue states;
    states.element = std::make_shared<AbstractValue>(state);
    if (expr.condition)
      states.ends = expr.condition->range;
    return states;
  }
  AbstractValue value = block(expr.body);
  requireLengths(*expr.body.result, value, "an element of a list");
  if (holds(expr.body.result->type, &Type::isList))
    requireLength(*expr.list, list, "mapped to lists");
  if (builtin == Builtin::Map || builtin == Builtin::Softmax) {
    AbstractValue result;
    result.element = std::make_shared<AbstractValue>(std::move(value));
    result.ends = list.ends;
    return result;
  }
  AbstractValue result;
  result.taint(value);
  if (builtin == Builtin::ArgMax)
    result.mark(expr.range, quote(expr) + " is an `argmax`");
  markEnded(result, *expr.list, list);
  return result;
}

AbstractValue StructureChecker::evalSubscript(const SubscriptExpr &expr) {
  AbstractValue base = eval(*expr.base);
  bool list = expr.base->type->isList();
  if (list)
    requireLength(*expr.base, base, "indexed");
  for (const Sub &sub : expr.subs) {
    for (const Expr *bound : {sub.low.get(), sub.high.get()})
      if (bound) {
        AbstractValue value = eval(*bound);
        if (list)
          requireStructural(*bound, value, "the bound " + quote(*bound) + " of a list's slice", "");
      }
    if (!sub.index)
      continue;
    AbstractValue index = eval(*sub.index);
    if (list) {
      AbstractValue element = base.element ? *base.element : AbstractValue();
      if (index.computed) {
        if (holds(expr.type, &Type::isNode))
          if (Diagnostic *diagnostic = error(sub.index->range, "a computed index cannot choose a node", "S3"))
            diagnostic->note(index.where, index.why);
        if (holds(expr.type, &Type::isList))
          if (Diagnostic *diagnostic = error(sub.index->range, "a computed index cannot choose a list", "S3"))
            diagnostic->note(index.where, index.why).hint("its length must be known before any arithmetic");
        markAll(element, index);
      }
      return element;
    }
  }
  if (list) {
    AbstractValue slice = base;
    slice.ownValue = nullptr;
    return slice;
  }
  if (expr.base->type->isTable())
    return AbstractValue();
  AbstractValue result;
  result.mark(expr.range, quote(expr) + " is an element of a tensor");
  return result;
}

/// What a list is reduced to is computed where its length is (S4).
void StructureChecker::markEnded(AbstractValue &result, const Expr &expr, const AbstractValue &list) {
  if (list.ends.valid())
    result.mark(list.ends, "a `while` ends " + quote(expr));
}

/// A list that a `while` ends has no length before the arithmetic is done (S4).
void StructureChecker::requireLength(const Expr &expr, const AbstractValue &list, const std::string &use) {
  if (!list.ends.valid())
    return;
  Diagnostic *diagnostic =
      error(expr.range, "the length of " + quote(expr) + " is computed; the list cannot be " + use, "S4");
  if (!diagnostic)
    return;
  diagnostic->note(list.ends, "this `while` ends it");
  diagnostic->hint("it can be returned by an entry, mapped and reduced; a `fold` gives the last state");
}

void StructureChecker::requireLengths(const Expr &expr, const AbstractValue &value, const std::string &use) {
  requireLength(expr, value, use);
  for (const AbstractValue &element : value.elements)
    requireLengths(expr, element, use);
}

void StructureChecker::requireStructural(const Expr &expr, const AbstractValue &value,
                                         const std::string &what, const std::string &hint) {
  if (!value.computed)
    return;
  Diagnostic *diagnostic =
      error(expr.range, what + " is computed; it must be known before any arithmetic", "S2");
  if (!diagnostic)
    return;
  diagnostic->note(value.where, value.why);
  diagnostic->hint(hint);
}

} // namespace dbc::frontend
