// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/Timeline.h"
#include "llvm/ADT/STLExtras.h"

namespace dbc::driver {

// A page has no more: what is behind them is counted.
constexpr size_t kMostTimeSteps = 1000, kMostLaunches = 3000;

void Timeline::add(const LaunchLog &log, const RunProfile &profile, const TimeSpan &whole, int64_t inputs) {
  stages_.resize(profile.stages.size());
  for (size_t number = 0; number < stages_.size(); ++number) {
    StageSteps &stage = stages_[number];
    const StageProfile &did = profile.stages[number];
    stage.name = did.name;
    if (did.rows > 0) {
      stage.read = double(did.bytes_read) / double(did.rows);
      stage.written = double(did.bytes_written) / double(did.rows);
    }
    if (number >= log.rows.size())
      continue;
    eachLaunch(log, number, [&](size_t, size_t timeStep, size_t launch) {
      stage.steps.resize(std::max(stage.steps.size(), timeStep + 1));
      stage.steps[timeStep].rows += log.rows[number][launch];
      if (number < log.spans.size() && launch < log.spans[number].size())
        stage.steps[timeStep].ns += log.spans[number][launch].length;
    });
  }
  if (batches_++ == 0)
    readFirst(log, stages_, whole, inputs, first_);
}

void Timeline::readFirst(const LaunchLog &log, const std::vector<StageSteps> &stages, const TimeSpan &whole,
                         int64_t inputs, llvm::json::Object &first) {
  llvm::json::Array schedules, launches;
  for (const LaunchLog::SubBatch &subBatch : llvm::ArrayRef(log.sub_batches).take_front(kMostLaunches))
    schedules.push_back(llvm::json::Object{{"begin", subBatch.schedule.begin - whole.begin},
                                           {"ns", subBatch.schedule.length}});
  const std::vector<TimedLaunch> timed = timedLaunches(log);
  const llvm::ArrayRef<TimedLaunch> shown = llvm::ArrayRef(timed).take_front(kMostLaunches);
  for (const TimedLaunch &launch : shown)
    launches.push_back(llvm::json::Object{{"stage", stages[launch.parts.front().stage].name},
                                          {"step", launch.step},
                                          {"rows", launch.rows()},
                                          {"begin", launch.span.begin - whole.begin},
                                          {"ns", launch.span.length}});
  first = llvm::json::Object{{"inputs", inputs},
                             {"ns", whole.length},
                             {"schedules", std::move(schedules)},
                             {"launches", std::move(launches)},
                             {"left_out", int64_t(timed.size() - shown.size())}};
}

void Timeline::predict(const cost::ProgramShape &program, const cost::Prediction &prediction) {
  for (auto [kernel, found] : llvm::zip(program.kernels, prediction.kernels)) {
    const std::string &name = kernel.name;
    auto stage = llvm::find_if(stages_, [&](const StageSteps &each) { return each.name == name; });
    if (stage == stages_.end())
      continue;
    for (auto [step, us] : llvm::zip(stage->steps, found.timeStepUs)) {
      step.predicted = true;
      for (size_t path = 0; path < us.size(); ++path)
        step.us[path] += us[path];
    }
  }
}

llvm::json::Object Timeline::json(std::optional<cost::DevicePath> path, const std::string &measured) const {
  llvm::json::Array stages;
  for (const StageSteps &stage : stages_) {
    if (stage.steps.empty())
      continue;
    llvm::json::Array steps;
    for (const Step &step : llvm::ArrayRef(stage.steps).take_front(kMostTimeSteps)) {
      llvm::json::Value us = nullptr;
      if (path && step.predicted)
        us = step.us[size_t(*path)];
      steps.push_back(llvm::json::Object{{"rows", step.rows},
                                         {"bytes_read", int64_t(stage.read * double(step.rows) + 0.5)},
                                         {"bytes_written", int64_t(stage.written * double(step.rows) + 0.5)},
                                         {"ns", step.ns},
                                         {"predicted_us", std::move(us)}});
    }
    const int64_t leftOut = int64_t(stage.steps.size() - steps.size());
    stages.push_back(
        llvm::json::Object{{"stage", stage.name}, {"steps", std::move(steps)}, {"left_out", leftOut}});
  }
  std::string words =
      "Sums over " + (batches_ == 1 ? "the batch" : "all " + std::to_string(batches_) + " batches") +
      " and their sub-batches, bars of each kind to a scale of their own; measured " + measured + ".";
  if (path)
    words += " Predicted for the path that is chosen, " + cost::nameOf(*path).str() +
             ", without what a loop's own launch takes.";
  return llvm::json::Object{{"words", words},
                            {"device", path.has_value()},
                            {"stages", std::move(stages)},
                            {"first_batch", llvm::json::Object(first_)}};
}

} // namespace dbc::driver
