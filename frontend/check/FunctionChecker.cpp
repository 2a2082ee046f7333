// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/FunctionChecker.h"

namespace dbc::frontend {

void FunctionChecker::resolveSignature(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  std::vector<const Type *> argumentTypes;
  for (size_t i = 0; i < decl->args.size(); ++i) {
    FuncArg &arg = decl->args[i];
    Binding *binding = scopes_.newBinding(Binding::Kind::Local, arg.name);
    binding->local = Binding::LocalKind::Argument;
    binding->index = static_cast<unsigned>(i);
    for (const Binding *earlier : func.arguments)
      if (earlier->name == arg.name.text)
        error(arg.name.range, "`" + arg.name.text + "` is declared twice", "N1")
            .note(earlier->range, "first declared here");
    if (arg.ranged())
      binding->type = typeOfRange(func, arg);
    else
      binding->type = resolver_.resolveBounded(*arg.annotation, TypeResolver::Context::Argument);
    argumentTypes.push_back(binding->type);
    arg.resolved = binding;
    func.arguments.push_back(binding);
    scopes_.watch(binding, "parameter");
    if (arg.ranged() && decl->funcKind != FuncDecl::FuncKind::Cell)
      error(arg.range, "`" + arg.name.text + "` states a range; only keys of cells do", "C2")
          .hint("write `" + arg.name.text + ": int`");
  }
  dims_.checkInferable(func.dims, argumentTypes, "`" + func.name + "`");
  resolveResult(func);
  if (decl->funcKind == FuncDecl::FuncKind::Cell)
    checkCellArguments(func);
}

const Type *FunctionChecker::typeOfRange(const FuncInfo &func, FuncArg &arg) {
  // `0..n` with n a shape has elements index[n] (C2). The bounds are inferred later, when all signatures are
  // known; here their names say enough.
  std::function<bool(const Expr &)> isShape = [&](const Expr &expr) {
    if (auto *number = expr.as<NumberExpr>())
      return number->isInteger;
    if (auto *name = expr.as<NameExpr>()) {
      for (const Binding *earlier : func.arguments)
        if (earlier->name == name->name)
          return false;
      Binding *binding = scopes_.lookup(name->name);
      return binding && (binding->kind == Binding::Kind::Dim ||
                         (binding->kind == Binding::Kind::Const && !binding->type));
    }
    auto *binary = expr.as<BinaryExpr>();
    return binary && ShapeResolver::isShapeOp(binary->op) && isShape(*binary->lhs) && isShape(*binary->rhs);
  };
  auto *low = arg.low->as<NumberExpr>();
  if (!low || !low->isInteger || low->integer != 0 || !isShape(*arg.high))
    return types_.integer();
  std::optional<Shape> high = shapes_.resolveShape(*arg.high);
  if (!high)
    return types_.error();
  return high->constant() && *high->constant() < 1 ? types_.integer() : types_.index(*high);
}

void FunctionChecker::resolveResult(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  bool loss = decl->funcKind == FuncDecl::FuncKind::Loss;
  if (!decl->result) {
    func.result = types_.f32();
    return;
  }
  func.result = resolver_.resolveBounded(*decl->result, TypeResolver::Context::Other);
  const Type *result = func.result;
  if (loss && !result->isError() && !result->isScalar(Scalar::F32) &&
      !(result->isTuple() && result->elements[0]->isScalar(Scalar::F32)))
    error(decl->result->range,
          "loss `" + func.name + "` gives " + quote(result) +
              "; the first element of a loss's tuple is its `f32`",
          "G3")
        .hint("write `-> (f32, ..)`, or no type at all");
  if (decl->funcKind == FuncDecl::FuncKind::Cell && holdsNode(result))
    error(decl->result->range, "cell `" + func.name + "` gives nodes; what a cell keeps is numbers", "C1")
        .hint("make it a `fn`");
}

void FunctionChecker::checkCellArguments(const FuncInfo &func) {
  const FuncDecl *decl = func.decl;
  bool key = false;
  for (const FuncArg &arg : decl->args) {
    const Type *type = arg.resolved->type;
    key |= type->isError() || type->isKey();
    if (type->isScalar(Scalar::Int) && !arg.ranged())
      error(arg.range,
            "key `" + arg.name.text + "` of cell `" + func.name +
                "` is a plain `int`; int keys state their range",
            "C2")
          .hint("write `" + arg.name.text + " in 0..n` in place of " + quote(arg.range));
    else if ((type->isRecord() || type->isTuple()) && holdsNode(type))
      error(arg.range, "`" + arg.name.text + "` holds nodes; records and tuples given to cells hold none",
            "C2")
          .hint("make the node a parameter of its own");
  }
  if (!key)
    error(decl->name.range, "cell `" + func.name + "` has no key; a cell is kept for each node, index or int",
          "C2")
        .hint("make it a `fn`");
}

void FunctionChecker::checkBody(FuncInfo &func) {
  auto *decl = const_cast<FuncDecl *>(func.decl);
  scopes_.inFunction(func, [&] {
    for (FuncArg &arg : decl->args) {
      if (arg.ranged()) {
        requireInteger(*arg.low, "a range's bound is");
        requireInteger(*arg.high, "a range's bound is");
      }
      scopes_.enterArgument(arg.resolved);
    }
    if (decl->measure)
      requireInteger(*decl->measure, "a measure is");
    inference_.inferBlock(decl->body);
    const std::string asker = std::string(spelling(decl->funcKind)) + " `" + func.name + "` gives";
    const Expr &gives = *decl->body.result;
    if (!decl->result && gives.type && gives.type->isTuple() &&
        gives.type->elements[0]->isScalar(Scalar::F32))
      coercion_.reportMismatch(gives, func.result, asker)
          .hint("what a loss gives beside its number stands in its type: `-> " + gives.type->str() + "`");
    else
      coercion_.require(*decl->body.result, func.result, asker,
                        decl->result ? decl->result->range : SourceRange());
  });
}

void FunctionChecker::requireInteger(Expr &expr, const std::string &asker) {
  infer(expr);
  coercion_.require(expr, types_.integer(), asker);
}

} // namespace dbc::frontend
