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

std::string decimals(double value, int places) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", places, value);
  return text;
}

} // namespace

std::string profile_table(const RunProfile &profile) {
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
  if (times)
    head.insert(head.end(), {"ms", "share", "GFLOP/s"});
  line("stage", head);
  double whole = static_cast<double>(std::max<int64_t>(1, profile.schedule_ns + profile.compute_ns));
  auto share = [&](int64_t ns) { return decimals(100 * static_cast<double>(ns) / whole, 1) + " %"; };
  auto ms = [](int64_t ns) { return decimals(static_cast<double>(ns) / 1e6, 3); };
  for (const StageProfile &stage : profile.stages) {
    std::vector<std::string> columns;
    for (int64_t number : {stage.launches, stage.rows, stage.bytes_read, stage.bytes_written, stage.gathers})
      columns.push_back(std::to_string(number));
    if (times) {
      double rate =
          static_cast<double>(stage.operations) / static_cast<double>(std::max<int64_t>(1, stage.ns));
      columns.insert(columns.end(),
                     {ms(stage.ns), share(stage.ns), stage.operations > 0 ? decimals(rate, 1) : "-"});
    }
    line(stage.name, columns);
  }
  if (times) {
    line("scheduling", {"", "", "", "", "", ms(profile.schedule_ns), share(profile.schedule_ns)});
    int64_t rest = profile.compute_ns;
    for (const StageProfile &stage : profile.stages)
      rest -= stage.ns;
    line("between", {"", "", "", "", "", ms(rest), share(rest)});
  }
  return out;
}

std::string profile_json(const RunProfile &profile) {
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (const StageProfile &stage : profile.stages) {
    nlohmann::ordered_json rate = nullptr;
    if (stage.ns > 0 && stage.operations > 0)
      rate = static_cast<double>(stage.operations) / static_cast<double>(stage.ns);
    stages.push_back({{"name", stage.name},
                      {"launches", stage.launches},
                      {"rows", stage.rows},
                      {"bytes_read", stage.bytes_read},
                      {"bytes_written", stage.bytes_written},
                      {"gathers", stage.gathers},
                      {"operations", stage.operations},
                      {"ns", stage.ns},
                      {"gflops", rate}});
  }
  nlohmann::ordered_json all = {{"nodes", profile.nodes},
                                {"rounds", profile.rounds},
                                {"schedule_ns", profile.schedule_ns},
                                {"compute_ns", profile.compute_ns},
                                {"stages", stages}};
  return all.dump();
}

} // namespace dbc
