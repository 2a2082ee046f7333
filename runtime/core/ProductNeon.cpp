// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernel for NEON, which all 64-bit ARM processors have.
#include "ProductKernels.h"

#if defined(__aarch64__)
#include <arm_neon.h>

namespace dbc {
namespace neon {
namespace {

struct Vector32 {
  using Real = float;
  using Type = float32x4_t;
  static constexpr int lanes = 4;
  static Type zero() { return vdupq_n_f32(0); }
  static Type load(const Real *p) { return vld1q_f32(p); }
  static void store(Real *p, Type v) { vst1q_f32(p, v); }
  static Type all(Real x) { return vdupq_n_f32(x); }
  static Type mul_add(Type a, Type b, Type c) { return vfmaq_f32(c, a, b); }
  static Type relu(Type v) { return vbslq_f32(vcltq_f32(v, zero()), zero(), v); }
};
struct Vector64 {
  using Real = double;
  using Type = float64x2_t;
  static constexpr int lanes = 2;
  static Type zero() { return vdupq_n_f64(0); }
  static Type load(const Real *p) { return vld1q_f64(p); }
  static void store(Real *p, Type v) { vst1q_f64(p, v); }
  static Type all(Real x) { return vdupq_n_f64(x); }
  static Type mul_add(Type a, Type b, Type c) { return vfmaq_f64(c, a, b); }
  static Type relu(Type v) { return vbslq_f64(vcltq_f64(v, zero()), zero(), v); }
};

// 32 registers: 6 rows x 1 panel of four vectors, which take 4 more, and x.
constexpr int32_t kAccumulators = 24;
constexpr int32_t kMostPanels = 1;
constexpr int32_t kFewRows = 6;
constexpr int32_t kTileRows = 6;

#include "ProductKernel.inc"

} // namespace
} // namespace neon

const ProductKernels *product_kernels_neon() {
  static const ProductKernels kernels = {"neon",        neon::multiply32, neon::multiply64,
                                         neon::outer32, neon::outer64,    neon::kTileRows};
  return &kernels;
}

} // namespace dbc

#else

const dbc::ProductKernels *dbc::product_kernels_neon() { return nullptr; }

#endif
