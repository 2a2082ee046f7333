// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_OPERATORTYPER_H
#define DBC_FRONTEND_OPERATORTYPER_H

#include "frontend/check/Operands.h"

namespace dbc::frontend {

/// Operators, and joins `[a, b]`.
class OperatorTyper : Typer {
public:
  OperatorTyper(const TypingContext &context, Inference &inference, Operands &operands)
      : Typer(context, inference), operands_(operands) {}

  const Type *inferUnary(UnaryExpr &expr);
  const Type *inferBinary(BinaryExpr &expr);
  const Type *inferJoin(JoinExpr &expr);

private:
  const Type *inferLogical(BinaryExpr &expr);
  const Type *inferComparison(BinaryExpr &expr);
  const Type *inferArithmetic(BinaryExpr &expr);
  const Type *inferMatMul(BinaryExpr &expr);
  const Type *inferAppend(BinaryExpr &expr);
  const Type *inferJoinRank1(JoinExpr &expr, const Type *element);

  Operands &operands_;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_OPERATORTYPER_H
