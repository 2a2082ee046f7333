// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What goes wrong in a training, in words.
#pragma once

#include "llvm/Support/Error.h"
#include <dbc/status.h>

namespace dbc::driver {

inline llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

inline llvm::Error toError(const Status &status) {
  return status.ok() ? llvm::Error::success() : error(status.message);
}

} // namespace dbc::driver
