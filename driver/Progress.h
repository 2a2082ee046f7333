// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// How far a command has come that takes a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace dbc::driver {

/// A line on stderr that says how far something is, from two seconds on: only on a terminal, and only as
/// long as the object lives. Not for several threads.
class Progress {
public:
  /// `what` goes before the numbers. One that is not `wanted` says nothing.
  explicit Progress(std::string what, bool wanted = true);
  ~Progress() { clear(); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  /// So many of all are done.
  void show(int64_t done, int64_t all);
  /// Takes the line away, for what is said next.
  void clear();

private:
  const std::string what_;
  const bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_; ///< before it nothing is printed
};

} // namespace dbc::driver
