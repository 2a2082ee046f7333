// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Numbers of a training as text.
#pragma once

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <string>

namespace dbc::driver {

/// As printf has it with `format`, which takes a number of digits; a NaN of either sign is "nan".
inline std::string inDigits(const char *format, double value, int digits) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, digits,
                                                 std::isnan(value) ? std::fabs(value) : value);
  return text;
}
/// So many digits behind the point.
inline std::string fixed(double value, int digits) { return inDigits("%.*f", value, digits); }
/// So many digits in all, with an exponent where that is shorter.
inline std::string general(double value, int digits) { return inDigits("%.*g", value, digits); }

} // namespace dbc::driver
