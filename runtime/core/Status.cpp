// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Names of the codes.
#include <dbc/status.h>

namespace dbc {

const char *code_name(Code code) {
  switch (code) {
  case Code::ok:
    return "ok";
  case Code::bad_input:
    return "bad_input";
  case Code::bad_weights:
    return "bad_weights";
  case Code::bad_call:
    return "bad_call";
  case Code::limit:
    return "limit";
  case Code::io:
    return "io";
  case Code::internal:
    return "internal";
  }
  return "internal";
}

} // namespace dbc
