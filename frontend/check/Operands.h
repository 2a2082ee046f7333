// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_OPERANDS_H
#define DBC_FRONTEND_OPERANDS_H

#include "frontend/check/Builtins.h"
#include "frontend/check/Typer.h"

namespace dbc::frontend {

/// What operators and calls ask of what they are given.
class Operands : Typer {
public:
  Operands(const TypingContext &context, Inference &inference) : Typer(context, inference) {}

  //===-- Numbers and tensors ---------------------------------------------===//
  bool requireNumber(const Expr &expr, const std::string &what);
  bool requireFloat(Expr &expr, const std::string &what);
  /// Makes the operands numbers of one scalar kind and gives that kind; reports what does not agree. Widened
  /// index becomes int.
  std::optional<Scalar> commonScalar(const std::vector<Expr *> &operands, SourceRange range,
                                     const std::string &what);
  std::optional<std::vector<Shape>> broadcast(const std::vector<Expr *> &operands, SourceRange range,
                                              const std::string &what);

  //===-- Arguments of calls ----------------------------------------------===//
  /// Infers all that is given, of a call that is refused.
  void inferArguments(CallExpr &expr);
  /// Reports `stride` and `padding`, and gives false, where they are given.
  bool refuseSettings(CallExpr &expr, const std::string &what, const std::string &rule);
  /// The axis that `axis = k` names, else `otherwise`; nothing after a report.
  std::optional<int> axisOf(CallExpr &expr, const Type *tensor, int otherwise);
  /// All arguments from `first` on as shapes.
  std::optional<std::vector<Shape>> shapeArguments(CallExpr &expr, size_t first);
  const Type *wrongArgument(const Expr &expr, const BuiltinInfo &info, const std::string &takes);
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_OPERANDS_H
