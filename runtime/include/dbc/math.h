// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The elementwise functions of the language, for loops that the compiler vectorises: no branches, no tables.
// Additions, multiplications, divisions, comparisons, bit operations and fused multiply-adds are written out
// one by one, so that an element has the same bits in a vector loop, in its scalar remainder, and with every
// instruction set. Code that uses this header must be compiled with -ffp-contract=off (the CMake target
// dbc::runtime hands it on). Builds that know neither clones nor an fma instruction (detail::fma says which)
// round twice instead: their bits are their own, within the same bounds.
//
// Errors of the float versions are in units in the last place (ULP) against double libm, over all floats of
// the range said; tests take one float in 509. NaN gives NaN; infinities give the limits. The double versions
// are those of the C library.
#pragma once

#include <dbc/inline.h>

#include <cmath>
#include <cstdint>

#if defined(__clang__)
#pragma clang fp contract(off)
#endif

/// Marks a function that holds vectorisable loops: on x86-64 it is compiled for AVX-512, AVX2 and the
/// baseline, and the loader picks. Its address may stand in a table at namespace scope, but not in a constant
/// array inside a function (g++ 12 then emits the symbol twice). Lambdas inside are not compiled with it, so
/// the loop itself must be in the function. Empty where clones do not exist, and under sanitizers, whose
/// start-up code the loader's choice would run ahead of.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define DBC_NO_CLONES 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define DBC_NO_CLONES 1
#endif
#if !defined(DBC_NO_CLONES) && defined(__x86_64__) && defined(__linux__) && defined(__GLIBC__) &&            \
    ((defined(__clang__) && __clang_major__ >= 18) || (!defined(__clang__) && __GNUC__ >= 12))
#define DBC_HAS_CLONES 1
#define DBC_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define DBC_CLONES
#endif

