// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Writing JSON, see JsonText.h.
#include "JsonText.h"

#include <charconv>
#include <cmath>

namespace dbc::io {

namespace {

template <typename T> void append_real(std::string &to, T value) {
  if (std::isnan(value)) {
    to += "\"nan\"";
  } else if (std::isinf(value)) {
    to += value > 0 ? "\"inf\"" : "\"-inf\"";
  } else if (value == 0 && std::signbit(value)) {
    to += "-0.0";
  } else {
    char text[40];
    auto end = std::to_chars(text, text + sizeof text, value).ptr;
    to.append(text, end);
  }
}

/// Length of the UTF-8 character at the start of `s`, 0 when there is none.
size_t character(std::string_view s) {
  auto byte = [&](size_t i) { return i < s.size() ? static_cast<unsigned char>(s[i]) : 0u; };
  auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  unsigned a = byte(0), b = byte(1);
  if (a < 0x80)
    return 1;
  if (a >= 0xC2 && a <= 0xDF && follows(1))
    return 2;
  // No forms longer than needed, no halves of UTF-16 pairs, nothing above U+10FFFF.
  if (a >= 0xE0 && a <= 0xEF && follows(1) && follows(2) && !(a == 0xE0 && b < 0xA0) &&
      !(a == 0xED && b > 0x9F))
    return 3;
  if (a >= 0xF0 && a <= 0xF4 && follows(1) && follows(2) && follows(3) && !(a == 0xF0 && b < 0x90) &&
      !(a == 0xF4 && b > 0x8F))
    return 4;
  return 0;
}

} // namespace

void append_f32(std::string &to, float value) { append_real(to, value); }
void append_f64(std::string &to, double value) { append_real(to, value); }

void append_int(std::string &to, long long value) {
  char text[24];
  to.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_string(std::string &to, std::string_view text) {
  static const char hex[] = "0123456789abcdef";
  to += '"';
  while (!text.empty()) {
    unsigned char c = static_cast<unsigned char>(text[0]);
    size_t n = character(text);
    if (n == 0) {
      to += "\xEF\xBF\xBD";
      n = 1;
    } else if (c == '"' || c == '\\') {
      to += '\\';
      to += text[0];
    } else if (c == '\n') {
      to += "\\n";
    } else if (c == '\t') {
      to += "\\t";
    } else if (c < 0x20) {
      to += "\\u00";
      to += hex[c >> 4];
      to += hex[c & 15];
    } else {
      to.append(text.substr(0, n));
    }
    text.remove_prefix(n);
  }
  to += '"';
}

} // namespace dbc::io
