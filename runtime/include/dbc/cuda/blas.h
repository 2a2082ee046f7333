// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Products that a library computes in place of kernels of the model's own: models compiled with --gpu-blas
// have some. Plain C++; the library itself is in cublas.h.
#pragma once

#include <dbc/cuda/arrays.h>

namespace dbc::cuda {

/// y[r][o] = the sum over k of x[r][k] * weight (k, o) for r < rows; if `biased` bias[o] is added to it,
/// which begins at a multiple of 16 bytes. Rows of x and y lie `x_stride` and `y_stride` elements apart.
template <class Real> struct Gemm {
  int32_t rows;
  const Real *x;
  int64_t x_stride;
  Matrix<Real> matrix;
  bool biased;
  Real *y;
  int64_t y_stride;
};

/// Memory of the device that the library works in, in bytes: what NVIDIA recommends for an H100.
constexpr size_t kBlasWorkspace = 32 << 20;

/// The library as one stream has it. Not to be used by two threads at once.
class Blas {
public:
  virtual ~Blas() = default;
  /// From now on it works in these kBlasWorkspace bytes, which are the caller's.
  virtual void work_in(void *workspace) = 0;
  /// Begins a product in the order of the stream. The order of additions is the library's: it may depend on
  /// the number of rows. With `tf32` operands may be cut to 11 bits; without they are not.
  virtual void gemm(const Gemm<float> &gemm, bool tf32) = 0;
  virtual void gemm(const Gemm<double> &gemm) = 0;
  /// What went wrong first; Code::internal.
  virtual Status status() const = 0;
};

} // namespace dbc::cuda
