// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The activations of the baselines: as few operations as an absolute error of 1e-6 allows, for loops that the
// compiler vectorises. They are cheaper than those of <dbc/math.h>, which promises units in the last place,
// NaN for NaN, and equal bits. Of that header they take what clamps. (Baselines are compiled with
// contraction, which it forbids: they need no equal bits.)
#pragma once

#include <dbc/math.h>

#include <cstdint>

namespace dbc::bench {

#define BENCH_INLINE inline __attribute__((always_inline))

/// e^x for |x| <= 80, to 2e-7 of its value.
BENCH_INLINE float quick_exp(float x) {
  constexpr float kRound = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
  float t = x * 1.44269504f + kRound;
  float n = t - kRound;
  float r = x - n * 0.693147182f;
  float p = 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  // 2^n: the low bits of t hold n.
  return p * __builtin_bit_cast(float, (__builtin_bit_cast(uint32_t, t) + 127u) << 23);
}

/// To -20 .. 20, where sigmoid(x) is flat to 5e-9.
BENCH_INLINE float flat(float x) { return math::detail::within(x, -20.0f, 20.0f); }

BENCH_INLINE float quick_sigmoid(float x) { return 1.0f / (1.0f + quick_exp(flat(-x))); }

/// tanh(x) to 3e-7 of its value: a ratio of polynomials of x^2, the best one up to 8.24, which stay as they
/// are from there on.
BENCH_INLINE float quick_tanh(float x) {
  const float v = math::detail::within(x, -8.24f, 8.24f), z = v * v;
  float p = 1.33369804e-8f;
  p = p * z + 2.05965644e-5f;
  p = p * z + 3.49482964e-3f;
  p = p * z + 1.33803874e-1f;
  p = p * z + 1.0f;
  float q = 7.7694358e-7f;
  q = q * z + 3.28439201e-4f;
  q = q * z + 2.58740988e-2f;
  q = q * z + 4.67137069e-1f;
  q = q * z + 1.0f;
  return v * p / q;
}

/// sigmoid(gate) * tanh(x).
BENCH_INLINE float gated_tanh(float gate, float x) { return quick_sigmoid(gate) * quick_tanh(x); }

} // namespace dbc::bench
