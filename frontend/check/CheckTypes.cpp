// Types as written.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/CheckImpl.h"

namespace dbc::frontend {

//===--------------------------------------------------------------------===//
// Types as written
//===--------------------------------------------------------------------===//

/// As the runtime's kMaxListDepth.
static constexpr size_t kDeepestLists = 4;

/// How many lists lie in each other.
static size_t listDepth(const Type *type) { return type->isList() ? 1 + listDepth(type->element) : 0; }

const Type *Checker::resolveType(TypeExpr &expr, TypePlace place) {
  const Type *result = types_.error();
  switch (expr.kind) {
  case TypeExpr::Kind::F32:
  case TypeExpr::Kind::Int:
  case TypeExpr::Kind::Bool:
  case TypeExpr::Kind::Index: {
    Scalar scalar = expr.kind == TypeExpr::Kind::F32    ? Scalar::F32
                    : expr.kind == TypeExpr::Kind::Int  ? Scalar::Int
                    : expr.kind == TypeExpr::Kind::Bool ? Scalar::Bool
                                                        : Scalar::Index;
    std::optional<Shape> bound = Shape();
    if (expr.bound)
      bound = shapes_.resolveShape(*expr.bound);
    std::vector<Shape> extents;
    for (ExprPtr &part : expr.shape) {
      std::optional<Shape> extent = shapes_.resolveShape(*part);
      if (!extent) {
        bound = std::nullopt;
        continue;
      }
      if (extent->constant() && *extent->constant() < 1)
        error(part->range, "this extent is " + extent->str() + "; every extent is at least 1", "T1");
      extents.push_back(*extent);
    }
    if (bound)
      result = types_.number(scalar, std::move(extents), *bound);
    if ((place == TypePlace::Param || place == TypePlace::Const) && scalar != Scalar::F32)
      error(expr.range,
            std::string("a ") + (place == TypePlace::Param ? "param" : "tensor const") +
                " holds `f32`, not " + quote(expr.range),
            "N4");
    break;
  }
  case TypeExpr::Kind::Named:
    result = resolveNamed(expr, place);
    break;
  case TypeExpr::Kind::List: {
    const Type *element =
        resolveType(*expr.elements[0], place == TypePlace::Field ? place : TypePlace::Other);
    if (!element->isError())
      result = types_.list(element);
    if (listDepth(result) == kDeepestLists + 1)
      error(expr.range, "lists in lists are at most " + std::to_string(kDeepestLists) + " deep", "D2");
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not a list", "N4")
          .hint("a table of n layers is `[L; n]`, a tensor has its number in front: `f32[n, m]`");
      result = types_.error();
    }
    break;
  }
  case TypeExpr::Kind::Table:
    if (place == TypePlace::Param) {
      const Type *element = resolveType(*expr.elements[0], place);
      std::optional<Shape> count = shapes_.resolveShape(*expr.count);
      if (!element->isError() && !element->isLayer())
        error(expr.elements[0]->range, "a table holds layers, not " + quote(element), "N3")
            .hint("a tensor has its number in front: `f32[n, m]`");
      else if (!element->isError() && count &&
               shapes_.requireNonNegative(*count - Shape(1), expr.count->range,
                                          "a table of " + quote(*expr.count) + " layers is empty", "N3"))
        result = types_.table(element, *count);
    } else {
      error(expr.range, "a table of layers is the type of a param only", "N3");
    }
    break;
  case TypeExpr::Kind::Tuple: {
    std::vector<const Type *> parts;
    bool fine = place != TypePlace::Field && place != TypePlace::Param && place != TypePlace::Const;
    if (!fine)
      error(expr.range,
            place == TypePlace::Field
                ? "a field holds nodes, numbers, tensors and lists of these, not a tuple"
                : "a param is a tensor of `f32` or a layer, not a tuple",
            place == TypePlace::Field ? "D2" : "N4");
    for (TypeExprPtr &element : expr.elements) {
      parts.push_back(resolveType(*element, TypePlace::Other));
      fine &= !parts.back()->isError();
    }
    if (fine)
      result = types_.tuple(std::move(parts));
    break;
  }
  }
  return expr.type = result;
}

