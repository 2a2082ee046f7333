// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Printing rows.
#include "bench/Report.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace dbc::bench {

std::optional<double> limit_share(const Contestant &contestant, const Timing &timing,
                                  const Measurement &found) {
  if (!timing.seconds || !found.products || contestant.impl == "dbc-table" || contestant.impl == "dbc-bf16")
    return std::nullopt;
  return *found.products / *timing.seconds;
}

std::vector<Row> rows(const Case &shared, const std::vector<Contestant> &contestants,
                      const Measurement &found) {
  std::vector<Row> all;
  for (size_t i = 0; i < contestants.size(); ++i) {
    Row row;
    row.workload = shared.workload;
    row.impl = contestants[i].impl;
    row.mode = shared.mode;
    row.hidden = shared.hidden;
    row.batch = shared.batch;
    row.threads = shared.threads;
    row.data = shared.data;
    if (found.timings[i].seconds)
      row.per_second = shared.inputs / *found.timings[i].seconds;
    row.spread = found.timings[i].spread;
    if (found.timings[i].schedule_seconds)
      row.schedule_ns_per_node =
          1e9 * *found.timings[i].schedule_seconds / static_cast<double>(shared.instances);
    row.limit_share = limit_share(contestants[i], found.timings[i], found);
    all.push_back(row);
  }
  return all;
}

template <class... Values> static std::string print(const char *format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

/// Seconds of the contestant of that name, or 0.
static double seconds_of(const char *impl, const std::vector<Contestant> &contestants,
                         const Measurement &found) {
  for (size_t i = 0; i < contestants.size(); ++i)
    if (contestants[i].impl == impl)
      return found.timings[i].seconds.value_or(0);
  return 0;
}

std::string table(const Case &shared, const std::vector<Contestant> &contestants, const Measurement &found) {
  std::string text =
      print("\n%s %s, hidden %d, batch %d, threads %d: %s (%d inputs, %lld instances), %d rounds\n",
            shared.workload.c_str(), shared.mode.c_str(), shared.hidden, shared.batch, shared.threads,
            shared.data.c_str(), shared.inputs, static_cast<long long>(shared.instances), found.rounds);
  text += print("  %-14s %10s %7s %8s %8s %8s %18s %12s %9s\n", "", "inputs/s", "spread", "GFLOP/s",
                "of sgemm", "of limit", "schedule", "/ gemv-node", "/ cblas");
  double gemv = seconds_of("gemv-node", contestants, found), cblas = seconds_of("cblas", contestants, found);
  std::string absent, notes;
  for (size_t i = 0; i < contestants.size(); ++i) {
    const Timing &timing = found.timings[i];
    if (!timing.seconds) {
      absent += (absent.empty() ? "" : ", ") + contestants[i].impl;
      if (!contestants[i].note.empty())
        absent += " (" + contestants[i].note + ")";
      continue;
    }
    if (!contestants[i].note.empty())
      notes += "  " + contestants[i].impl + " is " + contestants[i].note + "\n";
    double gflops = 1e-9 * shared.flops / *timing.seconds;
    std::string schedule = timing.schedule_seconds
                               ? print("%.1f +- %.0f %% ns",
                                       1e9 * *timing.schedule_seconds / static_cast<double>(shared.instances),
                                       100 * timing.schedule_spread.value_or(0))
                               : "-";
    auto ratio = [&](double other) {
      return other > 0 ? print("%.2f", other / *timing.seconds) : std::string("-");
    };
    std::optional<double> share = limit_share(contestants[i], timing, found);
    text += print("  %-14s %10.0f %5.1f %% %8.1f %6.0f %% %8s %18s %12s %9s\n", contestants[i].impl.c_str(),
                  shared.inputs / *timing.seconds, 100 * timing.spread.value_or(0), gflops,
                  100 * gflops / found.sgemm, share ? print("%.0f %%", 100 * *share).c_str() : "-",
                  schedule.c_str(), ratio(gemv).c_str(), ratio(cblas).c_str());
  }
  text += print("  %-14s %10s %7s %8.1f\n", "sgemm", "", "", found.sgemm);
  if (found.products)
    text += print("  %-14s %10.0f %7s %8.1f %6.0f %%  products alone: %s\n", "limit",
                  shared.inputs / *found.products, "", 1e-9 * shared.flops / *found.products,
                  1e-7 * shared.flops / *found.products / found.sgemm, found.products_by.c_str());
  text += notes;
  if (!absent.empty())
    text += "  absent: " + absent + "\n";
  // The case at which the baseline by hand is held to be worth comparing with.
  if (cblas > 0 && shared.hidden == 150 && shared.batch == 64) {
    double share = 100e-9 * shared.flops / cblas / found.sgemm;
    text += print("  cblas reaches %.0f %% of sgemm: it %s\n", share,
                  share >= 50 ? "counts" : "does NOT count, which takes 50 %");
  }
  return text;
}

std::string json(const std::vector<Row> &rows) {
  using Json = nlohmann::ordered_json;
  auto number = [](const std::optional<double> &value) { return value ? Json(*value) : Json(nullptr); };
  std::string text = "[";
  for (const Row &row : rows) {
    Json object = {{"workload", row.workload},
                   {"impl", row.impl},
                   {"mode", row.mode},
                   {"hidden", row.hidden},
                   {"batch", row.batch},
                   {"threads", row.threads},
                   {"per_second", number(row.per_second)},
                   {"spread", number(row.spread)},
                   {"schedule_ns_per_node", number(row.schedule_ns_per_node)},
                   {"limit_share", number(row.limit_share)},
                   {"data", row.data}};
    text += (text.size() > 1 ? ",\n " : "\n ") + object.dump();
  }
  return text + "\n]\n";
}

} // namespace dbc::bench
