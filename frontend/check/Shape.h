// Symbolic extents: polynomials in dims with integer coefficients (rule T1). A shape is compared as such,
// never by the present values of its dims: a model that checks, checks at every size.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#ifndef DBC_FRONTEND_SHAPE_H
#define DBC_FRONTEND_SHAPE_H

#include "frontend/syntax/Source.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dbc::frontend {

struct DimVar;

/// A polynomial in canonical form: terms sorted, none with coefficient 0. A value type; cheap to copy.
/// Arithmetic in which a coefficient leaves 64 bits, or the polynomial has more than kMostTerms terms or
/// kMostFactors dims in one, gives a shape that has overflowed, and so does all arithmetic with that: it has
/// no terms, no value, and nothing is proven of it.
class Shape {
public:
  /// No extent that anybody means is larger; without a bound a short product of sums has 2^n terms.
  static constexpr size_t kMostTerms = 64, kMostFactors = 64;

  /// coefficient * product of dims; a dim that stands twice is squared.
  struct Term {
    int64_t coefficient = 0;
    std::vector<const DimVar *> dims; ///< sorted by DimVar::serial
    bool operator==(const Term &o) const { return coefficient == o.coefficient && dims == o.dims; }
  };

  Shape() = default; ///< 0
  /*implicit*/ Shape(int64_t number);
  /*implicit*/ Shape(const DimVar *dim);

  bool operator==(const Shape &o) const { return excess_ == o.excess_ && terms_ == o.terms_; }
  bool operator!=(const Shape &o) const { return !(*this == o); }
  bool operator<(const Shape &o) const; ///< any total order, for maps

  Shape operator+(const Shape &o) const;
  Shape operator-(const Shape &o) const;
  Shape operator*(const Shape &o) const;
  /// Term by term by a divisor of one term; nothing if that leaves a fraction, or the divisor is a sum or 0.
  std::optional<Shape> dividedBy(const Shape &divisor) const;
  /// The quotient by a number >= 1 rounded down, at every size; nothing if a term with dims leaves a
  /// fraction.
  std::optional<Shape> flooredBy(int64_t divisor) const;

  bool overflowed() const { return excess_ != Excess::None; }
  /// Of a shape that has overflowed, by what: `does not fit 64 bits`, as said of what was written.
  std::string excess() const;
  /// The number, if no dim occurs.
  std::optional<int64_t> constant() const;
  /// The dim, if the shape is just one.
  const DimVar *singleDim() const;
  bool isOne() const { return constant() == 1; }
  /// True if no term has a negative coefficient: then the value is >= 0 at every size.
  bool noNegativeTerm() const;
  /// Provably >= 0 at every size (all dims are at least 1): every negative constant is covered.
  bool provenNonNegative() const;
  const std::vector<Term> &terms() const { return terms_; }

  /// Dims replaced by shapes; those not in the map stay.
  Shape substitute(const std::map<const DimVar *, Shape> &bindings) const;
  /// The value; nothing if a dim has no value or 64 bits overflow.
  std::optional<int64_t> evaluate(const std::map<const DimVar *, int64_t> &values) const;

  /// `3 * hidden`, `embed + hidden - 1`.
  std::string str() const;

private:
  enum class Excess { None, Number, Terms, Factors };
  static Shape tooLarge(Excess by);
  /// The sum of terms in any order.
  static Shape sumOf(std::vector<Term> terms);
  std::vector<Term> terms_;
  Excess excess_ = Excess::None; ///< else there are no terms
};

using DimMap = std::map<const DimVar *, Shape>;
using DimValues = std::map<const DimVar *, int64_t>;

/// An unknown of shapes: a dim of a file without definition by other dims, or a dim of a layer, record or fn.
struct DimVar {
  std::string name;
  uint32_t serial = 0; ///< order of declaration; makes printing and sorting deterministic
  SourceRange range;   ///< its name in the declaration
  /// Dims of a file only: the number it has unless -D sets another.
  std::optional<int64_t> defaultValue;
};

} // namespace dbc::frontend

#endif // DBC_FRONTEND_SHAPE_H
