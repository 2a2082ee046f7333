// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Integers as the language means them (manual, T4): 32 bits, overflow is an error. Each returns whether
// the result exists; where not, *out is 0.
#pragma once

#include <cstdint>

namespace dbc {

inline bool checked_add(int32_t a, int32_t b, int32_t *out) {
  return !__builtin_add_overflow(a, b, out) || (*out = 0, false);
}
inline bool checked_sub(int32_t a, int32_t b, int32_t *out) {
  return !__builtin_sub_overflow(a, b, out) || (*out = 0, false);
}
inline bool checked_mul(int32_t a, int32_t b, int32_t *out) {
  return !__builtin_mul_overflow(a, b, out) || (*out = 0, false);
}
/// div(a, b): the quotient rounded down.
inline bool checked_div(int32_t a, int32_t b, int32_t *out) {
  if (b == 0 || (a == INT32_MIN && b == -1)) {
    *out = 0;
    return false;
  }
  int32_t q = a / b;
  *out = q - (a % b != 0 && (a < 0) != (b < 0));
  return true;
}
/// a % b: a - b * div(a, b); has the sign of b.
inline bool checked_mod(int32_t a, int32_t b, int32_t *out) {
  if (b == 0) {
    *out = 0;
    return false;
  }
  if (b == -1) {
    *out = 0;
    return true;
  }
  int32_t r = a % b;
  *out = r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
  return true;
}

} // namespace dbc
