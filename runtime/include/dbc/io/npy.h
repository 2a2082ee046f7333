// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Arrays in NumPy's .npy files: for tests and for converters of weights. No function here throws.
#pragma once

#include <cstdint>
#include <dbc/status.h>
#include <string>
#include <string_view>
#include <vector>

namespace dbc {

/// An array in C order.
struct NpyArray {
  enum class Type : uint8_t { F32, F64, I32, I64 };
  Type type = Type::F32;
  std::vector<int64_t> extents;     ///< empty for a scalar
  std::vector<unsigned char> bytes; ///< the elements, little-endian

  int64_t size() const {
    int64_t n = 1;
    for (int64_t e : extents)
      n *= e;
    return n;
  }
  /// The elements, whatever their type, as double (an int64 beyond 2^53 is rounded).
  std::vector<double> to_doubles() const;
};

/// Reads a file of format version 1, 2 or 3 with dtype '<f4', '<f8', '<i4' or '<i8' in C order. Strict: the
/// header's three keys and nothing else, and exactly the bytes that its shape needs. `array` changes only on
/// success.
Status read_npy(const std::string &path, NpyArray &array);

/// The same from the file's bytes.
Status parse_npy(std::string_view bytes, NpyArray &array);

} // namespace dbc
