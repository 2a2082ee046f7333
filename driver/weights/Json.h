// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A small JSON text that a person wrote, with where each value stands in it.
#pragma once

#include "frontend/syntax/Diagnostics.h"
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

struct JsonValue {
  enum class Kind { Null, Bool, Number, String, Array, Object };
  Kind kind = Kind::Null;
  frontend::SourceRange
      range;              ///< of a string, with its quotes; of an array or object the bracket that opens it
  std::string text;       ///< String
  double number = 0;      ///< Number
  bool isInteger = false; ///< Number: written without point and exponent, of at most 2^53
  std::vector<JsonValue> keys;   ///< Object: strings, in the order of the text; one may stand twice
  std::vector<JsonValue> values; ///< Array, Object
  frontend::SourceRange end;     ///< Array, Object: the bracket that closes it
};

/// The value that a source file consists of; nothing after an error. Comments as in .dyn files are allowed.
/// Nests to 64 levels.
std::optional<JsonValue> parseJson(uint32_t file, frontend::DiagnosticEngine &diagnostics);

} // namespace dbc::driver
