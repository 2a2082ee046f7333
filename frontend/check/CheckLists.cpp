// Calls of built-in functions of lists: `len zip reverse nodes every`.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

#include <algorithm>

namespace dbc::frontend {

const Type *Checker::typeList(CallExpr &expr, const BuiltinInfo &info) {
  if (info.typing == Typing::Nodes) {
    if (!expr.args[0]->type->isNode()) {
      coercion_.settle(*expr.args[0]);
      return wrongArgument(*expr.args[0], info, "a node");
    }
    return types_.list(expr.args[0]->type);
  }
  std::vector<const Type *> parts;
  for (ExprPtr &arg : expr.args) {
    bool table = arg->type->isTable() && (info.typing == Typing::Zip || info.typing == Typing::Len);
    if (!arg->type->isList() && !table) {
      coercion_.settle(*arg);
      Diagnostic &diagnostic = error(arg->range,
                                     std::string("`") + info.name + "` takes " +
                                         (info.typing == Typing::Zip ? "lists" : "a list") + ", but " +
                                         quote(*arg) + " is " + quote(arg->type),
                                     info.rule);
      if (info.typing == Typing::Len && arg->type->isTensor())
        diagnostic.hint("its extent is `" + arg->type->extents[0].str() + "`");
      return fail();
    }
    parts.push_back(arg->type->element);
  }
  if (info.typing == Typing::Len) {
    coercion_.settle(*expr.args[0]);
    return types_.integer();
  }
  return info.typing == Typing::Zip ? types_.list(types_.tuple(std::move(parts))) : expr.args[0]->type;
}

/// The cell that the expression calls, or null.
static const FuncInfo *calledCell(const Expr &expr) {
  auto *call = expr.as<CallExpr>();
  auto *resolved = call ? dynamic_cast<const Call *>(call->resolved) : nullptr;
  bool isCell = resolved && resolved->target == Call::Target::Function &&
                resolved->func->decl->funcKind == FuncDecl::FuncKind::Cell;
  return isCell ? resolved->func : nullptr;
}

const Type *Checker::typeEvery(CallExpr &expr) {
  Expr &arg = *expr.args[0];
  coercion_.settle(arg);
  if (arg.type->isError())
    return fail();
  const FuncInfo *cell = calledCell(arg);
  if (!cell) {
    error(arg.range, "`every` takes the call of a cell, but this is " + quote(arg), "C5")
        .hint("write `every(down(t, x))`; `nodes(t)` is the list of a tree's nodes");
    return fail();
  }
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
