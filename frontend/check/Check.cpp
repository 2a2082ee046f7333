// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Checker.h"

#include <algorithm>

namespace dbc::frontend {

std::unique_ptr<CheckedProgram> check(Program &program, DiagnosticEngine &diags) {
  auto out = std::make_unique<CheckedProgram>();
  Checker(program, diags, *out).run();
  return out;
}

std::optional<Shape> CheckedProgram::asShape(const Expr &expr) {
  if (auto *number = expr.as<NumberExpr>()) {
    if (!number->isInteger)
      return std::nullopt;
    return Shape(number->integer);
  }
  if (expr.resolved && expr.resolved->kind == Binding::Kind::Dim)
    return expr.resolved->shape;
  // A tensor const has no value; its type may not be known yet.
  if (expr.resolved && expr.resolved->kind == Binding::Kind::Const)
    if (const ExprPtr &value = static_cast<const ConstDecl *>(expr.resolved->decl)->value)
      return asShape(*value);
  if (auto *unary = expr.as<UnaryExpr>()) {
    std::optional<Shape> operand = asShape(*unary->operand);
    if (unary->op != UnaryExpr::Op::Minus || !operand)
      return std::nullopt;
    return Shape() - *operand;
  }
  if (auto *binary = expr.as<BinaryExpr>()) {
    std::optional<Shape> lhs = asShape(*binary->lhs), rhs = asShape(*binary->rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (binary->op) {
    case BinaryExpr::Op::Add:
      return *lhs + *rhs;
    case BinaryExpr::Op::Sub:
      return *lhs - *rhs;
    case BinaryExpr::Op::Mul:
      return *lhs * *rhs;
    case BinaryExpr::Op::Div:
      return lhs->dividedBy(*rhs);
    default:
      return std::nullopt;
    }
  }
  return std::nullopt;
}

std::optional<DimValues> bindDims(const CheckedProgram &program, const std::map<std::string, int64_t> &given,
                                  DiagnosticEngine &diags, bool mayLack) {
  constexpr int64_t kLargest = int64_t(1) << 31; // extents and indices have 32 bits (T4)
  DimValues values;
  std::vector<std::string> names;
  bool lacks = false;
  size_t before = diags.errorCount();
  for (const Binding *dim : program.dims) {
    names.push_back(dim->name);
    auto at = given.find(dim->name);
    const DimVar *own = dim->shape.singleDim();
    if (!own || own->name != dim->name) {
      if (at != given.end())
        diags
            .error(dim->range,
                   "`-D" + dim->name + "` sets a dim that is made of others: it is `" + dim->shape.str() +
                       "`",
                   "N5")
            .hint("set the dims that it is made of");
      continue;
    }
    if (at == given.end() && !own->defaultValue) {
      lacks = true;
      if (mayLack)
        continue;
      diags.error(dim->range, "dim `" + dim->name + "` has no value", "N5")
          .hint("give it one: `-D" + dim->name + "=100`, in CMake `DIMS " + dim->name + "=100`");
      continue;
    }
    int64_t value = at != given.end() ? at->second : *own->defaultValue;
    if (value < 1 || value >= kLargest) {
      diags.error(dim->range,
                  "dim `" + dim->name + "` is " + std::to_string(value) +
                      (value < 1 ? "; every dim is at least 1" : "; a dim is below 2^31"),
                  "T1");
      continue;
    }
    values[own] = value;
  }
  for (auto &[name, value] : given) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      continue;
    diags.error(SourceRange(), "`-D" + name + "`: the model has no dim of this name", "N5")
        .hint(didYouMean(name, names));
  }
  if (diags.errorCount() != before)
    return std::nullopt;
  for (const Binding *dim : program.dims) {
    std::optional<int64_t> value = dim->shape.evaluate(values);
    if (!value && lacks)
      continue; // made of one without a value
    if (!value || *value < 1 || *value >= kLargest)
      diags.error(dim->range,
                  "dim `" + dim->name + "`, which is `" + dim->shape.str() + "`, is " +
                      (value ? std::to_string(*value) : "too large") + " at these sizes",
                  "T1");
  }
  if (diags.errorCount() != before)
    return std::nullopt;
  return values;
}

} // namespace dbc::frontend
