// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// dbc-bench: measures compiled models against implementations by hand. Start it through scripts/bench, which
// builds it, compiles the models for the sizes asked for and sets OpenBLAS up.
#include "bench/Dump.h"
#include "bench/Machine.h"
#include "bench/Options.h"
#include "bench/Plot.h"
#include "bench/Report.h"
#include "bench/Run.h"
#include "bench/workloads/Workloads.h"

#include <cstdio>
#include <string>
#include <vector>

using namespace dbc::bench;

/// Writes to a temporary file and renames it, so that a reader never sees half of the rows.
static bool write_file(const std::string &path, const std::string &text) {
  std::string temporary = path + ".tmp";
  std::FILE *file = std::fopen(temporary.c_str(), "wb");
  if (!file)
    return false;
  bool fine = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  fine = std::fclose(file) == 0 && fine;
  return fine && std::rename(temporary.c_str(), path.c_str()) == 0;
}

/// Writes the inputs of a workload into the folder of --dump; says what is wrong.
static std::string dump_inputs(const std::string &name, const Workload &workload, const Options &options) {
  std::string error;
  Data data = workload.load(data_folder(), error);
  const std::string path = options.dump + "/" + name + ".json";
  if (error.empty() && !write_file(path, dump(workload.entry(), data.name, data.inputs)))
    error = "cannot write `" + path + "`";
  return error;
}

/// The workloads that the options ask for; says what is wrong.
static std::string find_workloads(const Options &options, std::vector<WorkloadInfo> &asked) {
  std::string having;
  bool known = options.workload.empty();
  for (const WorkloadInfo &workload : workloads()) {
    const bool named = options.workload.empty() || options.workload == workload.name;
    known |= named;
    if (!workload.has(options.mode))
      continue;
    having += (having.empty() ? "`" : ", `") + std::string(workload.name) + "`";
    if (named)
      asked.push_back(workload);
  }
  if (!known)
    return "no workload `" + options.workload + "`";
  if (asked.empty())
    return "workload `" + options.workload + "` has no training form; these have: " + having;
  return "";
}

int main(int argc, char **argv) {
  Options options;
  std::string error = parse(std::vector<std::string>(argv + 1, argv + argc), options);
  std::vector<WorkloadInfo> asked;
  if (error.empty())
    error = find_workloads(options, asked);
  if (!error.empty()) {
    std::fprintf(stderr, "dbc-bench: %s\n\n%s", error.c_str(), usage());
    return 2;
  }
  if (options.help) {
    std::fputs(usage(), stdout);
    return 0;
  }

  const int32_t hidden = options.hidden ? options.hidden : 150;
  for (const WorkloadInfo &workload : asked) {
    if (options.dump.empty())
      break;
    error = dump_inputs(workload.name, *workload.make_for(options.mode, hidden), options);
    if (!error.empty()) {
      std::fprintf(stderr, "dbc-bench: %s: %s\n", workload.name, error.c_str());
      return 1;
    }
  }
  if (!options.dump.empty())
    return 0;

  Machine machine(options.threads);
  const std::string measured_on = machine.describe();
  std::fprintf(stderr, "%s\n", measured_on.c_str());
  if (std::string warning = machine.wrong_kernels(); !warning.empty())
    std::fprintf(stderr, "warning: %s\n", warning.c_str());

  std::vector<Row> rows;
  for (const WorkloadInfo &workload : asked) {
    error = run(workload.name, *workload.make_for(options.mode, hidden), options, machine, rows);
    if (!error.empty()) {
      std::fprintf(stderr, "dbc-bench: %s: %s\n", workload.name, error.c_str());
      return 1;
    }
  }
  if (options.json) {
    std::string text = json(rows);
    if (options.json_file.empty())
      std::fputs(text.c_str(), stdout);
    else if (!write_file(options.json_file, text)) {
      std::fprintf(stderr, "dbc-bench: cannot write `%s`\n", options.json_file.c_str());
      return 1;
    }
  }
  if (!options.plot.empty() && !write_file(options.plot, plot(rows, measured_on))) {
    std::fprintf(stderr, "dbc-bench: cannot write `%s`\n", options.plot.c_str());
    return 1;
  }
  return 0;
}