std::string Checker::hintForType(const std::string &name) {
  if (std::string idiom = typeIdiomFor(name); !idiom.empty())
    return idiom;
  auto isType = [](const Binding *binding) {
    return binding->kind == Binding::Kind::Data || binding->kind == Binding::Kind::Record ||
           binding->kind == Binding::Kind::Layer;
  };
  std::vector<std::string> types = {"f32", "int", "bool", "index"};
  if (FileScope *file = scopes_.file())
    for (auto &[candidate, binding] : file->names) {
      if (isType(binding))
        types.push_back(candidate);
      if (binding->kind == Binding::Kind::Data && binding->data->constructorIndex(name) >= 0)
        return "`" + name + "` is a constructor; its type is `" + candidate + "`";
      if (binding->kind == Binding::Kind::Module)
        if (Names &names = scopes_.of(*binding->module).names; names.count(name) && isType(names[name]))
          return "write `" + candidate + "." + name + "`";
    }
  return didYouMean(name, types);
}

const Type *Checker::resolveNamed(TypeExpr &expr, TypePlace place) {
  Binding *binding = expr.module ? scopes_.lookupIn(expr.module, expr.name) : scopes_.lookup(expr.name.text);
  if (!binding && !expr.module)
    error(expr.name.range, "there is no type `" + expr.name.text + "`", "N1")
        .hint(hintForType(expr.name.text));
  if (!binding)
    return types_.error();
  expr.resolved = binding;
  std::vector<Shape> arguments;
  bool fine = true;
  for (ExprPtr &argument : expr.shape) {
    std::optional<Shape> shape = shapes_.resolveShape(*argument);
    fine &= shape.has_value();
    arguments.push_back(shape.value_or(Shape()));
  }

  size_t wanted = 0;
  switch (binding->kind) {
  case Binding::Kind::Data:
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not data", "N4");
      return types_.error();
    }
    break;
  case Binding::Kind::Record:
    wanted = binding->record->dims.size();
    if (place == TypePlace::Field) {
      error(expr.range, "a field holds nodes, numbers, tensors and lists of these, not a record", "D2");
      return types_.error();
    }
    if (place == TypePlace::Param || place == TypePlace::Const) {
      error(expr.range, "a param is a tensor of `f32` or a layer, not a record", "N4");
      return types_.error();
    }
    break;
  case Binding::Kind::Layer:
    wanted = binding->layer->dims.size();
    if (place != TypePlace::Param) {
      error(expr.range, "`" + expr.name.text + "` is a layer; a layer is the type of a param only", "N3");
      return types_.error();
    }
    break;
  default: {
    Diagnostic &diagnostic = error(expr.range, quote(expr.range) + " is no type", "N1");
    if (binding->range.valid())
      diagnostic.note(binding->range, "`" + binding->name + "` is declared here");
    return types_.error();
  }
  }
  if (arguments.size() != wanted) {
    auto count = [](size_t n) { return std::to_string(n) + (n == 1 ? " dim" : " dims"); };
    error(expr.range,
          "`" + expr.name.text + "` has " + count(wanted) + ", but " + std::to_string(arguments.size()) +
              (arguments.size() == 1 ? " is" : " are") + " given",
          binding->kind == Binding::Kind::Layer ? "N3" : "T5")
        .note(binding->range, "`" + expr.name.text + "` is declared here");
    return types_.error();
  }
  if (!fine)
    return types_.error();
  if (binding->kind == Binding::Kind::Data)
    return binding->type;
  if (binding->kind == Binding::Kind::Record)
    return types_.record(binding->record, std::move(arguments));
  return types_.layer(binding->layer, std::move(arguments));
}

} // namespace dbc::frontend
