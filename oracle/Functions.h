// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The elementwise functions that math lacks, in double precision. Private to the oracle.
#pragma once

#include "ir/Dyn/Dyn.h"

namespace dbc::oracle {

double apply(dyn::FunctionKind kind, double x);
/// f'(x), where y = f(x). Kinks are those of the manual's G1.
double derivative(dyn::FunctionKind kind, double x, double y);

} // namespace dbc::oracle
