// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What references are written with: double precision, the obvious way, shared with no other implementation.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace dbc::bench::naive {

using Vector = std::vector<double>;

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// Row `row` of a matrix with `columns` columns.
inline Vector row(const std::vector<float> &A, int64_t row, int64_t columns) {
  return Vector(A.begin() + row * columns, A.begin() + (row + 1) * columns);
}

/// A x for the matrix A[rows, x.size()] that starts at element `at`.
inline Vector product(const std::vector<float> &A, int64_t rows, const Vector &x, int64_t at = 0) {
  Vector y(rows);
  for (size_t i = 0; i < y.size(); ++i)
    for (size_t j = 0; j < x.size(); ++j)
      y[i] += static_cast<double>(A[at + i * x.size() + j]) * x[j];
  return y;
}

/// a + b; b may be weights, from element `at` on.
template <class B> Vector sum(Vector a, const B &b, int64_t at = 0) {
  for (size_t i = 0; i < a.size(); ++i)
    a[i] += b[at + i];
  return a;
}

/// A x + b.
inline Vector affine(const std::vector<float> &A, const Vector &x, const std::vector<float> &b) {
  return sum(product(A, static_cast<int64_t>(b.size()), x), b);
}

/// a with b behind it.
inline Vector join(Vector a, const Vector &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

inline Vector softmax(Vector x) {
  double sum = 0;
  for (double &value : x)
    sum += value = std::exp(value);
  for (double &value : x)
    value /= sum;
  return x;
}

} // namespace dbc::bench::naive
