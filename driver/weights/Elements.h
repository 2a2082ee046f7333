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

/// Elements in row-major order: a copy, or where they lie in a mapped file.
class Elements {
public:
  explicit Elements(std::vector<float> own) : own_(std::move(own)) {}
  /// Borrowed from a file that stays open.
  Elements(const float *mapped, size_t count) : mapped_(mapped), count_(count) {}
  const float *data() const { return mapped_ ? mapped_ : own_.data(); }
  size_t size() const { return mapped_ ? count_ : own_.size(); }
  bool isMapped() const { return mapped_ != nullptr; }
  const float &operator[](size_t i) const { return data()[i]; }

private:
  std::vector<float> own_;
  const float *mapped_ = nullptr;
  size_t count_ = 0;
};

/// The bytes of an element that becomes an f32: of the dtypes "F32", "F64", "F16" and "BF16", safetensors'
/// names. 0 for another dtype.
uint64_t bytesOfFloat(std::string_view dtype);

/// Puts `count` elements of a dtype that bytesOfFloat knows at `to`, each rounded to the nearest f32. An
/// error names the first finite element that is beyond f32.
Status toF32(std::string_view dtype, const char *from, size_t count, float *to);

/// "f32[2, 3]"; "f32" for a scalar.
std::string shownTensor(std::string_view dtype, const std::vector<int64_t> &extents);

} // namespace dbc::driver
