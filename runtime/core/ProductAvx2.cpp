// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernel for AVX2 with fused multiply-add.
#include "ProductKernels.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace dbc {
namespace avx2 {
namespace {

struct Vector32 {
  using Real = float;
  using Type = __m256;
  static constexpr int lanes = 8;
  static Type zero() { return _mm256_setzero_ps(); }
  static Type load(const Real *p) { return _mm256_loadu_ps(p); }
  static void store(Real *p, Type v) { _mm256_storeu_ps(p, v); }
  static Type all(Real x) { return _mm256_set1_ps(x); }
  static Type mul_add(Type a, Type b, Type c) { return _mm256_fmadd_ps(a, b, c); }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};
struct Vector64 {
  using Real = double;
  using Type = __m256d;
  static constexpr int lanes = 4;
  static Type zero() { return _mm256_setzero_pd(); }
  static Type load(const Real *p) { return _mm256_loadu_pd(p); }
  static void store(Real *p, Type v) { _mm256_storeu_pd(p, v); }
  static Type all(Real x) { return _mm256_set1_pd(x); }
  static Type mul_add(Type a, Type b, Type c) { return _mm256_fmadd_pd(a, b, c); }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};

// 16 registers: 6 rows x 1 panel of two vectors.
constexpr int32_t kAccumulators = 12;
constexpr int32_t kMostPanels = 1;
constexpr int32_t kFewRows = 4;
constexpr int32_t kTileRows = 6;

#include "ProductKernel.inc"

} // namespace
} // namespace avx2

const ProductKernels *product_kernels_avx2() {
  static const ProductKernels kernels = {"avx2",        avx2::multiply32, avx2::multiply64,
                                         avx2::outer32, avx2::outer64,    avx2::kTileRows};
  return &kernels;
}

} // namespace dbc

#else

const dbc::ProductKernels *dbc::product_kernels_avx2() { return nullptr; }

#endif
