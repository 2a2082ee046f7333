// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/profile/ProfileTrace.h"
#include "llvm/Support/raw_ostream.h"

namespace dbc::driver {

// All events are of one thread of one process.
constexpr int64_t kProcess = 1, kThread = 1;

ProfileTrace::ProfileTrace(const std::string &model, const std::string &entry) {
  auto name = [&](const char *what, const std::string &called) {
    add(llvm::json::Object{{"name", what},
                           {"ph", "M"},
                           {"pid", kProcess},
                           {"tid", kThread},
                           {"args", llvm::json::Object{{"name", called}}}});
  };
  name("process_name", model);
  name("thread_name", entry);
}

void ProfileTrace::add(llvm::json::Object event) {
  llvm::raw_string_ostream(events_) << (events_.empty() ? "" : ",\n") << llvm::json::Value(std::move(event));
}

void ProfileTrace::add(llvm::StringRef name, llvm::StringRef category, const TimeSpan &span,
                       llvm::json::Object arguments) {
  add(llvm::json::Object{{"name", name.str()},
                         {"cat", category.str()},
                         {"ph", "X"},
                         {"pid", kProcess},
                         {"tid", kThread},
                         {"ts", double(span.begin - begin_) / 1e3},
                         {"dur", double(span.length) / 1e3},
                         {"args", std::move(arguments)}});
}

void ProfileTrace::add(const LaunchLog &log, const RunProfile &profile, const TimeSpan &whole,
                       int64_t inputs) {
  if (batches_++ == 0)
    begin_ = whole.begin;
  add("batch " + std::to_string(batches_), "batch", whole, llvm::json::Object{{"inputs", inputs}});
  for (const LaunchLog::SubBatch &subBatch : log.sub_batches)
    add("scheduling", "schedule", subBatch.schedule, llvm::json::Object());
  std::vector<int64_t> done(profile.stages.size(), 0); // rows of the launches before
  for (const TimedLaunch &launch : timedLaunches(log)) {
    llvm::json::Array stages;
    int64_t read = 0, written = 0, gathers = 0, operations = 0;
    for (const TimedLaunch::Part &part : launch.parts) {
      const StageProfile &stage = profile.stages[part.stage];
      if (part.rows == 0) // a loop's first stage has the loop's time, whether it has rows or not
        continue;
      // Of a list each row reads as much as the mean row; rounded so that the launches sum up to the whole.
      const int64_t before = done[part.stage], behind = done[part.stage] += part.rows;
      auto share = [&](int64_t all) {
        auto until = [&](int64_t rows) {
          return all / stage.rows * rows + all % stage.rows * rows / stage.rows;
        };
        return until(behind) - until(before);
      };
      stages.push_back(stage.name);
      read += share(stage.bytes_read);
      written += share(stage.bytes_written);
      gathers += share(stage.gathers);
      operations += share(stage.operations);
    }
    llvm::json::Object arguments{{"stages", std::move(stages)}, {"time_step", launch.step},
                                 {"time_steps", launch.steps},  {"rows", launch.rows()},
                                 {"bytes_read", read},          {"bytes_written", written},
                                 {"gathers", gathers},          {"operations", operations}};
    if (operations > 0 && launch.span.length > 0)
      arguments["gflops"] = double(operations) / double(launch.span.length);
    add(profile.stages[launch.parts.front().stage].name, "stage", launch.span, std::move(arguments));
  }
}

std::string ProfileTrace::text() const {
  return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + events_ + "\n]}\n";
}

} // namespace dbc::driver
