// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Writing JSON: numbers in the shortest form that reads back the same, strings escaped.
#pragma once

#include <string>
#include <string_view>

namespace dbc::io {

/// The shortest text that reads back as the same float; "nan", "inf" and "-inf" as JSON strings. Minus zero
/// is -0.0, since readers of JSON take -0 for an integer.
void append_f32(std::string &to, float value);
void append_f64(std::string &to, double value);
void append_int(std::string &to, long long value);
/// A JSON string; bytes that are not UTF-8 become U+FFFD.
void append_string(std::string &to, std::string_view text);

} // namespace dbc::io
