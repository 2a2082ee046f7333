// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A profile as a trace that Perfetto and chrome://tracing open.
#pragma once

#include "driver/profile/TimedLaunches.h"
#include "llvm/Support/JSON.h"
#include <dbc/profile.h>
#include <string>

namespace dbc::driver {

/// Collects the launches of batches as an object of the Trace Event Format: nested complete events of one
/// thread, a batch around when it was scheduled and its launches, in microseconds since the first batch
/// began. A loop that a device runs at once is one launch, called after its first stage, with the counts of
/// all its stages. It grows with each launch.
class ProfileTrace {
public:
  /// `model` and `entry` name the process and the thread.
  ProfileTrace(const std::string &model, const std::string &entry);
  /// A batch of so many inputs whose log was timed and that took `whole`; `profile` is that of it, or of it
  /// and others.
  void add(const LaunchLog &log, const RunProfile &profile, const TimeSpan &whole, int64_t inputs);
  /// The whole file.
  std::string text() const;

private:
  void add(llvm::StringRef name, llvm::StringRef category, const TimeSpan &span,
           llvm::json::Object arguments);
  void add(llvm::json::Object event);
  std::string events_;              ///< as text, which takes the least memory
  int64_t begin_ = 0, batches_ = 0; ///< of the first batch, ns; how many
};

} // namespace dbc::driver
