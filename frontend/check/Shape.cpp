// Arithmetic on symbolic extents.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/check/Shape.h"

#include <algorithm>

namespace dbc::frontend {

namespace {

/// Terms are ordered by their dims; the empty product (the number) comes last, as one writes `n - 1`.
bool dimsBefore(const std::vector<const DimVar *> &a, const std::vector<const DimVar *> &b) {
  if (a.empty() || b.empty())
    return !a.empty() && b.empty();
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const DimVar *x, const DimVar *y) { return x->serial < y->serial; });
}

std::vector<const DimVar *> product(const std::vector<const DimVar *> &a,
                                    const std::vector<const DimVar *> &b) {
  std::vector<const DimVar *> result = a;
  result.insert(result.end(), b.begin(), b.end());
  std::sort(result.begin(), result.end(),
            [](const DimVar *x, const DimVar *y) { return x->serial < y->serial; });
  return result;
}

} // namespace

Shape::Shape(int64_t number) {
  if (number != 0)
    terms_.push_back({number, {}});
}
Shape::Shape(const DimVar *dim) { terms_.push_back({1, {dim}}); }

Shape Shape::tooLarge(Excess by) {
  Shape result;
  result.excess_ = by;
  return result;
}

Shape Shape::sumOf(std::vector<Term> terms) {
  std::stable_sort(terms.begin(), terms.end(),
                   [](const Term &a, const Term &b) { return dimsBefore(a.dims, b.dims); });
  Shape result;
  for (Term &term : terms) {
    if (term.dims.size() > kMostFactors)
      return tooLarge(Excess::Factors);
    if (result.terms_.empty() || result.terms_.back().dims != term.dims) {
      // What came before is complete.
      if (!result.terms_.empty() && result.terms_.back().coefficient == 0)
        result.terms_.pop_back();
      result.terms_.push_back(std::move(term));
    } else if (__builtin_add_overflow(result.terms_.back().coefficient, term.coefficient,
                                      &result.terms_.back().coefficient)) {
      return tooLarge(Excess::Number);
    }
  }
  if (!result.terms_.empty() && result.terms_.back().coefficient == 0)
    result.terms_.pop_back();
  return result.terms_.size() > kMostTerms ? tooLarge(Excess::Terms) : result;
}

bool Shape::operator<(const Shape &o) const {
  if (excess_ != o.excess_)
    return excess_ < o.excess_;
  return std::lexicographical_compare(terms_.begin(), terms_.end(), o.terms_.begin(), o.terms_.end(),
                                      [](const Term &a, const Term &b) {
                                        if (a.dims != b.dims)
                                          return dimsBefore(a.dims, b.dims);
                                        return a.coefficient < b.coefficient;
                                      });
}

Shape Shape::operator+(const Shape &o) const {
  if (overflowed() || o.overflowed())
    return overflowed() ? *this : o;
  std::vector<Term> all = terms_;
  all.insert(all.end(), o.terms_.begin(), o.terms_.end());
  return sumOf(std::move(all));
}

Shape Shape::operator-(const Shape &o) const { return *this + o * Shape(-1); }

Shape Shape::operator*(const Shape &o) const {
  if (overflowed() || o.overflowed())
    return overflowed() ? *this : o;
  std::vector<Term> all; // at most kMostTerms squared
  for (const Term &a : terms_)
    for (const Term &b : o.terms_) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient))
        return tooLarge(Excess::Number);
      all.push_back({coefficient, product(a.dims, b.dims)});
    }
  return sumOf(std::move(all));
}

std::optional<Shape> Shape::dividedBy(const Shape &divisor) const {
  if (overflowed() || divisor.terms_.size() != 1)
    return std::nullopt;
  const Term &by = divisor.terms_[0];
  std::vector<Term> quotient;
  for (const Term &term : terms_) {
    // (INT64_MIN / -1 overflows; -1 is no extent anyway.)
    if (by.coefficient < 0 || term.coefficient % by.coefficient != 0)
      return std::nullopt;
    std::vector<const DimVar *> rest = term.dims;
    for (const DimVar *dim : by.dims) {
      auto at = std::find(rest.begin(), rest.end(), dim);
      if (at == rest.end())
        return std::nullopt;
      rest.erase(at);
    }
    quotient.push_back({term.coefficient / by.coefficient, std::move(rest)});
  }
  return sumOf(std::move(quotient));
}

