// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/train/Meter.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

namespace dbc::driver {

constexpr int64_t kBar = 24; ///< characters
constexpr std::chrono::milliseconds kPause(100);

Meter::Meter() : terminal_(isatty(STDERR_FILENO) != 0) {}

void Meter::clear() {
  if (shown_)
    llvm::errs() << "\r\033[K"; // to the beginning of the line, which is erased
  shown_ = false;
}

void Meter::show(int64_t epoch, int64_t epochs, int64_t done, int64_t all, double loss, double rate,
                 const std::string &metric) {
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || all == 0 || now - last_ < kPause)
    return;
  last_ = now;
  clear();
  const auto filled = static_cast<size_t>(kBar * done / all);
  llvm::errs() << "epoch " << epoch << "/" << epochs << " [" << std::string(filled, '=')
               << std::string(kBar - filled, ' ') << "] loss " << llvm::format("%.4f", loss);
  if (!metric.empty())
    llvm::errs() << ", " << metric;
  if (rate > 0)
    llvm::errs() << llvm::format(", %.0f inputs/s, %.0f s left", rate,
                                 static_cast<double>(all - done) / rate);
  llvm::errs().flush();
  shown_ = true;
}

void Meter::say(const std::string &line) {
  clear();
  llvm::errs() << line << "\n";
}

} // namespace dbc::driver