namespace dbc {
namespace math {

namespace detail {
/// a * b + c, rounded once. The clone for processors without the instruction calls the C library's: slow
/// there, the same bits.
DBC_INLINE float fma(float a, float b, float c) {
#if defined(DBC_HAS_CLONES) || defined(__FMA__) || defined(__aarch64__) || defined(__CUDA_ARCH__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
DBC_INLINE uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
DBC_INLINE uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
DBC_INLINE float as_float(uint32_t x) { return __builtin_bit_cast(float, x); }
DBC_INLINE double as_double(uint64_t x) { return __builtin_bit_cast(double, x); }
/// Adding this and taking it away again rounds to an integer, which then stands in the low bits.
constexpr float kRound32 = 12582912.0f;         // 1.5 * 2^23
constexpr double kRound64 = 6755399441055744.0; // 1.5 * 2^52
} // namespace detail

DBC_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
DBC_INLINE double sqrt(double x) { return __builtin_sqrt(x); }
DBC_INLINE float abs(float x) { return __builtin_fabsf(x); }
DBC_INLINE double abs(double x) { return __builtin_fabs(x); }

/// `condition ? yes : no`, with both found before the choice. A `?:` in a loop may leave one of them unread,
/// for which a compiler of vectors reads under a mask; g++ 12 and before take another element's mask where it
/// has written out an inner loop of few steps.
template <class T> DBC_INLINE T select(bool condition, T yes, T no) { return condition ? yes : no; }
/// `a && b` and `a || b`, with both found, for the same reason.
DBC_INLINE bool both(bool a, bool b) { return a & b; }
DBC_INLINE bool either(bool a, bool b) { return a | b; }

/// x without its fraction, for x that fits. g++ makes of a conversion there and back one rounding, which keeps
/// the sign of what it rounds to 0: so that is 0 before.
DBC_INLINE int32_t to_int(float x) { return static_cast<int32_t>(select(abs(x) < 1.0f, 0.0f, x)); }
DBC_INLINE int32_t to_int(double x) { return static_cast<int32_t>(select(abs(x) < 1.0, 0.0, x)); }

/// The first of equals; NaN if either is.
template <class T> DBC_INLINE T maximum(T x, T y) { return ((x < y) | (y != y)) ? y : x; }
template <class T> DBC_INLINE T minimum(T x, T y) { return ((y < x) | (y != y)) ? y : x; }
template <class T> DBC_INLINE T clip(T x, T low, T high) { return minimum(maximum(x, low), high); }
template <class T> DBC_INLINE T relu(T x) { return x < T(0) ? T(0) : x; }
template <class T> DBC_INLINE T square(T x) { return x * x; }

namespace detail {
/// x, or the nearer end of low .. high, low < 0 < high. Of floats GCC makes each comparison a mask, and
/// branches where it can; of their bits a minimum. A NaN may become an end: callers put it back.
DBC_INLINE float within(float x, float low, float high) {
  int32_t below = static_cast<int32_t>(bits(x));
  below = below < static_cast<int32_t>(bits(high)) ? below : static_cast<int32_t>(bits(high));
  uint32_t above = static_cast<uint32_t>(below); // of negative floats the larger bits are the lower number
  return as_float(above < bits(low) ? above : bits(low));
}
/// e^x = p * 2^n with p between 0.7 and 1.5, for |x| up to 105; the low bits of t hold n + bias.
struct Power {
  float p;
  float t;
};
DBC_INLINE Power power(float x, float bias) {
  // x = n ln 2 + r, with ln 2 cut in two so that n times the first part is exact.
  float t = fma(x, 1.44269504088896341f, kRound32 + bias);
  float n = t - (kRound32 + bias);
  float r = fma(n, -0.693359375f, x);
  r = fma(n, 2.12194440e-4f, r);
  float p = 1.381418069e-3f;
  p = fma(p, r, 8.368998518e-3f);
  p = fma(p, r, 4.166841311e-2f);
  p = fma(p, r, 1.66665183e-1f);
  p = fma(p, r, 4.99999933e-1f);
  p = fma(p, r, 1.0f);
  return {fma(p, r, 1.0f), t};
}
} // namespace detail

/// e^x, at most 1.5 ULP; everywhere, subnormal results included (there 1 ULP of the subnormal).
DBC_INLINE float exp(float x) {
  detail::Power e = detail::power(detail::within(x, -104.0f, 89.0f), 254.0f);
  // 2^n in two factors, because n reaches from -150 to 128: the halves of n + 254 are their exponents' bits.
  uint32_t n = detail::bits(e.t), half = n >> 1;
  float first = detail::as_float(half << 23), second = detail::as_float((n - half) << 23);
  return e.p * (x == x ? first : x) * second;
}
DBC_INLINE double exp(double x) { return std::exp(x); }

/// ln x, at most 1.5 ULP everywhere; ln 0 = -inf, NaN below.
DBC_INLINE float log(float x) {
  uint32_t tiny = x < 1.17549435e-38f ? 23 : 0; // subnormal: made larger by 2^23
  uint32_t u = detail::bits(x * detail::as_float((tiny + 127u) << 23));
  // x = m * 2^n with m from the root of 1/2 to the root of 2; f = m - 1.
  int32_t n = static_cast<int32_t>(u - detail::bits(0.707106781186547524f)) >> 23;
  float f = detail::as_float(u - (static_cast<uint32_t>(n) << 23)) - 1.0f;
  float e = static_cast<float>(n - static_cast<int32_t>(tiny));
  float z = f * f;
  float p = 7.0376836292e-2f;
  p = detail::fma(p, f, -1.1514610310e-1f);
  p = detail::fma(p, f, 1.1676998740e-1f);
  p = detail::fma(p, f, -1.2420140846e-1f);
  p = detail::fma(p, f, 1.4249322787e-1f);
  p = detail::fma(p, f, -1.6668057665e-1f);
  p = detail::fma(p, f, 2.0000714765e-1f);
  p = detail::fma(p, f, -2.4999993993e-1f);
  p = detail::fma(p, f, 3.3333331174e-1f);
  p = p * f * z;
  p = p + e * -2.12194440e-4f;
  p = p - 0.5f * z;
  float r = f + p + e * 0.693359375f;
  r = x > 3.4028234e38f ? x : r; // inf
  r = x == 0.0f ? -__builtin_inff() : r;
  return x >= 0.0f ? r : __builtin_nanf("");
}
DBC_INLINE double log(double x) { return std::log(x); }

/// ln(1 + x), at most 4 ULP for x > -1; -inf at -1, NaN below.
DBC_INLINE float log1p(float x) {
  float u = 1.0f + x;
  float d = u - 1.0f;
  // What rounding 1 + x lost is made good by the factor x / d.
  float r = log(u) * (x / (d == 0.0f ? 1.0f : d));
  r = d == 0.0f ? x : r;
  return u > 3.4028234e38f ? u : r;
}
DBC_INLINE double log1p(double x) { return std::log1p(x); }

namespace detail {
/// a / b, for b of 1 or more. A GPU's division is many instructions and a branch, around which nothing else
/// is computed: there it is the product with a reciprocal, 2 ULP off at most, and 0 for b above 2^126.
DBC_INLINE float over(float a, float b) {
#if defined(__CUDA_ARCH__)
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(b));
  return a * reciprocal;
#else
  return a / b;
#endif
}
} // namespace detail

/// At most 2.5 ULP everywhere; on a GPU 3.5.
DBC_INLINE float tanh(float x) {
  float a = abs(x);
  float z = x * x;
  float p = -5.70498872745e-3f;
  p = detail::fma(p, z, 2.06390887954e-2f);
  p = detail::fma(p, z, -5.37397155531e-2f);
  p = detail::fma(p, z, 1.33314422036e-1f);
  p = detail::fma(p, z, -3.33332819422e-1f);
  p = detail::fma(p, z * a, a);
  // From 0.625 on 1 - 2 / (e^2|x| + 1), which is 1 in floats from 2|x| = 20 on.
  detail::Power e = detail::power(detail::within(a + a, -1.0f, 20.0f), 127.0f);
  float l = 1.0f - detail::over(2.0f, detail::fma(e.p, detail::as_float(detail::bits(e.t) << 23), 1.0f));
  return __builtin_copysignf(a >= 0.625f ? l : p, x); // of a NaN p
}
DBC_INLINE double tanh(double x) { return std::tanh(x); }

/// 1 / (1 + e^-x), at most 3 ULP for x > -88; 0 below -88.4, where the true value is subnormal. On a GPU at
/// most 4.5 ULP for x > -87, and 0 where it is subnormal.
DBC_INLINE float sigmoid(float x) {
  detail::Power e = detail::power(-detail::within(x, -89.0f, 87.0f), 127.0f);
  float y = detail::fma(e.p, detail::as_float(detail::bits(e.t) << 23), 1.0f);
  return detail::over(x == x ? 1.0f : x, y);
}
DBC_INLINE double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// ln(1 + e^x), at most 5 ULP for x > -87; NaN comes through the second term.
DBC_INLINE float softplus(float x) { return (x > 0.0f ? x : 0.0f) + log1p(exp(-abs(x))); }
DBC_INLINE double softplus(double x) { return (x > 0.0 ? x : 0.0) + std::log1p(std::exp(-std::fabs(x))); }

/// The error function, at most 8 ULP everywhere.
DBC_INLINE float erf(float x) {
  float v = x == x ? detail::within(x, -4.0f, 4.0f) : x;
  float z = v * v;
  float p = -2.72614225801306e-10f;
  p = detail::fma(p, z, 2.77068142495902e-08f);
  p = detail::fma(p, z, -2.10102402082508e-06f);
  p = detail::fma(p, z, -5.69250639462346e-05f);
  p = detail::fma(p, z, -7.34990630326855e-04f);
  p = detail::fma(p, z, -2.95459980854025e-03f);
  p = detail::fma(p, z, -1.60960333262415e-02f);
  float q = -1.45660718464996e-05f;
  q = detail::fma(q, z, -2.13374055278905e-04f);
  q = detail::fma(q, z, -1.68282697438203e-03f);
  q = detail::fma(q, z, -7.37332916720468e-03f);
  q = detail::fma(q, z, -1.42647390514189e-02f);
  float r = v * (p / q);
  r = r > 1.0f ? 1.0f : r;
  return r < -1.0f ? -1.0f : r;
}
DBC_INLINE double erf(double x) { return std::erf(x); }

/// x times the normal distribution function at x (the exact gelu); absolute error at most 3e-7 * max(1, |x|).
DBC_INLINE float gelu(float x) {
  float r = 0.5f * x * (1.0f + erf(x * 0.707106781186547524f));
  return x < -12.0f ? 0.0f : r;
}
DBC_INLINE double gelu(double x) {
  return x < -40.0 ? 0.0 : 0.5 * x * std::erfc(-x * 0.70710678118654752440);
}

namespace detail {
/// sin(x + quarters * pi / 2). The angle is reduced in double: exact to float for |x| up to 1e7.
DBC_INLINE float sine(float x, uint32_t quarters) {
  double v = x;
  double t = v * 0.63661977236758134308 + kRound64;
  double n = t - kRound64;
  double d = v - n * 1.57079632673412561417;
  d = d - n * 6.07710050650619224932e-11;
  d = d > 0.79 ? 0.79 : d; // only for |x| far outside of the range: keeps the result in -1 .. 1
  d = d < -0.79 ? -0.79 : d;
  float r = static_cast<float>(d);
  uint32_t q = static_cast<uint32_t>(bits(t)) + quarters;
  float z = r * r;
  float s = -1.9515295891e-4f;
  s = fma(s, z, 8.3321608736e-3f);
  s = fma(s, z, -1.6666654611e-1f);
  s = s * z * r + r;
  float c = 2.443315711809948e-5f;
  c = fma(c, z, -1.388731625493765e-3f);
  c = fma(c, z, 4.166664568298827e-2f);
  c = c * z * z - 0.5f * z + 1.0f;
  float y = (q & 1u) != 0 ? c : s;
  return as_float(bits(y) ^ ((q & 2u) << 30));
}
} // namespace detail

/// At most 2 ULP, or 1e-7 where the result is nearly 0, for |x| <= 1e7; in -1 .. 1 beyond.
DBC_INLINE float sin(float x) { return detail::sine(x, 0); }
DBC_INLINE double sin(double x) { return std::sin(x); }
DBC_INLINE float cos(float x) { return detail::sine(x, 1); }
DBC_INLINE double cos(double x) { return std::cos(x); }

/// x^y as in C, at most 1 ULP everywhere.
DBC_INLINE float pow(float x, float y) {
  // |x|^y = 2^(y log2 |x|), in double.
  double a = static_cast<double>(abs(x));
  uint64_t u = detail::bits(a); // a float is never subnormal as a double
  double e = static_cast<double>(static_cast<int32_t>(u >> 52) - 1022);
  double m = detail::as_double((u & 0x000fffffffffffffull) | 0x3fe0000000000000ull);
  bool low = m < 0.70710678118654752440;
  e = low ? e - 1.0 : e;
  m = low ? m + m : m;
  double f = (m - 1.0) / (m + 1.0), z = f * f;
  double p = 1.0 / 19.0;
  p = p * z + 1.0 / 17.0;
  p = p * z + 1.0 / 15.0;
  p = p * z + 1.0 / 13.0;
  p = p * z + 1.0 / 11.0;
  p = p * z + 1.0 / 9.0;
  p = p * z + 1.0 / 7.0;
  p = p * z + 1.0 / 5.0;
  p = p * z + 1.0 / 3.0;
  p = p * z + 1.0;
  double l = e + p * f * 2.88539008177792681472; // 2 / ln 2
  l = a == 0.0 ? -__builtin_inf() : l;
  l = a > 3.5e38 ? a : l;
  l = a == a ? l : a;
  double w = static_cast<double>(y) * l;
  w = w > 200.0 ? 200.0 : w;
  w = w < -200.0 ? -200.0 : w;
  double t = w + detail::kRound64;
  double r = (w - (t - detail::kRound64)) * 0.69314718055994530942;
  double q = 1.0 / 39916800.0;
  q = q * r + 1.0 / 3628800.0;
  q = q * r + 1.0 / 362880.0;
  q = q * r + 1.0 / 40320.0;
  q = q * r + 1.0 / 5040.0;
  q = q * r + 1.0 / 720.0;
  q = q * r + 1.0 / 120.0;
  q = q * r + 1.0 / 24.0;
  q = q * r + 1.0 / 6.0;
  q = q * r + 0.5;
  q = q * r + 1.0;
  q = q * r + 1.0;
  uint64_t k = detail::bits(t) - detail::bits(detail::kRound64);
  float v = static_cast<float>(q * detail::as_double((k + 1023u) << 52));
  // Signs and the cases that C fixes.
  float yc = y > 16777216.0f ? 16777216.0f : y;
  yc = yc < -16777216.0f ? -16777216.0f : yc;
  yc = y == y ? yc : 0.0f;
  int32_t yi = static_cast<int32_t>(yc);
  bool whole = static_cast<float>(yi) == yc;
  uint32_t odd = whole ? static_cast<uint32_t>(yi) & 1u : 0u;
  v = detail::as_float(detail::bits(v) | ((odd << 31) & detail::bits(x)));
  v = ((x < 0.0f) & !whole & (a <= 3.5e38)) ? __builtin_nanf("") : v;
  return ((x == 1.0f) | (y == 0.0f) | ((x == -1.0f) & (abs(y) > 3.4028234e38f))) ? 1.0f : v;
}
DBC_INLINE double pow(double x, double y) { return std::pow(x, y); }

} // namespace math
} // namespace dbc
