// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Exit.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

void printError(const llvm::Twine &message) {
  llvm::outs().flush(); // both may be one file or terminal
  llvm::errs() << "dbc: error: " << message << "\n";
}

Exit fail(llvm::Error error, Exit code) {
  printError(llvm::toString(std::move(error)));
  return code;
}

Exit fail(const Status &status) {
  printError(status.message);
  return status.code == Code::internal ? kInternal : kUserError;
}

} // namespace dbc::driver
