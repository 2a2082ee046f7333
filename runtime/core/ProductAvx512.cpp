// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernel for AVX-512.
#include "ProductKernels.h"

#if defined(__AVX512F__)
#include <immintrin.h>

namespace dbc {
namespace avx512 {
namespace {

struct Vector32 {
  using Real = float;
  using Type = __m512;
  static constexpr int lanes = 16;
  static Type zero() { return _mm512_setzero_ps(); }
  static Type load(const Real *p) { return _mm512_loadu_ps(p); }
  static void store(Real *p, Type v) { _mm512_storeu_ps(p, v); }
  static Type all(Real x) { return _mm512_set1_ps(x); }
  static Type mul_add(Type a, Type b, Type c) { return _mm512_fmadd_ps(a, b, c); }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};
struct Vector64 {
  using Real = double;
  using Type = __m512d;
  static constexpr int lanes = 8;
  static Type zero() { return _mm512_setzero_pd(); }
  static Type load(const Real *p) { return _mm512_loadu_pd(p); }
  static void store(Real *p, Type v) { _mm512_storeu_pd(p, v); }
  static Type all(Real x) { return _mm512_set1_pd(x); }
  static Type mul_add(Type a, Type b, Type c) { return _mm512_fmadd_pd(a, b, c); }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};

// 32 registers: 7 rows x 4 panels of one vector, 8 x 3; the rest comes from memory. With more panels fewer
// rows would share each load of a weight from the second-level cache.
constexpr int32_t kAccumulators = 30;
constexpr int32_t kMostPanels = 4;
constexpr int32_t kFewRows = 8;
constexpr int32_t kTileRows = 12;

#include "ProductKernel.inc"

} // namespace
} // namespace avx512

const ProductKernels *product_kernels_avx512() {
  static const ProductKernels kernels = {"avx512",        avx512::multiply32, avx512::multiply64,
                                         avx512::outer32, avx512::outer64,    avx512::kTileRows};
  return &kernels;
}

} // namespace dbc

#else

const dbc::ProductKernels *dbc::product_kernels_avx512() { return nullptr; }

#endif
