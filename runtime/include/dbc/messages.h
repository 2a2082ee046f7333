// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The words of rule E2: what is said when an input cannot be computed. Compiled code and the oracle both
// build their texts here, so that they say the same. Each function gives the end of a message;
// `Batch::describe` puts model, input, node and field in front:
//   tree_lstm: input 3: Tree node 7 (Node): index 9 is outside 0..4, at tree_lstm.dyn:12:5
// `at` is "file:line:column" of the source expression, made at compile time; empty where none is known.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace dbc {

/// What failed. Generated code records it with up to three numbers until the words are needed (`error_text`).
enum class ErrorKind : uint8_t {
  index,         ///< a = index, b = extent
  list_index,    ///< a = index, b = length
  slice,         ///< a = low, b = high, c = length
  lengths,       ///< a, b = lengths that should be equal
  empty,         ///< `what` of an empty list
  overflow,      ///< a `what` b leaves 32 bits
  zero_division, ///< a `what` 0
  conversion,    ///< int(x) of an x that is no number of 32 bits
  memory,        ///< a = length of a list, b = bytes that its rows take, c = bytes that an input may have
  key,           ///< `what` is the key and its cell; a = its value, which lies outside b .. c - 1
  state_length,  ///< a = length of a list in the state of a `what`, b = after a step
  table          ///< `what` is the key and its cell; a = values in its range, b, c = bytes as of memory
};

namespace messages {

inline std::string location(const char *at) { return at && *at ? std::string(", at ") + at : std::string(); }

/// An index into an axis, a table or `index[n](i)`.
inline std::string index_outside(int64_t index, int64_t extent, const char *at) {
  return "index " + std::to_string(index) + " is outside 0.." + std::to_string(extent - 1) + location(at);
}

inline std::string list_index_outside(int64_t index, int64_t length, const char *at) {
  return "element " + std::to_string(index) + " is asked of a list of length " + std::to_string(length) +
         location(at);
}

inline std::string slice_outside(int64_t low, int64_t high, int64_t length, const char *at) {
  return "slice " + std::to_string(low) + ".." + std::to_string(high) + " does not fit a list of length " +
         std::to_string(length) + location(at);
}

inline std::string lengths_differ(int64_t a, int64_t b, const char *at) {
  return "lists of lengths " + std::to_string(a) + " and " + std::to_string(b) + " are zipped" + location(at);
}

/// A list in a state; `what` is "fold", "scan" or "scan_back".
inline std::string state_length_changes(const char *what, int64_t a, int64_t b, const char *at) {
  return "a list in the state of the `" + std::string(what) + "` has length " + std::to_string(a) + ", and " +
         std::to_string(b) + " after a step; its length stays" + location(at);
}

/// `what` is "max", "min", "mean" or "argmax".
inline std::string empty_list(const char *what, const char *at) {
  return "`" + std::string(what) + "` of an empty list" + location(at);
}

/// `what` is an operator, "+" "-" "*".
inline std::string overflow(const char *what, int64_t a, int64_t b, const char *at) {
  return std::to_string(a) + " " + what + " " + std::to_string(b) + " does not fit 32 bits" + location(at);
}

/// `what` is "div" or "%".
inline std::string zero_division(const char *what, int64_t a, const char *at) {
  return "`" + std::string(what) + "` of " + std::to_string(a) + " by 0" + location(at);
}

inline std::string missing_field(const char *at) { return "is not given" + location(at); }

inline std::string not_an_int(const char *at) {
  return "a number does not fit an int of 32 bits" + location(at);
}

inline std::string too_long(int64_t length, int64_t bytes, int64_t limit, const char *at) {
  return "a list of length " + std::to_string(length) + " takes " + std::to_string(bytes) +
         " bytes more, and one input may have " + std::to_string(limit) + " in all" + location(at);
}

/// How a key is named: "`j` of `inside`".
inline std::string key_name(const std::string &key, const std::string &cell) {
  return "`" + key + "` of `" + cell + "`";
}

/// `what` is a key_name.
inline std::string key_outside(const std::string &what, int64_t value, int64_t low, int64_t high,
                               const char *at) {
  return "key " + what + " is " + std::to_string(value) + ", its range is " + std::to_string(low) + ".." +
         std::to_string(high) + location(at);
}

/// `what` is a key_name.
inline std::string table_too_large(const std::string &what, int64_t length, int64_t bytes, int64_t limit,
                                   const char *at) {
  return "the range of key " + what + " has " + std::to_string(length) + " values, whose table takes " +
         std::to_string(bytes) + " bytes more, and one input may have " + std::to_string(limit) + " in all" +
         location(at);
}

/// Of a cell whose values change on the way down.
inline std::string reached_twice(const std::string &cell, const char *at) {
  return "reached twice by `" + cell + "`" + location(at);
}

/// One instance of a cell on a cycle; `keys` are what Batch::node_name calls its node, and "t = 3".
struct CycleStep {
  std::string cell;
  std::string keys;
};

/// An instance that needs its own value (D4). `steps` are the instances in the order of the calls, each once.
/// Of a long chain the first and the last are printed.
inline std::string cycle(const std::vector<CycleStep> &steps) {
  constexpr size_t kShown = 8;
  auto step = [](const CycleStep &s) { return s.cell + "(" + s.keys + ")"; };
  std::string text = "a value needs itself: ";
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps.size() > kShown && i == kShown - 1 && i + 1 < steps.size()) {
      text += ".. (" + std::to_string(steps.size() - kShown) + " more) -> ";
      i = steps.size() - 1;
    }
    text += step(steps[i]) + " -> ";
  }
  return steps.empty() ? text : text + step(steps.front());
}

/// The words for a recorded error.
inline std::string error_text(ErrorKind kind, const char *what, int64_t a, int64_t b, int64_t c,
                              const char *at) {
  switch (kind) {
  case ErrorKind::index:
    return index_outside(a, b, at);
  case ErrorKind::list_index:
    return list_index_outside(a, b, at);
  case ErrorKind::slice:
    return slice_outside(a, b, c, at);
  case ErrorKind::lengths:
    return lengths_differ(a, b, at);
  case ErrorKind::empty:
    return empty_list(what, at);
  case ErrorKind::overflow:
    return overflow(what, a, b, at);
  case ErrorKind::zero_division:
    return zero_division(what, a, at);
  case ErrorKind::conversion:
    return not_an_int(at);
  case ErrorKind::memory:
    return too_long(a, b, c, at);
  case ErrorKind::key:
    return key_outside(what, a, b, c, at);
  case ErrorKind::state_length:
    return state_length_changes(what, a, b, at);
  case ErrorKind::table:
    return table_too_large(what, a, b, c, at);
  }
  return "unknown error";
}

} // namespace messages
} // namespace dbc
