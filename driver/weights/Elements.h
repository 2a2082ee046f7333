// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Elements of other programs' tensors as f32, the number that a model's weights are kept in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <dbc/status.h>
#include <string>
#include <string_view>
#include <vector>

namespace dbc::driver {

/// The bytes of an element that becomes an f32: of the dtypes "F32", "F64", "F16" and "BF16", safetensors'
/// names. 0 for another dtype.
uint64_t bytesOfFloat(std::string_view dtype);

/// Puts `count` elements of a dtype that bytesOfFloat knows at `to`, each rounded to the nearest f32. An
/// error names the first finite element that is beyond f32.
Status toF32(std::string_view dtype, const char *from, size_t count, float *to);

/// "f32[2, 3]"; "f32" for a scalar.
std::string shownTensor(std::string_view dtype, const std::vector<int64_t> &extents);

} // namespace dbc::driver
