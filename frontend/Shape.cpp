// Arithmetic on symbolic extents.
//
// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "frontend/Shape.h"

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

Shape::Shape(int64_t number) { add({number, {}}); }
Shape::Shape(const DimVar *dim) { add({1, {dim}}); }

Shape Shape::tooLarge() {
  Shape result;
  result.overflowed_ = true;
  return result;
}

void Shape::add(Term term) {
  if (overflowed_ || term.coefficient == 0)
    return;
  auto at = std::lower_bound(terms_.begin(), terms_.end(), term,
                             [](const Term &a, const Term &b) { return dimsBefore(a.dims, b.dims); });
  if (at == terms_.end() || at->dims != term.dims) {
    terms_.insert(at, std::move(term));
    return;
  }
  if (__builtin_add_overflow(at->coefficient, term.coefficient, &at->coefficient))
    *this = tooLarge();
  else if (at->coefficient == 0)
    terms_.erase(at);
}

bool Shape::operator<(const Shape &o) const {
  if (overflowed_ != o.overflowed_)
    return o.overflowed_;
  return std::lexicographical_compare(terms_.begin(), terms_.end(), o.terms_.begin(), o.terms_.end(),
                                      [](const Term &a, const Term &b) {
                                        if (a.dims != b.dims)
                                          return dimsBefore(a.dims, b.dims);
                                        return a.coefficient < b.coefficient;
                                      });
}

Shape Shape::operator+(const Shape &o) const {
  if (o.overflowed_)
    return o;
  Shape result = *this;
  for (const Term &term : o.terms_)
    result.add(term);
  return result;
}

Shape Shape::operator-(const Shape &o) const { return *this + o * Shape(-1); }

Shape Shape::operator*(const Shape &o) const {
  if (overflowed_ || o.overflowed_)
    return tooLarge();
  Shape result;
  for (const Term &a : terms_)
    for (const Term &b : o.terms_) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(a.coefficient, b.coefficient, &coefficient))
        return tooLarge();
      result.add({coefficient, product(a.dims, b.dims)});
    }
  return result;
}

std::optional<Shape> Shape::dividedBy(const Shape &divisor) const {
  if (overflowed_ || divisor.terms_.size() != 1)
    return std::nullopt;
  const Term &by = divisor.terms_[0];
  Shape result;
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
    result.add({term.coefficient / by.coefficient, std::move(rest)});
  }
  return result;
}

std::optional<int64_t> Shape::constant() const {
  if (overflowed_)
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
  return !overflowed_ &&
         std::all_of(terms_.begin(), terms_.end(), [](const Term &t) { return t.coefficient > 0; });
}

bool Shape::provenNonNegative() const {
  if (overflowed_)
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
  if (overflowed_ || bindings.empty())
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
  if (overflowed_)
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

std::string Shape::str() const {
  if (overflowed_)
    return "a number over 64 bits";
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
