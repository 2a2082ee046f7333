// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/report/Timeline.h"
#include "llvm/ADT/STLExtras.h"

namespace dbc::driver {

// A page has no more: what is behind them is counted.
constexpr size_t kMostTimeSteps = 1000, kMostLaunches = 3000;

llvm::StringRef reportedName(const char *stage) {
  llvm::StringRef name = stage;
  name.consume_front("stage.");
  return name;
}

/// Calls `each`(sub-batch, time step, launch) with the launches of a stage, by their numbers in the log.
static void eachLaunch(const LaunchLog &log, size_t stage,
                       llvm::function_ref<void(size_t, size_t, size_t)> each) {
  size_t subBatch = 0, first = 0;
  auto firstOf = [&](size_t number) {
    const std::vector<size_t> &begins = log.sub_batches[number].first;
    return stage < begins.size() ? begins[stage] : 0;
  };
  for (size_t launch = 0; launch < log.rows[stage].size(); ++launch) {
    for (; subBatch < log.sub_batches.size() && firstOf(subBatch) <= launch; ++subBatch)
      first = firstOf(subBatch);
    each(subBatch, launch - first, launch);
  }
}

int64_t TimedLaunch::rows() const {
  int64_t sum = 0;
  for (const Part &part : parts)
    sum += part.rows;
  return sum;
}

/// Adds rows that a loop's launch has computed of one of its stages in a time step.
static void addRows(TimedLaunch &launch, int32_t stage, int32_t step, int64_t rows) {
  if (launch.parts.back().stage != stage)
    launch.parts.push_back({stage, 0});
  launch.parts.back().rows += rows;
  launch.steps = std::max(launch.steps, step - launch.step + 1);
}

std::vector<TimedLaunch> timedLaunches(const LaunchLog &log) {
  std::vector<TimedLaunch> launches;
  // Rows without a time of their own were computed by a loop in one launch, whose time stands at its first
  // stage: of those up to theirs, what began last in their sub-batch.
  std::vector<std::optional<size_t>> last(log.sub_batches.size() + 1);
  for (size_t number = 0; number < log.rows.size(); ++number) {
    const llvm::ArrayRef<int32_t> rows = log.rows[number];
    const llvm::ArrayRef<TimeSpan> spans =
        number < log.spans.size() ? llvm::ArrayRef(log.spans[number]) : llvm::ArrayRef<TimeSpan>();
    auto timed = [&](size_t launch) { return launch < spans.size() && spans[launch].begin != 0; };
    const auto stage = static_cast<int32_t>(number);
    eachLaunch(log, number, [&](size_t subBatch, size_t step, size_t launch) {
      if (!timed(launch))
        return;
      std::optional<size_t> &latest = last[subBatch];
      if (!latest || launches[*latest].span.begin <= spans[launch].begin)
        latest = launches.size();
      launches.push_back({{{stage, rows[launch]}}, static_cast<int32_t>(step), 1, spans[launch]});
    });
    eachLaunch(log, number, [&](size_t subBatch, size_t step, size_t launch) {
      if (!timed(launch) && rows[launch] > 0 && last[subBatch])
        addRows(launches[*last[subBatch]], stage, static_cast<int32_t>(step), rows[launch]);
    });
  }
  llvm::stable_sort(launches,
                    [](const TimedLaunch &a, const TimedLaunch &b) { return a.span.begin < b.span.begin; });
  return launches;
}

void Timeline::add(const LaunchLog &log, const RunProfile &profile, const TimeSpan &whole, int64_t inputs) {
  stages_.resize(profile.stages.size());
  for (size_t number = 0; number < stages_.size(); ++number) {
    Stage &stage = stages_[number];
    const StageProfile &did = profile.stages[number];
    stage.name = reportedName(did.name).str();
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

void Timeline::readFirst(const LaunchLog &log, const std::vector<Stage> &stages, const TimeSpan &whole,
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
    auto stage = llvm::find_if(stages_, [&](const Stage &each) { return each.name == kernel.name; });
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
  for (const Stage &stage : stages_) {
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
