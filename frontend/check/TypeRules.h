// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TYPERULES_H
#define DBC_FRONTEND_TYPERULES_H

#include "frontend/check/Types.h"

#include <optional>

namespace dbc::frontend {

/// How types relate: which is assignable to which, which one two have in common, what literals become (T4).
class TypeRules {
public:
  explicit TypeRules(TypeContext &types) : types_(types) {}

  static bool assignable(const Type *from, const Type *to);
  /// The type that both are assignable to, or null. Literals give way.
  const Type *unify(const Type *a, const Type *b);
  static std::optional<std::pair<Scalar, Shape>> unifyScalars(const Type *a, const Type *b);
  static bool hasLiteral(const Type *type);
  /// What the type is where no context asks for one: literals are int or f32.
  const Type *defaulted(const Type *type);
  const Type *withScalar(const Type *type, Scalar scalar, const Shape &bound = {});

private:
  TypeContext &types_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TYPERULES_H
