// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Comparing results and taking times.
#include "bench/Measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <thread>

namespace dbc::bench {

/// max |a - b| / max(1, max |b|) over the first values, as many as the shorter has; infinite if anything is
/// NaN.
template <class A, class B> static double difference(const std::vector<A> &a, const std::vector<B> &b) {
  double most = 0, scale = 1;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    double d = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!std::isfinite(d))
      return HUGE_VAL;
    most = std::max(most, d);
    scale = std::max(scale, std::fabs(static_cast<double>(b[i])));
  }
  return most / scale;
}

/// That the results of two, or of one and the reference, are not the same.
static std::string differs(const Contestant &contestant, const std::string &in, const std::string &judge,
                           double difference) {
  char text[256];
  std::snprintf(text, sizeof text, "%s differs%s from %s by %.3g (at most %g is allowed)",
                contestant.impl.c_str(), in.c_str(), judge.c_str(), difference, contestant.tolerance);
  return text;
}

std::string check(std::vector<Contestant> &contestants, size_t values, const std::vector<double> &reference) {
  std::vector<float> out(values), first;
  const Contestant *judge = nullptr;
  for (Contestant &contestant : contestants) {
    if (!contestant.implementation)
      continue;
    // Whatever is not written must not look right.
    std::fill(out.begin(), out.end(), std::nanf(""));
    contestant.implementation->pass(out.data());
    double d = judge ? difference(out, first) : difference(out, reference);
    if (!(d <= contestant.tolerance))
      return differs(contestant, "", judge ? judge->impl : "the reference", d);
    if (!judge) {
      judge = &contestant;
      first = out;
    }
  }
  return "";
}

/// max |a - b| / max |b - start|, without what is rounding of weights; infinite if anything is NaN, if a size
/// is another, or if only a has moved.
static double difference_of_moves(const std::vector<float> &a, const std::vector<float> &b,
                                  const std::vector<float> &start) {
  if (a.size() != start.size() || b.size() != start.size())
    return HUGE_VAL;
  double most = 0, furthest = 0, largest = 0;
  for (size_t i = 0; i < start.size(); ++i) {
    const double d = std::fabs(static_cast<double>(a[i]) - b[i]);
    if (!std::isfinite(d))
      return HUGE_VAL;
    most = std::max(most, d);
    furthest = std::max(furthest, std::fabs(static_cast<double>(b[i]) - start[i]));
    largest = std::max(largest, std::fabs(static_cast<double>(start[i])));
  }
  if (furthest == 0)
    return most == 0 ? 0 : HUGE_VAL;
  return std::max(most - largest * std::numeric_limits<float>::epsilon(), 0.0) / furthest;
}

std::string check_trained(const std::vector<Contestant> &contestants, const Parameters &start) {
  for (const Parameters::Parameter &parameter : start.all()) {
    const Contestant *judge = nullptr;
    std::vector<float> first;
    for (const Contestant &contestant : contestants) {
      if (!contestant.implementation)
        continue;
      std::vector<float> own = contestant.implementation->parameter(parameter.name);
      if (!judge) {
        judge = &contestant;
        first = std::move(own);
        continue;
      }
      double d = difference_of_moves(own, first, parameter.values);
      if (!(d <= contestant.tolerance))
        return differs(contestant, " in `" + parameter.name + "`", judge->impl, d);
    }
  }
  return "";
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  double at = share * static_cast<double>(values.size() - 1);
  auto low = static_cast<size_t>(at);
  size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

/// (75th - 25th percentile) / median.
static double spread(const std::vector<double> &times) {
  return (quantile(times, 0.75) - quantile(times, 0.25)) / quantile(times, 0.5);
}

Measurement measure(std::vector<Contestant> &contestants, size_t values, double seconds,
                    const std::function<double()> &sgemm, double pause) {
  using Clock = std::chrono::steady_clock;
  constexpr int32_t kLeastRounds = 5;
  std::vector<float> out(values);
  std::vector<double> speeds;
  std::vector<std::vector<double>> times(contestants.size()), schedules(contestants.size());
  double present = 0;
  for (const Contestant &contestant : contestants)
    present += contestant.implementation != nullptr;

  Measurement found;
  double spent = 0;
  for (; found.rounds < kLeastRounds || spent < seconds * present; ++found.rounds) {
    speeds.push_back(sgemm());
    for (size_t i = 0; i < contestants.size(); ++i) {
      Implementation *implementation = contestants[i].implementation.get();
      if (!implementation)
        continue;
      if (pause > 0)
        std::this_thread::sleep_for(std::chrono::duration<double>(pause));
      Clock::time_point start = Clock::now();
      implementation->pass(out.data());
      const double taken = std::chrono::duration<double>(Clock::now() - start).count(),
                   own = implementation->pass_seconds();
      times[i].push_back(own >= 0 ? own : taken);
      spent += times[i].back();
      if (implementation->schedule_seconds() >= 0)
        schedules[i].push_back(implementation->schedule_seconds());
    }
  }

  found.sgemm = quantile(speeds, 0.5);
  for (size_t i = 0; i < contestants.size(); ++i) {
    Timing timing;
    if (!times[i].empty()) {
      timing.seconds = quantile(times[i], 0.5);
      timing.spread = spread(times[i]);
    }
    if (!schedules[i].empty()) {
      timing.schedule_seconds = quantile(schedules[i], 0.5);
      timing.schedule_spread = spread(schedules[i]);
    }
    found.timings.push_back(timing);
  }
  return found;
}

} // namespace dbc::bench
