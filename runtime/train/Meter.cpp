// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "Meter.h"
#include "Digits.h"

#include <cstdio>
#include <unistd.h>

namespace dbc::train {

constexpr int64_t kBar = 24; ///< characters
constexpr std::chrono::milliseconds kPause(100);

static void print(const std::string &text) { std::fwrite(text.data(), 1, text.size(), stderr); }

Meter::Meter(bool silent) : silent_(silent), terminal_(!silent && isatty(STDERR_FILENO) != 0) {}

void Meter::clear() {
  if (shown_)
    print("\r\033[K"); // to the beginning of the line, which is erased
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
  std::string line = "epoch " + std::to_string(epoch) + "/" + std::to_string(epochs) + " [" +
                     std::string(filled, '=') + std::string(kBar - filled, ' ') + "] loss " + fixed(loss, 4);
  if (!metric.empty())
    line += ", " + metric;
  if (rate > 0)
    line +=
        ", " + fixed(rate, 0) + " inputs/s, " + fixed(static_cast<double>(all - done) / rate, 0) + " s left";
  print(line);
  shown_ = true;
}

void Meter::say(const std::string &line) {
  if (silent_)
    return;
  clear();
  print(line + "\n");
}

} // namespace dbc::train
