// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Elements.h"
#include <cctype>
#include <cmath>
#include <cstring>

namespace dbc::driver {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "elements are taken as they stand in the file");

uint64_t bytesOfFloat(std::string_view dtype) {
  return dtype == "F64" ? 8 : dtype == "F32" ? 4 : dtype == "F16" || dtype == "BF16" ? 2 : 0;
}

template <class Number> static Number load(const char *from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

static float floatOfBits(uint32_t bits) { return load<float>(reinterpret_cast<const char *>(&bits)); }

/// IEEE's half precision: 1 sign, 5 exponent and 10 mantissa bits.
static float floatOfHalf(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16, exponent = half >> 10 & 0x1F, mantissa = half & 0x3FF;
  if (exponent == 0) { // 0, or below the normal numbers: a multiple of 2^-24
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  if (exponent == 0x1F)
    return floatOfBits(sign | 0x7F800000 | mantissa << 13);
  return floatOfBits(sign | (exponent + 127 - 15) << 23 | mantissa << 13);
}

Status toF32(std::string_view dtype, const char *from, size_t count, float *to) {
  if (dtype == "F32") {
    std::memcpy(to, from, count * sizeof *to);
    return Status();
  }
  if (dtype == "F64") {
    for (size_t i = 0; i < count; ++i) {
      const double wide = load<double>(from + 8 * i);
      to[i] = static_cast<float>(wide);
      if (std::isinf(to[i]) && !std::isinf(wide))
        return Status::error(Code::bad_weights, "element " + std::to_string(i) + " is beyond f32");
    }
    return Status();
  }
  for (size_t i = 0; i < count; ++i) {
    const uint16_t bits = load<uint16_t>(from + 2 * i);
    to[i] = dtype == "F16" ? floatOfHalf(bits) : floatOfBits(uint32_t(bits) << 16);
  }
  return Status();
}

std::string shownTensor(std::string_view dtype, const std::vector<int64_t> &extents) {
  std::string text(dtype);
  if (text[0] != '\'') // NumPy's, where letters differ in meaning by their size
    for (char &c : text)
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < extents.size(); ++i)
    text += (i ? ", " : "[") + std::to_string(extents[i]);
  return extents.empty() ? text : text + "]";
}

} // namespace dbc::driver
