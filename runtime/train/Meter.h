// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What a training says on stderr while it runs: on a terminal a bar that moves, else a line an epoch.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dbc::train {

class Meter {
public:
  /// One that is silent says nothing.
  explicit Meter(bool silent);
  /// So much of an epoch is done; `loss` is the mean so far, `rate` inputs a second.
  void show(int64_t epoch, int64_t epochs, int64_t done, int64_t all, double loss, double rate,
            const std::string &metric);
  /// A line that stays, in place of the bar.
  void say(const std::string &line);
  /// Takes the bar away.
  void clear();

private:
  bool silent_, terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_;
};

} // namespace dbc::train
