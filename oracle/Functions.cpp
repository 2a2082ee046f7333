// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "oracle/Functions.h"
#include <algorithm>
#include <cmath>

namespace dbc::oracle {

using dyn::FunctionKind;

double apply(FunctionKind kind, double x) {
  switch (kind) {
  case FunctionKind::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case FunctionKind::Relu:
    return x < 0 ? 0 : x; // as max(x, 0): NaN and -0 stay
  case FunctionKind::Gelu: // x times the normal distribution
    return x < -40 ? 0 : 0.5 * x * std::erfc(-x * M_SQRT1_2);
  case FunctionKind::Softplus:
    return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return NAN;
}

double derivative(FunctionKind kind, double x, double y) {
  switch (kind) {
  case FunctionKind::Sigmoid:
    return y * (1 - y);
  case FunctionKind::Relu:
    return x > 0 ? 1 : 0;
  case FunctionKind::Gelu:
    return 0.5 * std::erfc(-x * M_SQRT1_2) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * M_PI);
  case FunctionKind::Softplus:
    return 1 / (1 + std::exp(-x));
  }
  return NAN;
}

} // namespace dbc::oracle
