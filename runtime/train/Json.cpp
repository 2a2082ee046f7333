// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "Json.h"
#include "../io/JsonText.h"
#include "Digits.h"

#include <cmath>

namespace dbc::train {

Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

static void append(std::string &to, const Json &value, int indent, int level) {
  if (value.is_string())
    return io::append_string(to, value.get_ref<const std::string &>());
  if (value.is_number_float()) {
    to += general(value.get<double>(), 17);
    return;
  }
  if (!value.is_structured() || value.empty()) {
    to += value.dump();
    return;
  }
  const auto new_line = [&](int levels) {
    if (indent > 0)
      to += "\n" + std::string(static_cast<size_t>(indent * levels), ' ');
  };
  bool first = true;
  to += value.is_object() ? '{' : '[';
  for (const auto &[key, element] : value.items()) {
    to += first ? "" : ",";
    first = false;
    new_line(level + 1);
    if (value.is_object()) {
      io::append_string(to, key);
      to += indent > 0 ? ": " : ":";
    }
    append(to, element, indent, level + 1);
  }
  new_line(level);
  to += value.is_object() ? '}' : ']';
}

std::string to_text(const Json &value, int indent) {
  std::string text;
  append(text, value, indent, 0);
  return text;
}

} // namespace dbc::train
