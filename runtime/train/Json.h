// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// JSON as a training writes it.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

namespace dbc::train {

using Json = nlohmann::json; // keys are sorted

/// A number, or null where JSON has none for it.
inline Json finite_or_null(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The text: numbers with as many digits as make them what they are, U+FFFD for what is not UTF-8, each level
/// `indent` spaces to the right; -1: all in one line.
inline std::string to_text(const Json &value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

} // namespace dbc::train
