// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/TypeResolver.h"

namespace dbc::frontend {

/// As the runtime's kMaxListDepth.
static constexpr size_t kDeepestLists = 4;

/// How many lists lie in each other.
static size_t listDepth(const Type *type) { return type->isList() ? 1 + listDepth(type->element) : 0; }

const Type *TypeResolver::resolveBounded(TypeExpr &expr, Context context) {
  const Type *type = resolve(expr, context);
  return sizes_.isBounded(type, expr.range) ? type : expr.type = types_.error();
}

const Type *TypeResolver::resolve(TypeExpr &expr, Context context) {
  switch (expr.kind) {
  case TypeExpr::Kind::F32:
  case TypeExpr::Kind::Int:
  case TypeExpr::Kind::Bool:
  case TypeExpr::Kind::Index:
    return expr.type = resolveNumber(expr, context);
  case TypeExpr::Kind::Named:
    return expr.type = resolveNamed(expr, context);
  case TypeExpr::Kind::List:
    return expr.type = resolveList(expr, context);
  case TypeExpr::Kind::Table:
    return expr.type = resolveTable(expr, context);
  case TypeExpr::Kind::Tuple:
    return expr.type = resolveTuple(expr, context);
  }
  return expr.type = types_.error();
}

const Type *TypeResolver::resolveNumber(TypeExpr &expr, Context context) {
  Scalar scalar = expr.kind == TypeExpr::Kind::F32    ? Scalar::F32
                  : expr.kind == TypeExpr::Kind::Int  ? Scalar::Int
                  : expr.kind == TypeExpr::Kind::Bool ? Scalar::Bool
                                                      : Scalar::Index;
  std::optional<Shape> bound = Shape();
  if (expr.bound)
    bound = shapes_.resolveShape(*expr.bound);
  std::vector<Shape> extents;
  for (ExprPtr &each : expr.shape) {
    std::optional<Shape> extent = shapes_.resolveShape(*each);
    if (!extent) {
      bound = std::nullopt;
      continue;
    }
    if (extent->constant() && *extent->constant() < 1)
      error(each->range, "this extent is " + extent->str() + "; every extent is at least 1", "T1");
    extents.push_back(*extent);
  }
  if ((context == Context::Param || context == Context::Const) && scalar != Scalar::F32)
    error(expr.range,
          std::string("a ") + (context == Context::Param ? "param" : "tensor const") + " holds `f32`, not " +
              quote(expr.range),
          "N4");
  return bound ? types_.number(scalar, std::move(extents), *bound) : types_.error();
}

const Type *TypeResolver::resolveList(TypeExpr &expr, Context context) {
  const Type *element = resolve(*expr.elements[0], context == Context::Field ? context : Context::Other);
  const Type *result = element->isError() ? element : types_.list(element);
  if (listDepth(result) == kDeepestLists + 1)
    error(expr.range, "lists in lists are at most " + std::to_string(kDeepestLists) + " deep", "D2");
  if (context != Context::Param && context != Context::Const)
    return result;
  return refuse(expr.range, "a param is a tensor of `f32` or a layer, not a list", "N4",
                "a table of n layers is `[L; n]`, a tensor has its number in front: `f32[n, m]`");
}

const Type *TypeResolver::resolveTable(TypeExpr &expr, Context context) {
  if (context != Context::Param)
    return refuse(expr.range, "a table of layers is the type of a param only", "N3");
  const Type *element = resolve(*expr.elements[0], context);
  std::optional<Shape> count = shapes_.resolveShape(*expr.count);
  if (element->isError())
    return element;
  if (!element->isLayer())
    return refuse(expr.elements[0]->range, "a table holds layers, not " + quote(element), "N3",
                  "a tensor has its number in front: `f32[n, m]`");
  if (!count || !shapes_.requireNonNegative(*count - Shape(1), expr.count->range,
                                            "a table of " + quote(*expr.count) + " layers is empty", "N3"))
    return types_.error();
  return types_.table(element, *count);
}

const Type *TypeResolver::resolveTuple(TypeExpr &expr, Context context) {
  std::vector<const Type *> elements;
  bool fine = context != Context::Field && context != Context::Param && context != Context::Const;
  if (!fine)
    error(expr.range,
          context == Context::Field ? "a field holds nodes, numbers, tensors and lists of these, not a tuple"
                                    : "a param is a tensor of `f32` or a layer, not a tuple",
          context == Context::Field ? "D2" : "N4");
  for (TypeExprPtr &element : expr.elements) {
    elements.push_back(resolve(*element, Context::Other));
    fine &= !elements.back()->isError();
  }
  return fine ? types_.tuple(std::move(elements)) : types_.error();
}

const Type *TypeResolver::resolveNamed(TypeExpr &expr, Context context) {
  Binding *binding = expr.module ? scopes_.lookupIn(expr.module, expr.name) : scopes_.lookup(expr.name.text);
  if (!binding && !expr.module)
    error(expr.name.range, "there is no type `" + expr.name.text + "`", "N1").hint(hintFor(expr.name.text));
  if (!binding)
    return types_.error();
  expr.resolved = binding;
  if (!mayStand(expr, *binding, context))
    return types_.error();
  std::vector<Shape> arguments;
  bool fine = true;
  for (ExprPtr &argument : expr.shape) {
    std::optional<Shape> shape = shapes_.resolveShape(*argument);
    fine &= shape.has_value();
    arguments.push_back(shape.value_or(Shape()));
  }

  size_t wanted = binding->kind == Binding::Kind::Record  ? binding->record->dims.size()
                  : binding->kind == Binding::Kind::Layer ? binding->layer->dims.size()
                                                          : 0;
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

bool TypeResolver::mayStand(const TypeExpr &expr, const Binding &binding, Context context) {
  bool isParam = context == Context::Param || context == Context::Const;
  switch (binding.kind) {
  case Binding::Kind::Data:
    if (isParam)
      error(expr.range, "a param is a tensor of `f32` or a layer, not data", "N4");
    return !isParam;
  case Binding::Kind::Record:
    if (context == Context::Field)
      error(expr.range, "a field holds nodes, numbers, tensors and lists of these, not a record", "D2");
    if (isParam)
      error(expr.range, "a param is a tensor of `f32` or a layer, not a record", "N4");
    return !isParam && context != Context::Field;
  case Binding::Kind::Layer:
    if (context != Context::Param)
      error(expr.range, "`" + expr.name.text + "` is a layer; a layer is the type of a param only", "N3")
          .hint(context == Context::Argument
                    ? "use a param of this type directly; a function of any such layer is that of a `layer` "
                      "that has it as a param"
                    : "");
    return context == Context::Param;
  default: {
    Diagnostic &diagnostic = error(expr.range, quote(expr.range) + " is no type", "N1");
    if (binding.range.valid())
      diagnostic.note(binding.range, "`" + binding.name + "` is declared here");
    return false;
  }
  }
}

std::string TypeResolver::hintFor(const std::string &name) {
  if (std::string idiom = typeIdiomFor(name); !idiom.empty())
    return idiom;
  auto isType = [](const Binding *binding) {
    return binding->kind == Binding::Kind::Data || binding->kind == Binding::Kind::Record ||
           binding->kind == Binding::Kind::Layer;
  };
  std::vector<std::string> types = {"f32", "int", "bool", "index"};
  for (auto &[candidate, binding] : scopes_.fileNames()) {
    if (isType(binding))
      types.push_back(candidate);
    if (binding->kind == Binding::Kind::Data && binding->data->constructorIndex(name) >= 0)
      return "`" + name + "` is a constructor; its type is `" + candidate + "`";
    if (binding->kind == Binding::Kind::Module)
      if (Names &names = scopes_.namesOf(*binding->module); names.count(name) && isType(names[name]))
        return "write `" + candidate + "." + name + "`";
  }
  return didYouMean(name, types);
}

} // namespace dbc::frontend
