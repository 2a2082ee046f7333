// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/Progress.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

constexpr std::chrono::seconds kQuiet(2);
constexpr std::chrono::milliseconds kPause(100);
constexpr const char *kEraseLine = "\r\033[K";

Progress::Progress(std::string what, bool wanted)
    : what_(std::move(what)), terminal_(wanted && llvm::sys::Process::StandardErrIsDisplayed()),
      next_(std::chrono::steady_clock::now() + kQuiet) {}

void Progress::clear() {
  if (shown_)
    llvm::errs() << kEraseLine;
  shown_ = false;
}

void Progress::show(int64_t done, int64_t all) {
  if (!terminal_ || std::chrono::steady_clock::now() < next_)
    return;
  llvm::errs() << kEraseLine << what_ << ": " << done << " of " << all;
  shown_ = true;
  next_ = std::chrono::steady_clock::now() + kPause;
}

} // namespace dbc::driver
