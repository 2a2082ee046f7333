// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// From ops of `arith` and `math` to C++ operators and functions of dbc::math.
#include "codegen/common/Expressions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <charconv>

using namespace llvm;
using namespace mlir;

namespace dbc::codegen {

std::string inside(const Expr &e, Bind least) { return e.bind < least ? "(" + e.text + ")" : e.text; }

Expr choice(const Expr &condition, const Expr &yes, const Expr &no) {
  // clang warns of `a & b ? c : d`.
  bool brackets = condition.bind == Bind::Ternary || condition.bind == Bind::Bits;
  return {(brackets ? "(" + condition.text + ")" : condition.text) + " ? " + inside(yes, Bind::LogicalOr) +
              " : " + inside(no, Bind::Ternary),
          Bind::Ternary, condition.calls || yes.calls || no.calls};
}

Expr binary(const Expr &a, StringRef op, const Expr &b, Bind bind) {
  Bind left = bind, right = Bind(int(bind) + 1);
  // Compilers warn at `a & b == c`, `a || b && c` and comparisons of comparisons: brackets make them plain.
  if (bind == Bind::Bits || bind == Bind::Equal || bind == Bind::Relation)
    left = right = Bind::Add;
  if (bind == Bind::LogicalOr)
    left = right = Bind::Bits;
  if (bind == Bind::LogicalAnd)
    right = Bind::Bits;
  return {inside(a, left) + " " + op.str() + " " + inside(b, right), bind, a.calls || b.calls};
}

Expr call(StringRef function, ArrayRef<std::string> arguments) {
  return {function.str() + "(" + join(arguments, ", ") + ")", Bind::Primary, /*calls=*/true};
}

Expr converted(StringRef type, const Expr &e) {
  return {type.str() + "(" + e.text + ")", Bind::Primary, e.calls};
}

std::string literal(const APFloat &value, bool f64) {
  std::string type = f64 ? "double" : "float";
  if (value.isNaN())
    return "std::numeric_limits<real>::quiet_NaN()";
  if (value.isInfinity())
    return std::string(value.isNegative() ? "-" : "") + "std::numeric_limits<real>::infinity()";
  char text[64];
  std::to_chars_result end{};
  // The shortest text that reads back as the same number. As a double, the shortest text of a float would be
  // another number: literals are floats (T4) also where doubles compute with them.
  if (&value.getSemantics() == &APFloat::IEEEsingle() && !f64)
    end = std::to_chars(text, text + sizeof text, value.convertToFloat());
  else
    end = std::to_chars(text, text + sizeof text, value.convertToDouble());
  std::string out(text, end.ptr);
  if (out.find_first_of(".e") == std::string::npos)
    out += ".0";
  return f64 ? out : out + "f";
}

Expr linear(ArrayRef<Expr> indices, ArrayRef<int64_t> extents) {
  assert(indices.size() == extents.size() && "one index an axis");
  Expr sum{"0", Bind::Primary};
  int64_t constant = 0; // the part of the sum that is a number, printed last
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    constant *= extents[axis];
    if (sum.text != "0" && extents[axis] != 1)
      sum = binary(sum, "*", {std::to_string(extents[axis])}, Bind::Multiply);
    int64_t number;
    if (!StringRef(indices[axis].text).getAsInteger(10, number))
      constant += number;
    else
      sum = sum.text == "0" ? indices[axis] : binary(sum, "+", indices[axis], Bind::Add);
  }
  if (constant == 0)
    return sum;
  Expr last{std::to_string(constant)};
  return sum.text == "0" ? last : binary(sum, "+", last, Bind::Add);
}

/// `a & b` or `a | b` of bools, which loops over rows can do several at a time. Where b calls a function
/// clang warns of that.
static Expr bitwise(const Expr &a, StringRef sign, const Expr &b) {
  if (!b.calls)
    return binary(a, sign, b, Bind::Bits);
  return call(sign == "&" ? "math::both" : "math::either", {a.text, b.text});
}

