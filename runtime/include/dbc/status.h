// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How the runtime reports failure: by value, never by an exception or an abort.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace dbc {

/// What kind of failure a Status tells of.
enum class Code : uint8_t {
  ok,
  bad_input,   ///< the application's structure or arguments are wrong; concerns one input of a batch
  bad_weights, ///< a parameter is missing, or has the wrong shape or type
  bad_call,    ///< the interface was used wrongly (a batch of another model, an output that is too small)
  limit,       ///< no memory, or more than 2^31 - 1 rows
  io,          ///< a file could not be read or written
  internal     ///< a mistake in dbc
};

/// The code's name as it stands in JSON, e.g. "bad_input".
const char *code_name(Code code);

/// Success, or one failure in words. A message is lower case, without a full stop, and names the model, then, as far
/// as they are known, input, node and field:
///   tree_lstm: input 3: Tree node 7 (Node): field `left` is missing
struct Status {
  Code code = Code::ok;
  std::string message;
  int32_t input = -1; ///< the input's number in the batch, or -1
  int32_t node = -1;  ///< the node's number among the input's nodes of its data type, or -1
  std::string field;  ///< the field or argument, or empty

  bool ok() const { return code == Code::ok; }

  static Status error(Code code, std::string message) {
    Status s;
    s.code = code;
    s.message = std::move(message);
    return s;
  }
};

} // namespace dbc
