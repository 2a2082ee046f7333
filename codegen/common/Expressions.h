// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// C++ expressions with the fewest brackets that keep the order of evaluation.
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <string>

namespace dbc::codegen {

/// How tightly an expression's outermost operator binds.
enum class Bind { Ternary, LogicalOr, LogicalAnd, Bits, Equal, Relation, Add, Multiply, Unary, Primary };

struct Expr {
  std::string text;
  Bind bind = Bind::Primary;
  bool calls = false; ///< a function, which compilers take for a side effect
};

/// `e`, in brackets if its operator binds less tightly than `least`.
std::string inside(const Expr &e, Bind least);
/// `a op b` for operators that are taken from left to right; the right side keeps brackets at equal strength.
Expr binary(const Expr &a, llvm::StringRef op, const Expr &b, Bind bind);
/// `condition ? yes : no`.
Expr choice(const Expr &condition, const Expr &yes, const Expr &no);
Expr call(llvm::StringRef function, llvm::ArrayRef<std::string> arguments);
/// `type(e)`.
Expr converted(llvm::StringRef type, const Expr &e);
/// A literal of the emitted number type.
std::string literal(const llvm::APFloat &value, bool f64);
/// a * b + c ... for row-major indices; leaves out zeros and ones.
Expr linear(llvm::ArrayRef<Expr> indices, llvm::ArrayRef<int64_t> extents);

/// The expression of an op of `arith` or `math`, or nothing if it has none. `operand` gives the operands'
/// expressions.
std::optional<Expr> arithmetic(mlir::Operation *op, bool f64, llvm::function_ref<Expr(mlir::Value)> operand);
/// The opposite of a comparison or condition.
Expr negated(const Expr &condition);

} // namespace dbc::codegen
