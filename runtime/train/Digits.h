// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Numbers of a training as text. A program's locale, which printf minds, changes nothing.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

namespace dbc::train {

/// As printf has it in the locale "C"; a NaN of either sign is "nan".
inline std::string in_digits(double value, std::chars_format format, int digits) {
  char text[512]; // the largest double has 309 digits before the point
  const auto end =
      std::to_chars(text, text + sizeof text, std::isnan(value) ? std::fabs(value) : value, format, digits)
          .ptr;
  return std::string(text, end);
}
/// So many digits behind the point.
inline std::string fixed(double value, int digits) {
  return in_digits(value, std::chars_format::fixed, digits);
}
/// So many digits in all, with an exponent where that is shorter.
inline std::string general(double value, int digits) {
  return in_digits(value, std::chars_format::general, digits);
}

} // namespace dbc::train
