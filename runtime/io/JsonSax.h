// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The one place that touches the JSON library: its event parser, which keeps its own stack (one bit a level),
// made safe for hostile text. A handler sees events and never builds a document.
#pragma once

#include "Nearest.h"

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace dbc::io {

/// What a handler overrides; every event returns false to stop, with `error` set.
struct JsonEvents {
  using number_integer_t = int64_t;
  using number_unsigned_t = uint64_t;
  using number_float_t = double;
  using string_t = std::string;
  using binary_t = nlohmann::json::binary_t;

  std::string error;   ///< why the parse stopped; empty while all is well
  bool at_end = false; ///< whether it stopped because the text ends too early
  /// What is said besides where NaN or Infinity stands, as some programs write them.
  const char *of_nans = "";

  bool binary(binary_t &) { return false; } // no such thing in JSON text
  template <typename Exception> bool parse_error(size_t position, const std::string &, const Exception &e) {
    // "[json.exception.parse_error.101] parse error at line 1, column 9: syntax error while parsing value -
    // ..."
    std::string_view what = e.what();
    size_t start = what.find("] ");
    if (start != std::string_view::npos)
      what.remove_prefix(start + 2);
    if (what.substr(0, 11) == "parse error") {
      start = what.find(": ");
      if (start != std::string_view::npos)
        what.remove_prefix(start + 2);
    }
    at_end = what.find("unexpected end of input") != std::string_view::npos;
    error = "not valid JSON at byte " + std::to_string(position) + ": " + shown(what, 160);
    // Their first letters.
    if (what.size() > 2 && (what.substr(what.size() - 2) == "N'" || what.substr(what.size() - 2) == "I'"))
      error += of_nans;
    return false;
  }
};

/// Runs `handler` over `text`; false when it stopped or the text is not one JSON value, the reason in
/// `handler.error`.
template <typename Handler> bool parse_json(std::string_view text, Handler &handler) {
  // The library takes a zero byte for the end of the text; what follows it would pass unseen.
  const void *zero = text.empty() ? nullptr : std::memchr(text.data(), 0, text.size());
  if (zero) {
    handler.error = "not valid JSON at byte " +
                    std::to_string(static_cast<const char *>(zero) - text.data() + 1) + ": a zero byte";
    return false;
  }
  return nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &handler);
}

} // namespace dbc::io
