// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What the launches of runs did, and when: by time step for the page of a report.
#pragma once

#include "cost/DeviceCost.h"
#include "driver/profile/TimedLaunches.h"
#include "llvm/Support/JSON.h"
#include <dbc/profile.h>
#include <optional>
#include <string>
#include <vector>

namespace dbc::driver {

/// Sums over batches what each stage did in each of its time steps.
class Timeline {
public:
  /// A batch of so many inputs that took `whole`; `profile` is that of it, or of it and others.
  void add(const LaunchLog &log, const RunProfile &profile, const TimeSpan &whole, int64_t inputs);
  /// What the batch that was added last is predicted to take.
  void predict(const cost::ProgramShape &program, const cost::Prediction &prediction);
  /// The page's "timeline", see docs/report-page.schema.json; bounded, whatever was run. Predictions are
  /// those of `path`, if any. `measured` says where times were.
  llvm::json::Object json(std::optional<cost::DevicePath> path, const std::string &measured) const;

private:
  struct Step {
    int64_t rows = 0, ns = 0;
    cost::PathTimes us{};
    bool predicted = false;
  };
  struct StageSteps {
    std::string name;
    double read = 0, written = 0; ///< bytes for a row
    std::vector<Step> steps;
  };
  static void readFirst(const LaunchLog &log, const std::vector<StageSteps> &stages, const TimeSpan &whole,
                        int64_t inputs, llvm::json::Object &first);
  std::vector<StageSteps> stages_;
  llvm::json::Object first_;
  int64_t batches_ = 0;
};

} // namespace dbc::driver
