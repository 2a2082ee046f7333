// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Running compiled code over JSON lines, with its launches written down.
#pragma once

#include "driver/Lines.h"
#include <dbc/profile.h>

namespace dbc::driver {

/// Compiled code, the lines as one batch, whose launches may be written down.
class LoggedRunner : public CompiledRunner {
public:
  using CompiledRunner::CompiledRunner;
  /// From now on `log` has the launches of the last batch, and `whole` when it was run.
  void logLaunches() { session.log_launches(&log); }
  LaunchLog log;
  TimeSpan whole;

protected:
  Status computeBatch() override;
};

} // namespace dbc::driver
