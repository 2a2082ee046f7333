// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_COERCION_H
#define DBC_FRONTEND_COERCION_H

#include "frontend/check/ShapeResolver.h"
#include "frontend/check/TypeRules.h"

namespace dbc::frontend {

/// Gives expressions the type that their context asks, and reports those that cannot have it (T4).
class Coercion : CheckerBase {
public:
  Coercion(CheckedProgram &out, Reporter &reporter, ShapeResolver &shapes, TypeRules &rules)
      : CheckerBase(out, reporter), shapes_(shapes), rules_(rules) {}

  /// Gives literals inside the expression the type that its context asks.
  void push(Expr &expr, const Type *type);
  /// Literals that no context asked become int or f32.
  void defaultLiterals(Expr &expr);
  /// Pushes the type if the expression is assignable to it, else gives false.
  bool coerce(Expr &expr, const Type *type);
  /// coerce, or report: "`e` is .., but `asker` ..", and where that was declared.
  bool require(Expr &expr, const Type *type, const std::string &asker, SourceRange declared = {});
  Diagnostic &reportMismatch(const Expr &expr, const Type *type, const std::string &asker);
  /// The rule of the language that two types break.
  static std::string ruleFor(const Type *a, const Type *b);
  /// How to make the one type of the other, or "".
  std::string hintFor(const Expr &expr, const Type *from, const Type *to) const;
  /// Reports a layer where a value must stand, and gives false.
  bool refuseLayer(const Expr &expr);

private:
  void pushBlock(CodeBlock &block, const Type *type) { push(*block.result, type); }
  void pushIndex(Expr &expr, const Type *type);
  void pushUnary(UnaryExpr &expr, const Type *type);
  void pushBinary(BinaryExpr &expr, const Type *type);
  void pushCall(CallExpr &expr, const Type *type);
  /// Into an operand, which has a shape of its own, the scalar of the whole expression.
  void pushScalar(Expr &operand, const Type *whole);
  /// Reports a `[]` whose context asks for no type.
  void untypedList(Expr &expr);

  ShapeResolver &shapes_;
  TypeRules &rules_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_COERCION_H