std::optional<Shape> Shape::flooredBy(int64_t divisor) const {
  int64_t number = 0;
  for (const Term &term : terms_)
    if (term.dims.empty())
      number = term.coefficient;
  std::optional<Shape> quotient = (*this - Shape(number)).dividedBy(Shape(divisor));
  if (!quotient)
    return std::nullopt;
  return *quotient + Shape(number / divisor - (number % divisor < 0));
}

std::optional<int64_t> Shape::constant() const {
  if (overflowed())
    return std::nullopt;
  if (terms_.empty())
    return 0;
  if (terms_.size() == 1 && terms_[0].dims.empty())
    return terms_[0].coefficient;
  return std::nullopt;
}

const DimVar *Shape::singleDim() const {
  if (terms_.size() == 1 && terms_[0].coefficient == 1 && terms_[0].dims.size() == 1)
    return terms_[0].dims[0];
  return nullptr;
}

bool Shape::noNegativeTerm() const {
  return !overflowed() &&
         std::all_of(terms_.begin(), terms_.end(), [](const Term &t) { return t.coefficient > 0; });
}

bool Shape::provenNonNegative() const {
  if (overflowed())
    return false;
  // Every dim is at least 1, so each term with dims and a positive coefficient is at least that coefficient.
  int64_t least = 0;
  for (const Term &term : terms_) {
    if (term.coefficient < 0 && !term.dims.empty())
      return false;
    if (__builtin_add_overflow(least, term.coefficient, &least))
      return false;
  }
  return least >= 0;
}

Shape Shape::substitute(const DimMap &bindings) const {
  if (overflowed() || bindings.empty())
    return *this;
  Shape result;
  for (const Term &term : terms_) {
    Shape value(term.coefficient);
    for (const DimVar *dim : term.dims) {
      auto at = bindings.find(dim);
      value = value * (at == bindings.end() ? Shape(dim) : at->second);
    }
    result = result + value;
  }
  return result;
}

std::optional<int64_t> Shape::evaluate(const DimValues &values) const {
  if (overflowed())
    return std::nullopt;
  int64_t sum = 0;
  for (const Term &term : terms_) {
    int64_t value = term.coefficient;
    for (const DimVar *dim : term.dims) {
      auto at = values.find(dim);
      if (at == values.end() || __builtin_mul_overflow(value, at->second, &value))
        return std::nullopt;
    }
    if (__builtin_add_overflow(sum, value, &sum))
      return std::nullopt;
  }
  return sum;
}

std::string Shape::excess() const {
  switch (excess_) {
  case Excess::None:
    return "";
  case Excess::Number:
    return "does not fit 64 bits";
  case Excess::Terms:
    return "has more than " + std::to_string(kMostTerms) + " terms";
  case Excess::Factors:
    return "multiplies more than " + std::to_string(kMostFactors) + " dims";
  }
  return "";
}

std::string Shape::str() const {
  if (overflowed())
    return "a polynomial that " + excess();
  if (terms_.empty())
    return "0";
  std::string out;
  for (const Term &term : terms_) {
    uint64_t size = static_cast<uint64_t>(term.coefficient);
    if (term.coefficient < 0)
      size = 0 - size;
    if (term.coefficient < 0)
      out += out.empty() ? "-" : " - ";
    else if (!out.empty())
      out += " + ";
    bool first = true;
    if (size != 1 || term.dims.empty()) {
      out += std::to_string(size);
      first = false;
    }
    for (const DimVar *dim : term.dims) {
      if (!first)
        out += " * ";
      out += dim->name;
      first = false;
    }
  }
  return out;
}

} // namespace dbc::frontend
