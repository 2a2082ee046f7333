// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Profiles as a table and as JSON.
#include <dbc/io/profile.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace dbc {

namespace {

bool timed(const RunProfile &profile) {
  return std::any_of(profile.stages.begin(), profile.stages.end(),
                     [](const StageProfile &stage) { return stage.ns > 0; });
}

/// Whether a stage's products have a rate, and which, in GFLOP/s.
bool rated(const StageProfile &stage) { return stage.ns > 0 && stage.operations > 0; }
double rate(const StageProfile &stage) {
  return static_cast<double>(stage.operations) / static_cast<double>(stage.ns);
}

std::string decimals(double value, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}

} // namespace

std::string profile_table(const RunProfile &profile, const PredictedProfile *predicted) {
  size_t widest = 5;
  for (const StageProfile &stage : profile.stages)
    widest = std::max(widest, std::string(stage.name).size());
  std::string out;
  auto line = [&](const std::string &name, const std::vector<std::string> &columns) {
    out += "  " + name + std::string(name.size() < widest ? widest - name.size() : 0, ' ');
    for (const std::string &column : columns)
      out += std::string(column.size() < 14 ? 14 - column.size() : 1, ' ') + column;
    out += '\n';
  };
  bool times = timed(profile);
  std::vector<std::string> head = {"launches", "rows", "bytes read", "bytes written", "gathers"};
  if (times && predicted != nullptr)
    head.insert(head.end(), {"us", "predicted us", "share", "GFLOP/s"});
  else if (times)
    head.insert(head.end(), {"ms", "share", "GFLOP/s"});
  line("stage", head);
  double whole = static_cast<double>(std::max<int64_t>(1, profile.schedule_ns + profile.compute_ns));
  auto append_times = [&](std::vector<std::string> &columns, int64_t ns, const std::string &predicted_us) {
    const double time = static_cast<double>(ns);
    if (predicted != nullptr)
      columns.insert(columns.end(), {decimals(time / 1e3, 1), predicted_us});
    else
      columns.push_back(decimals(time / 1e6, 3));
    columns.push_back(decimals(100 * time / whole, 1) + " %");
  };
  int64_t between = profile.compute_ns;
  double predicted_between = predicted != nullptr ? predicted->us : 0;
  for (size_t s = 0; s < profile.stages.size(); ++s) {
    const StageProfile &stage = profile.stages[s];
    std::vector<std::string> columns;
    for (int64_t number : {stage.launches, stage.rows, stage.bytes_read, stage.bytes_written, stage.gathers})
      columns.push_back(std::to_string(number));
    if (times) {
      const double us = predicted != nullptr ? predicted->stages_us[s] : 0;
      between -= stage.ns;
      predicted_between -= us;
      append_times(columns, stage.ns, stage.ns > 0 ? decimals(us, 1) : "-");
      columns.push_back(rated(stage) ? decimals(rate(stage), 1) : "-");
    }
    line(stage.name, columns);
  }
  auto rest = [&](const std::string &name, int64_t ns, const std::string &predicted_us) {
    std::vector<std::string> columns(5);
    append_times(columns, ns, predicted_us);
    line(name, columns);
  };
  if (times) {
    rest("scheduling", profile.schedule_ns, "-");
    rest("between", between, decimals(predicted_between, 1));
  }
  return out;
}

std::string profile_json(const RunProfile &profile, const PredictedProfile *predicted) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (size_t s = 0; s < profile.stages.size(); ++s) {
    const StageProfile &stage = profile.stages[s];
    nlohmann::ordered_json row = {{"name", stage.name},
                                  {"launches", stage.launches},
                                  {"rows", stage.rows},
                                  {"bytes_read", stage.bytes_read},
                                  {"bytes_written", stage.bytes_written},
                                  {"gathers", stage.gathers},
                                  {"operations", stage.operations},
                                  {"ns", stage.ns},
                                  {"gflops", nullptr}};
    if (rated(stage))
      row["gflops"] = rate(stage);
    if (stage.backward)
      row["backward"] = true;
    if (predicted != nullptr) {
      row["predicted_us"] = nullptr;
      if (stage.ns > 0)
        row["predicted_us"] = predicted->stages_us[s];
    }
    stages.push_back(std::move(row));
  }
  nlohmann::ordered_json all = {{"nodes", profile.nodes},
                                {"rounds", profile.rounds},
                                {"buffer_bytes", profile.buffer_bytes},
                                {"schedule_ns", profile.schedule_ns},
                                {"compute_ns", profile.compute_ns},
                                {"stages", std::move(stages)}};
  if (predicted != nullptr)
    all["predicted"] = {{"device", predicted->device},
                        {"constants", predicted->constants},
                        {"measured_constants", predicted->measured_constants},
                        {"path", predicted->path},
                        {"measured_on", predicted->measured_on},
                        {"batches", predicted->batches},
                        {"us", predicted->us}};
  return all.dump();
}

} // namespace dbc
