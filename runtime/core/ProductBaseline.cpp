// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The product kernel for processors without fused multiply-add, and for other families of processors: vectors
// of 16 bytes, multiplied and added (compiled with -ffp-contract=off).
#include "ProductKernels.h"

namespace dbc {
namespace baseline {
namespace {

struct Vector32 {
  using Real = float;
  using Type = float __attribute__((vector_size(16)));
  static constexpr int lanes = 4;
  static Type zero() { return Type{}; }
  static Type load(const Real *p) {
    Type v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(Real *p, Type v) { __builtin_memcpy(p, &v, sizeof v); }
  static Type all(Real x) { return Type{} + x; }
  static Type mul_add(Type a, Type b, Type c) { return a * b + c; }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};
struct Vector64 {
  using Real = double;
  using Type = double __attribute__((vector_size(16)));
  static constexpr int lanes = 2;
  static Type zero() { return Type{}; }
  static Type load(const Real *p) {
    Type v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(Real *p, Type v) { __builtin_memcpy(p, &v, sizeof v); }
  static Type all(Real x) { return Type{} + x; }
  static Type mul_add(Type a, Type b, Type c) { return a * b + c; }
  static Type relu(Type v) { return v < zero() ? zero() : v; }
};

// 16 registers: 3 rows x 1 panel of four vectors.
constexpr int32_t kAccumulators = 12;
constexpr int32_t kMostPanels = 1;
constexpr int32_t kFewRows = 2;
constexpr int32_t kTileRows = 3;

#include "ProductKernel.inc"

} // namespace
} // namespace baseline

const ProductKernels *product_kernels_baseline() {
  static const ProductKernels kernels = {"baseline",        baseline::multiply32, baseline::multiply64,
                                         baseline::outer32, baseline::outer64,    baseline::kTileRows};
  return &kernels;
}

} // namespace dbc
