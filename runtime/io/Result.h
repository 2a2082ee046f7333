// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The border between code that may throw (allocation) and an interface that does not.
#pragma once

#include <dbc/status.h>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace dbc::io {

inline Status failure(std::string message, Code code = Code::io) {
  return Status::error(code, std::move(message));
}

/// Runs `body`, which returns a Status; what it throws becomes one.
template <class Body> Status guarded(Body &&body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Status::error(Code::limit, "out of memory"); // short enough to need no memory itself
  } catch (const std::length_error &) {
    return Status::error(Code::limit, "out of memory");
  } catch (const std::exception &e) {
    return Status::error(Code::internal, e.what());
  }
}

} // namespace dbc::io
