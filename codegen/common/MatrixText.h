// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How C++ says what a packed matrix is made of.
#pragma once

#include "codegen/common/ModelNames.h"

namespace dbc::codegen {

/// "{submatrices}, {outputs, inputs, ...}" of a matrix that is made of parameters, as dbc::pack_submatrices
/// and dbc::cuda::lay_out_submatrices take it.
std::string matrixText(const ModelNames &model, kernel::WeightsOp op);

} // namespace dbc::codegen
