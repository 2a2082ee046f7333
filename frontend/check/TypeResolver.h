// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_TYPERESOLVER_H
#define DBC_FRONTEND_TYPERESOLVER_H

#include "frontend/check/ShapeResolver.h"
#include "frontend/check/Sizes.h"

namespace dbc::frontend {

/// Types as written: what they mean, and whether they may stand where they do.
class TypeResolver : CheckerBase {
public:
  TypeResolver(CheckedProgram &out, Reporter &reporter, Scopes &scopes, ShapeResolver &shapes, Sizes &sizes)
      : CheckerBase(out, reporter), scopes_(scopes), shapes_(shapes), sizes_(sizes) {}

  /// Where a type stands, for what may be written there.
  enum class Context { Param, Const, Field, Argument, Other };
  const Type *resolve(TypeExpr &expr, Context context);
  /// The same, and the error type if what it gives is not bounded.
  const Type *resolveBounded(TypeExpr &expr, Context context);

private:
  const Type *resolveNumber(TypeExpr &expr, Context context);
  const Type *resolveNamed(TypeExpr &expr, Context context);
  const Type *resolveList(TypeExpr &expr, Context context);
  const Type *resolveTable(TypeExpr &expr, Context context);
  const Type *resolveTuple(TypeExpr &expr, Context context);
  /// Reports what a type is not where it stands, and gives false.
  bool mayStand(const TypeExpr &expr, const Binding &binding, Context context);
  /// What to write in place of the name of a type that there is not; empty where that is not known.
  std::string hintFor(const std::string &name);

  Scopes &scopes_;
  ShapeResolver &shapes_;
  Sizes &sizes_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_TYPERESOLVER_H
