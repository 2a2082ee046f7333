// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SHAPERESOLVER_H
#define DBC_FRONTEND_SHAPERESOLVER_H

#include "frontend/check/Scopes.h"

namespace dbc::frontend {

/// Dims, and extents as written: what polynomial they are, and whether it is one at every size (T1).
class ShapeResolver : CheckerBase {
public:
  ShapeResolver(CheckedProgram &out, Reporter &reporter, Scopes &scopes)
      : CheckerBase(out, reporter), scopes_(scopes) {}

  void resolveDim(Binding &dim);
  /// An extent or layer argument; reports what is no shape, inexact divisions and what overflows (T1).
  std::optional<Shape> resolveShape(Expr &expr);
  static bool isShapeOp(BinaryExpr::Op op); ///< + - * /
  /// True for dims, number consts, integers and + - * / of them, also where a `/` leaves a rest.
  static bool madeOfDims(const Expr &expr);
  /// Requires `shape` >= 0 at every size: proven, wrong (an error at once), or left for when sizes are bound.
  bool requireNonNegative(const Shape &shape, SourceRange range, const std::string &message,
                          const std::string &rule);

private:
  std::optional<Shape> resolveShapeUnchecked(Expr &expr); ///< resolveShape without a look for overflow
  std::optional<Shape> resolveShapeName(NameExpr &expr);

  Scopes &scopes_;
  enum class State { New, Open, Done };
  std::map<const Binding *, State> states_; ///< of dims; one that is Open is being resolved
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SHAPERESOLVER_H
