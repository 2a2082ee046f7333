// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Talking to another program.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <sys/types.h>
#include <vector>

namespace dbc::bench {

/// A running program whose standard input and output are ours. Every function returns an empty string, or in
/// words what went wrong: that the program ended, or that it was silent for longer than it may be.
class ChildProcess {
public:
  /// `patience`: seconds that an answer may take.
  explicit ChildProcess(double patience) : patience_(patience) {}
  /// Ends the program at once.
  ~ChildProcess();
  ChildProcess(const ChildProcess &) = delete;
  ChildProcess &operator=(const ChildProcess &) = delete;

  /// Starts `command`, whose first word is looked up in PATH. `environment` ("NAME=value") goes before what
  /// this program has under the same names.
  std::string start(const std::vector<std::string> &command, const std::vector<std::string> &environment);
  /// Sends the line, to which the end is added.
  std::string send(const std::string &line);
  /// Takes a line, without its end.
  std::string receive(std::string &line);
  /// Takes `size` bytes.
  std::string receive(void *bytes, size_t size);

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point deadline() const;
  std::string fill(Clock::time_point until);
  std::string ended();

  double patience_;
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string unread_; ///< received, but not yet taken
};

} // namespace dbc::bench
