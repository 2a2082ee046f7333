// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_INFERENCE_H
#define DBC_FRONTEND_INFERENCE_H

#include "frontend/syntax/Ast.h"

namespace dbc::frontend {

/// The typing of any expression, for the classes that each type one kind: these ask it for the types of
/// operands.
class Inference {
public:
  virtual ~Inference() = default;

  /// Finds the type of an expression and annotates the whole of it; literals keep theirs until a context asks
  /// for one (Coercion). Reports what is wrong; the type is then the error type.
  virtual const Type *infer(Expr &expr) = 0;
  virtual const Type *inferBlock(CodeBlock &block) = 0;
  /// Into how many slices the `let` whose value this expression is takes it apart; 0 if none does.
  virtual size_t slicesAsked(const Expr &expr) const = 0;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_INFERENCE_H
