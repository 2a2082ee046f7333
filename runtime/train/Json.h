// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// JSON as a training writes it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace dbc::train {

using Json = nlohmann::json; // keys are sorted

/// A number, or null where JSON has none for it.
Json finite_or_null(double value);

/// The text: numbers with 17 digits, each level `indent` spaces to the right; 0: all in one line.
std::string to_text(const Json &value, int indent = 0);

} // namespace dbc::train
