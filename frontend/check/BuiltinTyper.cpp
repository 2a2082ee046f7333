// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/BuiltinTyper.h"

#include <algorithm>

namespace dbc::frontend {

const Type *BuiltinTyper::callBuiltin(CallExpr &expr, const BuiltinInfo &info) {
  std::string name = std::string("`") + info.name + "`";
  if (info.typing == Typing::Conversion && info.id != Builtin::Index)
    return convert(expr, info.id, std::nullopt);

  // Arguments that are shapes are not values: they are looked at by the typing functions.
  size_t values = expr.args.size();
  if (info.typing == Typing::Reshape || info.typing == Typing::Fill || info.typing == Typing::TopK)
    values = std::min<size_t>(values, 1);
  else if (info.typing == Typing::Slice)
    values = std::min<size_t>(values, 2);
  else if (info.typing == Typing::Filled || info.typing == Typing::Iota)
    values = 0;
  bool fine = true;
  for (size_t i = 0; i < values; ++i)
    fine &= !infer(*expr.args[i])->isError();
  auto give = [&](const Type *type) {
    for (size_t i = 0; i < values; ++i)
      coercion_.defaultLiterals(*expr.args[i]);
    return type;
  };
  if (info.id == Builtin::Index) {
    error(expr.callee->range, "`index` is called with its extent: `index[n](i)`", "T4");
    return give(fail());
  }
  if (info.typing == Typing::Binder) {
    error(expr.callee->range, name + " is written as `" + info.usage + "`", info.rule);
    return give(fail());
  }
  int count = static_cast<int>(expr.args.size());
  if (count < info.minArgs || (info.maxArgs >= 0 && count > info.maxArgs)) {
    std::string wanted = info.minArgs == info.maxArgs ? std::to_string(info.minArgs)
                         : info.maxArgs < 0
                             ? "at least " + std::to_string(info.minArgs)
                             : std::to_string(info.minArgs) + " or " + std::to_string(info.maxArgs);
    bool extremum = (info.id == Builtin::Max || info.id == Builtin::Min) && count == 2;
    bool axis = info.takesAxis && !extremum && count == info.maxArgs + 1;
    error(expr.range,
          name + " takes " + wanted + (info.maxArgs == 1 ? " argument" : " arguments") + ", not " +
              std::to_string(count),
          info.rule)
        .hint(extremum ? std::string("of two numbers it is `") + info.name + "imum(a, b)`"
              : axis ? std::string("an axis is named, and counted from 0: `") + info.name + "(.., axis = ..)`"
                     : std::string("it is written `") + info.usage + "`");
    return give(fail());
  }
  if (expr.axis && !info.takesAxis) {
    value(*expr.axis);
    error(expr.axisRange, name + " takes no `axis`", info.rule);
    return give(fail());
  }
  if (info.typing != Typing::Conv2d && !operands_.refuseSettings(expr, name, info.rule))
    return give(fail());
  if (!fine)
    return give(fail());
  auto owned = std::make_unique<Call>();
  Call &call = *owned;
  call.kind = Binding::Kind::Call;
  call.name = info.name;
  call.target = Call::Target::Builtin;
  call.builtin = info.id;
  expr.resolved = &call;
  out_.bindings.push_back(std::move(owned));
  const Type *type = typeBuiltin(expr, info, call);
  return type->isError() ? give(type) : type;
}

const Type *BuiltinTyper::typeBuiltin(CallExpr &expr, const BuiltinInfo &info, Call &call) {
  switch (info.typing) {
  case Typing::FloatUnary:
  case Typing::FloatBinary:
  case Typing::Arithmetic:
  case Typing::Same:
    return typeElementwise(expr, info);
  case Typing::Select:
    return typeSelect(expr, info);
  case Typing::Reduction:
  case Typing::ArgMax:
  case Typing::Logical:
    return reductions_.typeReduction(expr, info, call);
  case Typing::Softmax:
    return reductions_.typeSoftmax(expr, info, call);
  case Typing::Split:
    return tensors_.typeSplit(expr, call);
  case Typing::Transpose:
    return tensors_.typeTranspose(expr);
  case Typing::Reshape:
    return tensors_.typeReshape(expr);
  case Typing::Filled:
  case Typing::Fill:
    return tensors_.typeFilled(expr, info);
  case Typing::Iota:
    return tensors_.typeIota(expr);
  case Typing::Dropout:
    return typeDropout(expr);
  case Typing::Put:
    return tensors_.typePut(expr);
  case Typing::Slice:
    return tensors_.typeSlice(expr);
  case Typing::TopK:
    return tensors_.typeTopK(expr);
  case Typing::Every:
    return typeEvery(expr);
  case Typing::Conv2d:
    return tensors_.typeConv2d(expr, call);
  case Typing::CrossEntropy:
    return typeCrossEntropy(expr);
  case Typing::Len:
  case Typing::Zip:
  case Typing::Reverse:
  case Typing::Nodes:
    return typeList(expr, info);
  case Typing::Div:
    return typeDiv(expr);
  case Typing::Conversion:
  case Typing::Binder:
    break; // callBuiltin has dealt with them
  }
  return fail();
}

const Type *BuiltinTyper::convert(CallExpr &expr, Builtin builtin, std::optional<Shape> bound) {
  operands_.inferArguments(expr);
  const BuiltinInfo &info = builtinInfo(builtin);
  if (expr.args.size() != 1 || expr.axis || !expr.settings.empty())
    return refuse(expr.range, std::string("`") + info.usage + "` takes one argument", "T4");
  Expr &arg = *expr.args[0];
  std::string what = "`" + std::string(builtin == Builtin::Index ? "index[n]" : info.name) + "`";
  if (!operands_.requireNumber(arg, what) || (builtin == Builtin::Index && !bound))
    return fail();
  Scalar scalar = builtin == Builtin::F32    ? Scalar::F32
                  : builtin == Builtin::Int  ? Scalar::Int
                  : builtin == Builtin::Bool ? Scalar::Bool
                                             : Scalar::Index;
  if (builtin == Builtin::Index && arg.type->scalar != Scalar::Int && arg.type->scalar != Scalar::Index)
    return refuse(arg.range, what + " narrows ints, but " + quote(arg) + " is " + quote(arg.type), "T4",
                  "`int(x)` makes an int of a number or bool");
  auto owned = std::make_unique<Call>();
  owned->kind = Binding::Kind::Call;
  owned->name = info.name;
  owned->target = Call::Target::Conversion;
  owned->builtin = builtin;
  expr.resolved = owned.get();
  out_.bindings.push_back(std::move(owned));
  return rules_.withScalar(arg.type, scalar, bound.value_or(Shape()));
}

const Type *BuiltinTyper::typeElementwise(CallExpr &expr, const BuiltinInfo &info) {
  std::string what = std::string("`") + info.name + "`";
  std::vector<Expr *> args;
  for (ExprPtr &arg : expr.args)
    args.push_back(arg.get());
  if (info.typing == Typing::Same)
    return operands_.requireNumber(*args[0], what) ? args[0]->type : fail();
  std::optional<Scalar> scalar = Scalar::F32;
  if (info.typing == Typing::Arithmetic) {
    scalar = operands_.commonScalar(args, expr.callee->range, what);
    if (!scalar)
      return fail();
  } else {
    for (Expr *arg : args)
      if (!operands_.requireFloat(*arg, what))
        return fail();
  }
  auto extents = operands_.broadcast(args, expr.callee->range, what);
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *BuiltinTyper::typeSelect(CallExpr &expr, const BuiltinInfo &info) {
  Expr &condition = *expr.args[0];
  if (!condition.type->isNumber() || condition.type->scalar != Scalar::Bool) {
    coercion_.defaultLiterals(condition);
    return operands_.wrongArgument(condition, info, "a `bool` or a tensor of it first");
  }
  std::vector<Expr *> choices = {expr.args[1].get(), expr.args[2].get()};
  std::optional<Scalar> scalar = operands_.commonScalar(choices, expr.callee->range, "`select`");
  if (!scalar)
    return fail();
  auto extents = operands_.broadcast({&condition, choices[0], choices[1]}, expr.callee->range, "`select`");
  return extents ? types_.number(*scalar, *extents) : fail();
}

const Type *BuiltinTyper::typeDropout(CallExpr &expr) {
  Expr &x = *expr.args[0], &rate = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::Dropout);
  if (!operands_.requireFloat(x, "`dropout`") || !operands_.requireFloat(rate, "the rate of `dropout`"))
    return fail();
  if (!rate.type->isScalar())
    return operands_.wrongArgument(rate, info, "a rate that is one number");
  if (auto *number = rate.as<NumberExpr>(); number && !(number->value < 1))
    return refuse(rate.range, "`dropout` divides by 1 - p: the rate p is at least 0 and below 1", "G2");
  return x.type;
}

const Type *BuiltinTyper::typeDiv(CallExpr &expr) {
  std::vector<Expr *> args = {expr.args[0].get(), expr.args[1].get()};
  std::optional<Scalar> scalar = operands_.commonScalar(args, expr.callee->range, "`div`");
  if (!scalar)
    return fail();
  for (Expr *arg : args)
    coercion_.defaultLiterals(*arg);
  for (Expr *arg : args)
    if (arg->type->scalar == Scalar::F32)
      return refuse(arg->range, "`div` takes ints, but " + quote(*arg) + " is " + quote(arg->type), "T4",
                    "numbers with a point are divided by `/`");
  auto extents = operands_.broadcast(args, expr.callee->range, "`div`");
  return extents ? types_.integer(*extents) : fail();
}

const Type *BuiltinTyper::typeCrossEntropy(CallExpr &expr) {
  Expr &logits = *expr.args[0], &label = *expr.args[1];
  const BuiltinInfo &info = builtinInfo(Builtin::CrossEntropy);
  coercion_.defaultLiterals(logits);
  if (!logits.type->isTensor() || logits.type->rank() != 1) {
    coercion_.defaultLiterals(label);
    return operands_.wrongArgument(logits, info, "logits with one axis");
  }
  if (!operands_.requireFloat(logits, "`cross_entropy`"))
    return fail();
  Shape classes = logits.type->extents[0];
  if (TypeRules::hasLiteral(label.type) && label.type->isScalar(Scalar::IntLiteral)) {
    coercion_.push(label, types_.index(classes));
    return types_.f32();
  }
  coercion_.defaultLiterals(label);
  const Type *type = label.type;
  if (type->isScalar(Scalar::Int))
    return types_.f32();
  auto mismatch = [&](const Shape &other) {
    return refuseOperands(
        {&logits, &label}, expr.callee->range,
        "`cross_entropy` of `" + classes.str() + "` logits and a label of `" + other.str() + "`", "T1");
  };
  if (type->isScalar(Scalar::Index))
    return (classes - type->bound).noNegativeTerm() ? types_.f32() : mismatch(type->bound);
  if (type->isTensor() && type->rank() == 1 && type->scalar == Scalar::F32)
    return type->extents[0] == classes ? types_.f32() : mismatch(type->extents[0]);
  return operands_.wrongArgument(
      label, info, "a label `index[" + classes.str() + "]` or a distribution `f32[" + classes.str() + "]`");
}

const Type *BuiltinTyper::typeList(CallExpr &expr, const BuiltinInfo &info) {
  if (info.typing == Typing::Nodes) {
    if (!expr.args[0]->type->isNode()) {
      coercion_.defaultLiterals(*expr.args[0]);
      return operands_.wrongArgument(*expr.args[0], info, "a node");
    }
    return types_.list(expr.args[0]->type);
  }
  std::vector<const Type *> elements;
  for (ExprPtr &arg : expr.args) {
    bool table = arg->type->isTable() && (info.typing == Typing::Zip || info.typing == Typing::Len);
    if (!arg->type->isList() && !table) {
      coercion_.defaultLiterals(*arg);
      Diagnostic &diagnostic = error(arg->range,
                                     std::string("`") + info.name + "` takes " +
                                         (info.typing == Typing::Zip ? "lists" : "a list") + ", but " +
                                         quote(*arg) + " is " + quote(arg->type),
                                     info.rule);
      if (info.typing == Typing::Len && arg->type->isTensor())
        diagnostic.hint("its extent is `" + arg->type->extents[0].str() + "`");
      return fail();
    }
    elements.push_back(arg->type->element);
  }
  if (info.typing == Typing::Len) {
    coercion_.defaultLiterals(*expr.args[0]);
    return types_.integer();
  }
  return info.typing == Typing::Zip ? types_.list(types_.tuple(std::move(elements))) : expr.args[0]->type;
}

/// The cell that the expression calls, or null.
static const FuncInfo *calledCell(const Expr &expr) {
  auto *call = expr.as<CallExpr>();
  auto *resolved = call ? dynamic_cast<const Call *>(call->resolved) : nullptr;
  bool isCell = resolved && resolved->target == Call::Target::Function &&
                resolved->func->decl->funcKind == FuncDecl::FuncKind::Cell;
  return isCell ? resolved->func : nullptr;
}

const Type *BuiltinTyper::typeEvery(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  coercion_.defaultLiterals(arg);
  if (arg.type->isError())
    return fail();
  const FuncInfo *cell = calledCell(arg);
  if (!cell)
    return refuse(arg.range, "`every` takes the call of a cell, but this is " + quote(arg), "C5",
                  "write `every(down(t, x))`; `nodes(t)` is the list of a tree's nodes");
  auto isKey = [](const Binding *argument) { return argument->type->isKey(); };
  auto key = std::find_if(cell->arguments.begin(), cell->arguments.end(), isKey);
  auto keys = std::count_if(cell->arguments.begin(), cell->arguments.end(), isKey);
  if (keys != 1 || !(*key)->type->isNode()) {
    error(arg.range,
          "`every` takes the call of a cell with one key, a node; `" + cell->name + "` has " +
              (keys == 1 ? "the key `" + (*key)->name + "`, which is " + quote((*key)->type)
                         : std::to_string(keys) + " keys"),
          "C5")
        .note(cell->decl->name.range, "`" + cell->name + "` is declared here");
    return fail();
  }
  for (const Binding *argument : cell->arguments)
    if (!isKey(argument) && holdsNode(argument->type)) {
      error(arg.range, "`every` takes the call of a cell that is given no nodes but its key", "C5")
          .note(argument->range, "`" + argument->name + "` is " + quote(argument->type));
      return fail();
    }
  return types_.list(types_.tuple({(*key)->type, arg.type}));
}

} // namespace dbc::frontend
