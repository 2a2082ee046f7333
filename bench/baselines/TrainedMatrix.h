// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A matrix that a baseline trains, through CBLAS: products with it in both directions, and its steps.
#pragma once

#include <cstdint>
#include <vector>

namespace dbc::bench {

/// A[n, k], which changes with each step, so that nothing can be turned over or packed beforehand. Where a
/// gemv a row is faster than one gemm, up to some number of rows, is found by timing when it is made.
class TrainedMatrix {
public:
  TrainedMatrix(std::vector<float> a, int32_t n, int32_t k);

  /// y[rows, n] = x[rows, k] A^T.
  void forward(const float *x, int32_t rows, float *y) const;
  /// dx[rows, k] = dy[rows, n] A, or dx += dy A.
  void backward(const float *dy, int32_t rows, float *dx) const { backward(dy, rows, dx, 0); }
  void add_backward(const float *dy, int32_t rows, float *dx) const { backward(dy, rows, dx, 1); }
  /// A -= rate * dy[rows, n]^T x[rows, k]: the step is part of the product that gives the gradient.
  void step(float rate, const float *dy, const float *x, int32_t rows);

  const std::vector<float> &values() const { return a_; }

private:
  void backward(const float *dy, int32_t rows, float *dx, float beta) const;
  void choose();

  int32_t n_, k_;
  std::vector<float> a_;
  int32_t forward_gemv_ = 1, backward_gemv_ = 1; ///< up to so many rows are a gemv each
};

/// bias -= rate * the sum of the rows of dy[rows, bias.size()].
void step_bias(float rate, const float *dy, int32_t rows, std::vector<float> &bias);

/// Row numbers[r] of a table whose rows have `width` elements -= rate * row r of dx[rows, width].
void step_rows(float rate, const float *dx, const int32_t *numbers, int32_t rows, int32_t width,
               std::vector<float> &table);

} // namespace dbc::bench
