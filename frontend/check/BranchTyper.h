// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_BRANCHTYPER_H
#define DBC_FRONTEND_BRANCHTYPER_H

#include "frontend/check/Typer.h"

namespace dbc::frontend {

/// `if` and `match`: arms of one type, exhaustive, each constructor once (T6).
class BranchTyper : Typer {
public:
  BranchTyper(const TypingContext &context, Inference &inference) : Typer(context, inference) {}

  const Type *inferIf(IfExpr &expr);
  const Type *inferMatch(MatchExpr &expr);

private:
  void bindArm(MatchArm &arm, const ConstructorInfo &constructor);
  void checkExhaustive(const MatchExpr &expr, const DataInfo &data);
  /// One type for all arms; reports the first that does not agree.
  const Type *unifyArms(const std::vector<CodeBlock *> &arms, const char *what);
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_BRANCHTYPER_H
