// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/SubscriptTyper.h"

namespace dbc::frontend {

/// k of a literal -k: it counts from the end. Else 0.
static int64_t fromEnd(const Expr &expr) {
  auto *unary = expr.as<UnaryExpr>();
  if (!unary || unary->op != UnaryExpr::Op::Minus)
    return 0;
  auto *number = unary->operand->as<NumberExpr>();
  return number && number->isInteger ? number->integer : 0;
}

const Type *SubscriptTyper::inferSubscript(SubscriptExpr &expr) {
  auto *name = expr.base->as<NameExpr>();
  if (name && name->name == "index" && scopes_.lookup(name->name) == scopes_.builtinBinding(Builtin::Index))
    return refuse(expr.range, quote(expr) + " is a conversion, not a value", "T4",
                  "call it: `" + reporter_.text(expr.range) + "(i)`");
  const Type *base = infer(*expr.base); // of literals, it stays literal
  auto owned = std::make_unique<Subscripts>();
  Subscripts &info = *owned;
  info.kind = Binding::Kind::Subscript;
  out_.bindings.push_back(std::move(owned));
  expr.resolved = &info;
  info.axes.resize(expr.subs.size());
  if (base->isList())
    return subscriptList(expr, base, info);
  if (base->isTensor())
    return subscriptTensor(expr, base, info);
  if (base->isTable())
    return subscriptTable(expr, base, info);
  inferSubs(expr);
  if (!base->isError()) {
    Diagnostic &diagnostic = error(
        expr.range,
        quote(*expr.base) + " is " + quote(base) + "; `[..]` takes an element of a list or tensor", "T3");
    if (base->isTuple())
      diagnostic.hint("tuples are taken apart by patterns: `let (a, b) = ..;`");
  }
  return fail();
}

void SubscriptTyper::inferSubs(SubscriptExpr &expr) {
  for (Sub &sub : expr.subs)
    for (Expr *operand : {sub.index.get(), sub.low.get(), sub.high.get()})
      if (operand)
        value(*operand);
}

const Type *SubscriptTyper::subscriptList(SubscriptExpr &expr, const Type *list, Subscripts &info) {
  if (expr.subs.size() != 1)
    return refuse(expr.range, quote(*expr.base) + " is a list, which has one axis", "T3",
                  "write `" + reporter_.text(expr.base->range) + "[i][k]`");
  Sub &sub = expr.subs[0];
  Subscripts::Axis &axis = info.axes[0];
  auto whole = [&](Expr *bound, bool &end) {
    if (!bound)
      return true;
    infer(*bound);
    end = fromEnd(*bound) > 0;
    if (bound->type->isTensor() && bound->type->scalar != Scalar::F32) {
      coercion_.defaultLiterals(*bound);
      error(bound->range, quote(*bound) + " is " + quote(bound->type) + "; a list is indexed by one `int`",
            "T3")
          .hint("a tensor of indices gathers the rows of a tensor");
      return false;
    }
    return coercion_.require(*bound, types_.integer(), "a list is indexed by");
  };
  if (sub.isSlice) {
    bool low = whole(sub.low.get(), axis.lowFromEnd), high = whole(sub.high.get(), axis.highFromEnd);
    return low && high ? list : fail();
  }
  return whole(sub.index.get(), axis.indexFromEnd) ? list->element : fail();
}

/// One of a table's layers.
const Type *SubscriptTyper::subscriptTable(SubscriptExpr &expr, const Type *table, Subscripts &info) {
  Sub &sub = expr.subs[0];
  if (expr.subs.size() != 1 || sub.isSlice)
    return refuse(expr.range,
                  "of a table of layers one is taken: `" + reporter_.text(expr.base->range) + "[i]`", "N3");
  const Type *index = indexInto(*sub.index, table->count, info.axes[0]);
  if (index && !index->isScalar())
    return refuse(sub.index->range, "a table of layers is indexed by one `int`", "N3");
  return index ? table->element : fail();
}

const Type *SubscriptTyper::subscriptTensor(SubscriptExpr &expr, const Type *tensor, Subscripts &info) {
  if (expr.subs.size() > tensor->rank()) {
    error(expr.range,
          quote(*expr.base) + " is " + quote(tensor) + ", which has " + std::to_string(tensor->rank()) +
              (tensor->rank() == 1 ? " axis" : " axes") + ", but is given " +
              std::to_string(expr.subs.size()),
          "T3");
    inferSubs(expr);
    return fail();
  }
  std::vector<Shape> extents;
  bool fine = true;
  for (size_t i = 0; i < expr.subs.size(); ++i) {
    Sub &sub = expr.subs[i];
    if (sub.isSlice) {
      if (subscriptSlice(sub, tensor->extents[i], info.axes[i]))
        extents.push_back(info.axes[i].extent);
      else
        fine = false;
      continue;
    }
    const Type *index = indexInto(*sub.index, tensor->extents[i], info.axes[i]);
    if (!index) {
      fine = false;
    } else if (index->isTensor() && expr.subs.size() > 1) {
      error(sub.range, "a tensor of indices gathers rows: it stands alone in `[..]`", "T3");
      fine = false;
    } else {
      extents.insert(extents.end(), index->extents.begin(), index->extents.end());
    }
  }
  if (!fine)
    return fail();
  extents.insert(extents.end(), tensor->extents.begin() + expr.subs.size(), tensor->extents.end());
  return types_.number(tensor->scalar, std::move(extents), tensor->bound);
}

bool SubscriptTyper::subscriptSlice(Sub &sub, const Shape &extent, Subscripts::Axis &axis) {
  auto bound = [&](Expr *expr, const Shape &otherwise, bool &end) -> std::optional<Shape> {
    if (!expr)
      return otherwise;
    if (value(*expr)->isError())
      return std::nullopt;
    if (int64_t k = fromEnd(*expr)) {
      end = true;
      return extent - Shape(k);
    }
    std::optional<Shape> shape = CheckedProgram::asShape(*expr);
    if (!shape && !ShapeResolver::madeOfDims(*expr)) // else that it leaves a rest has been reported
      error(expr->range,
            "the bound " + quote(*expr) + " of a tensor's slice is not made of dims, consts and numbers",
            "T3")
          .hint("`slice(x, start, extent)` takes a stretch of fixed extent from any start");
    return shape;
  };
  std::optional<Shape> low = bound(sub.low.get(), Shape(), axis.lowFromEnd);
  std::optional<Shape> high = bound(sub.high.get(), extent, axis.highFromEnd);
  if (!low || !high)
    return false;
  axis.isStatic = true;
  axis.begin = *low;
  axis.extent = *high - *low;
  std::string slice = quote(sub.range);
  if (!shapes_.requireNonNegative(*low, sub.range, "the slice " + slice + " begins before 0", "T3") ||
      !shapes_.requireNonNegative(
          extent - *high, sub.range,
          "the slice " + slice + " ends behind the axis, which has extent `" + extent.str() + "`", "T3"))
    return false;
  return shapes_.requireNonNegative(axis.extent - Shape(1), sub.range,
                                    "the slice " + slice + " is empty; every extent is at least 1", "T1");
}

const Type *SubscriptTyper::indexInto(Expr &expr, const Shape &extent, Subscripts::Axis &axis) {
  const Type *type = value(expr);
  if (type->isError())
    return nullptr;
  if (!type->isNumber() || (type->scalar != Scalar::Int && type->scalar != Scalar::Index)) {
    Diagnostic &diagnostic = error(expr.range,
                                   "an axis of extent `" + extent.str() + "` takes `index[" + extent.str() +
                                       "]` or `int`, but " + quote(expr) + " is " + quote(type),
                                   "T4");
    if (type->isNumber() && type->scalar == Scalar::F32)
      diagnostic.hint("`int(x)` drops the fraction");
    return nullptr;
  }
  std::optional<Shape> fixed = CheckedProgram::asShape(expr);
  if (fixed) {
    if (int64_t k = fromEnd(expr)) {
      axis.indexFromEnd = true;
      fixed = extent - Shape(k);
    }
    axis.isStatic = true;
    axis.begin = *fixed;
    std::string message =
        "index " + quote(expr) + " is out of range: the axis has extent `" + extent.str() + "`";
    if (!shapes_.requireNonNegative(*fixed, expr.range, message, "T4") ||
        !shapes_.requireNonNegative(extent - *fixed - Shape(1), expr.range, message, "T4"))
      return nullptr;
    return type;
  }
  axis.checked = type->scalar == Scalar::Int;
  if (type->scalar == Scalar::Index && !(extent - type->bound).noNegativeTerm()) {
    error(expr.range,
          quote(expr) + " is `index[" + type->bound.str() + "]`, but the axis it stands for has extent `" +
              extent.str() + "`",
          "T4")
        .hint("if it fits all the same, write `int(..)`, which is checked");
    return nullptr;
  }
  return type;
}

} // namespace dbc::frontend