Expr negated(const Expr &condition) {
  if (condition.text == "true" || condition.text == "false")
    return {condition.text == "true" ? "false" : "true"};
  return {"!" + inside(condition, Bind::Unary), Bind::Unary, condition.calls};
}

static Expr comparison(arith::CmpIOp op, const Expr &a, const Expr &b) {
  auto as = [](const Expr &e) { return converted("uint32_t", e); };
  switch (op.getPredicate()) {
  case arith::CmpIPredicate::eq:
    return binary(a, "==", b, Bind::Equal);
  case arith::CmpIPredicate::ne:
    return binary(a, "!=", b, Bind::Equal);
  case arith::CmpIPredicate::slt:
    return binary(a, "<", b, Bind::Relation);
  case arith::CmpIPredicate::sle:
    return binary(a, "<=", b, Bind::Relation);
  case arith::CmpIPredicate::sgt:
    return binary(a, ">", b, Bind::Relation);
  case arith::CmpIPredicate::sge:
    return binary(a, ">=", b, Bind::Relation);
  case arith::CmpIPredicate::ult:
    return binary(as(a), "<", as(b), Bind::Relation);
  case arith::CmpIPredicate::ule:
    return binary(as(a), "<=", as(b), Bind::Relation);
  case arith::CmpIPredicate::ugt:
    return binary(as(a), ">", as(b), Bind::Relation);
  case arith::CmpIPredicate::uge:
    return binary(as(a), ">=", as(b), Bind::Relation);
  }
  llvm_unreachable("all predicates handled");
}

/// C++ comparisons are ordered but for `!=`; the other ones are said by their opposites.
static Expr comparison(arith::CmpFOp op, const Expr &a, const Expr &b) {
  using P = arith::CmpFPredicate;
  auto plain = [&](StringRef sign) {
    return binary(a, sign, b, sign == "==" || sign == "!=" ? Bind::Equal : Bind::Relation);
  };
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return {"false"};
  case P::AlwaysTrue:
    return {"true"};
  case P::OEQ:
    return plain("==");
  case P::OGT:
    return plain(">");
  case P::OGE:
    return plain(">=");
  case P::OLT:
    return plain("<");
  case P::OLE:
    return plain("<=");
  case P::UNE:
    return plain("!=");
  case P::UEQ:
    return negated(bitwise(plain("<"), "|", plain(">")));
  case P::ONE:
    return bitwise(plain("<"), "|", plain(">"));
  case P::UGT:
    return negated(plain("<="));
  case P::UGE:
    return negated(plain("<"));
  case P::ULT:
    return negated(plain(">="));
  case P::ULE:
    return negated(plain(">"));
  case P::ORD:
    return bitwise(binary(a, "==", a, Bind::Equal), "&", binary(b, "==", b, Bind::Equal));
  case P::UNO:
    return bitwise(binary(a, "!=", a, Bind::Equal), "|", binary(b, "!=", b, Bind::Equal));
  }
  llvm_unreachable("all predicates handled");
}

static Expr constant(arith::ConstantOp op, bool f64) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue())) {
    std::string text = literal(number.getValue(), f64);
    return {text, text[0] == '-' ? Bind::Unary : Bind::Primary};
  }
  auto number = cast<IntegerAttr>(op.getValue());
  if (number.getType().isInteger(1))
    return {number.getValue().isZero() ? "false" : "true"};
  int64_t value = number.getValue().getSExtValue();
  if (value == INT32_MIN)
    return {"INT32_MIN"};
  return {std::to_string(value), value < 0 ? Bind::Unary : Bind::Primary};
}

