// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/TypeRules.h"

namespace dbc::frontend {

bool TypeRules::assignable(const Type *from, const Type *to) {
  if (from == to || from->isError() || to->isError() || from->isUnknown())
    return true;
  if (from->kind != to->kind)
    return false;
  switch (from->kind) {
  case Type::Kind::Number:
    if (from->extents != to->extents)
      return false;
    if (from->scalar == to->scalar)
      return from->scalar != Scalar::Index || (to->bound - from->bound).noNegativeTerm();
    if (from->scalar == Scalar::IntLiteral)
      return to->scalar != Scalar::Bool && (to->scalar != Scalar::Index || to->isScalar());
    if (from->scalar == Scalar::FloatLiteral)
      return to->scalar == Scalar::F32;
    return from->scalar == Scalar::Index && to->scalar == Scalar::Int;
  case Type::Kind::List:
    return assignable(from->element, to->element);
  case Type::Kind::Tuple: {
    if (from->elements.size() != to->elements.size())
      return false;
    for (size_t i = 0; i < from->elements.size(); ++i)
      if (!assignable(from->elements[i], to->elements[i]))
        return false;
    return true;
  }
  default:
    return false;
  }
}

const Type *TypeRules::unify(const Type *a, const Type *b) {
  if (a == b || b->isError() || b->isUnknown())
    return a;
  if (a->isError() || a->isUnknown())
    return b;
  if (a->kind != b->kind)
    return nullptr;
  if (a->isNumber()) {
    if (a->extents != b->extents)
      return nullptr;
    auto scalar = unifyScalars(a, b);
    return scalar ? types_.number(scalar->first, a->extents, scalar->second) : nullptr;
  }
  if (a->isList()) {
    const Type *element = unify(a->element, b->element);
    return element ? types_.list(element) : nullptr;
  }
  if (a->isTuple() && a->elements.size() == b->elements.size()) {
    std::vector<const Type *> elements;
    for (size_t i = 0; i < a->elements.size(); ++i) {
      const Type *element = unify(a->elements[i], b->elements[i]);
      if (!element)
        return nullptr;
      elements.push_back(element);
    }
    return types_.tuple(std::move(elements));
  }
  return nullptr;
}

std::optional<std::pair<Scalar, Shape>> TypeRules::unifyScalars(const Type *a, const Type *b) {
  if (a->scalar == b->scalar) {
    if (a->scalar != Scalar::Index || a->bound == b->bound)
      return std::make_pair(a->scalar, a->bound);
    if ((a->bound - b->bound).noNegativeTerm())
      return std::make_pair(Scalar::Index, a->bound);
    if ((b->bound - a->bound).noNegativeTerm())
      return std::make_pair(Scalar::Index, b->bound);
    return std::make_pair(Scalar::Int, Shape());
  }
  if (a->scalar == Scalar::Bool || b->scalar == Scalar::Bool)
    return std::nullopt;
  if (b->scalar == Scalar::IntLiteral)
    std::swap(a, b);
  if (a->scalar == Scalar::IntLiteral)
    return std::make_pair(b->scalar, b->bound);
  if (b->scalar == Scalar::FloatLiteral)
    std::swap(a, b);
  if (a->scalar == Scalar::FloatLiteral)
    return b->scalar == Scalar::F32 ? std::optional(std::make_pair(Scalar::F32, Shape())) : std::nullopt;
  if (a->scalar == Scalar::F32 || b->scalar == Scalar::F32)
    return std::nullopt;
  return std::make_pair(Scalar::Int, Shape());
}

bool TypeRules::hasLiteral(const Type *type) {
  if (type->isUnknown())
    return true;
  if (type->isNumber())
    return type->scalar == Scalar::IntLiteral || type->scalar == Scalar::FloatLiteral;
  if (type->isList())
    return hasLiteral(type->element);
  for (const Type *element : type->elements)
    if (hasLiteral(element))
      return true;
  return false;
}

const Type *TypeRules::defaulted(const Type *type) {
  if (!hasLiteral(type))
    return type;
  if (type->isUnknown())
    return types_.error();
  if (type->isNumber())
    return withScalar(type, type->scalar == Scalar::IntLiteral ? Scalar::Int : Scalar::F32);
  if (type->isList())
    return types_.list(defaulted(type->element));
  std::vector<const Type *> elements;
  for (const Type *element : type->elements)
    elements.push_back(defaulted(element));
  return types_.tuple(std::move(elements));
}

const Type *TypeRules::withScalar(const Type *type, Scalar scalar, const Shape &bound) {
  return types_.number(scalar, type->extents, bound);
}

} // namespace dbc::frontend