std::optional<Expr> arithmetic(Operation *op, bool f64, llvm::function_ref<Expr(Value)> operand) {
  auto a = [&] { return operand(op->getOperand(0)); };
  auto two = [&](StringRef sign, Bind bind) {
    Expr left = operand(op->getOperand(0));
    return binary(left, sign, operand(op->getOperand(1)), bind);
  };
  auto function = [&](StringRef name) {
    std::vector<std::string> arguments;
    for (Value value : op->getOperands())
      arguments.push_back(operand(value).text);
    return call(name, arguments);
  };
  auto bits = [&](StringRef sign) {
    Expr left = a(), right = operand(op->getOperand(1));
    return op->getResult(0).getType().isInteger(1) ? bitwise(left, sign, right)
                                                   : binary(left, sign, right, Bind::Bits);
  };
  auto cast = [&](StringRef type) { return converted(type, a()); };
  return llvm::TypeSwitch<Operation *, std::optional<Expr>>(op)
      .Case<arith::ConstantOp>([&](auto o) { return constant(o, f64); })
      .Case<arith::AddFOp, arith::AddIOp>([&](auto) { return two("+", Bind::Add); })
      .Case<arith::SubFOp, arith::SubIOp>([&](auto) { return two("-", Bind::Add); })
      .Case<arith::MulFOp, arith::MulIOp>([&](auto) { return two("*", Bind::Multiply); })
      .Case<arith::DivFOp, arith::DivSIOp>([&](auto) { return two("/", Bind::Multiply); })
      .Case<arith::RemSIOp>([&](auto) { return two("%", Bind::Multiply); })
      .Case<arith::NegFOp>([&](auto) {
        Expr x = a();
        return Expr{"-" + inside(x, Bind::Primary), Bind::Unary, x.calls};
      })
      .Case<arith::MaximumFOp>([&](auto) { return function("math::maximum"); })
      .Case<arith::MinimumFOp>([&](auto) { return function("math::minimum"); })
      .Case<arith::MaxSIOp>([&](auto) { return function("std::max"); })
      .Case<arith::MinSIOp>([&](auto) { return function("std::min"); })
      .Case<arith::AndIOp>([&](auto) { return bits("&"); })
      .Case<arith::OrIOp>([&](auto) { return bits("|"); })
      .Case<arith::XOrIOp>([&](arith::XOrIOp o) {
        APInt right;
        if (o.getType().isInteger(1) && matchPattern(o.getRhs(), m_ConstantInt(&right)) && right.isAllOnes())
          return negated(a());
        return o.getType().isInteger(1) ? two("!=", Bind::Equal) : two("^", Bind::Bits);
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp o) {
        Expr left = a();
        return comparison(o, left, operand(o.getRhs()));
      })
      .Case<arith::CmpFOp>([&](arith::CmpFOp o) {
        Expr left = a();
        return comparison(o, left, operand(o.getRhs()));
      })
      .Case<arith::SelectOp>([&](arith::SelectOp o) {
        Expr condition = a(), yes = operand(o.getTrueValue());
        Expr no = operand(o.getFalseValue());
        // Numbers as they are need not be found before.
        if (o.getTrueValue().getDefiningOp<arith::ConstantOp>() &&
            o.getFalseValue().getDefiningOp<arith::ConstantOp>())
          return choice(condition, yes, no);
        return call("math::select", {condition.text, yes.text, no.text});
      })
      .Case<arith::SIToFPOp, arith::UIToFPOp, arith::ExtFOp>([&](auto) { return cast("real"); })
      .Case<arith::FPToSIOp>([&](auto) { return function("math::to_int"); })
      .Case<arith::ExtUIOp>([&](auto) { return cast("int32_t"); })
      .Case<math::ExpOp>([&](auto) { return function("math::exp"); })
      .Case<math::LogOp>([&](auto) { return function("math::log"); })
      .Case<math::Log1pOp>([&](auto) { return function("math::log1p"); })
      .Case<math::TanhOp>([&](auto) { return function("math::tanh"); })
      .Case<math::SqrtOp>([&](auto) { return function("math::sqrt"); })
      .Case<math::AbsFOp>([&](auto) { return function("math::abs"); })
      .Case<math::AbsIOp>([&](auto) { return function("std::abs"); })
      .Case<math::SinOp>([&](auto) { return function("math::sin"); })
      .Case<math::CosOp>([&](auto) { return function("math::cos"); })
      .Case<math::ErfOp>([&](auto) { return function("math::erf"); })
      .Case<math::PowFOp>([&](auto) { return function("math::pow"); })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace dbc::codegen
