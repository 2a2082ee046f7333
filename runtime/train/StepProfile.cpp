// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "StepProfile.h"
#include "Digits.h"

#include <algorithm>
#include <dbc/counted.h>
#include <dbc/io/profile.h>

namespace dbc::train {

void StepProfile::begin() {
  begin_ = now_ns();
  exchanged_ = ranks_.exchange_ns();
}

void StepProfile::add(const RunProfile &run, int64_t inputs) {
  runs_.add(run);
  ++steps_;
  inputs_ += inputs;
}

std::vector<std::pair<std::string, int64_t>> StepProfile::all(int64_t whole) const {
  const auto of = [&](Work kind) { return ns_[static_cast<size_t>(kind)]; };
  int64_t forward = 0, backward = 0;
  for (const StageProfile &stage : runs_.stages)
    (stage.backward ? backward : forward) += stage.ns;
  std::vector<std::pair<std::string, int64_t>> work = {
      {"reading inputs", of(Work::Read)},
      {"scheduling", runs_.schedule_ns},
      {"forward", forward},
      {"backward", backward},
      {"between stages", runs_.compute_ns - forward - backward},
      {"update of params", of(Work::Update)},
      {"packing of params", of(Work::Pack)},
      {"exchange with other ranks", ranks_.exchange_ns() - exchanged_},
      {"measuring", of(Work::Measure)},
      {"saving", of(Work::Save)},
  };
  int64_t rest = whole;
  for (const auto &[word, ns] : work)
    rest -= ns;
  work.emplace_back("else", rest);
  return work;
}

std::string StepProfile::table() const {
  constexpr size_t kWord = 27, kTime = 14, kShare = 8; ///< widths
  const auto right = [](const std::string &text, size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
  };
  const int64_t whole = now_ns() - begin_;
  std::string out = counted(steps_, "step") + " of " + counted(inputs_, "input") + " in all, " +
                    fixed(static_cast<double>(whole) / 1e6, 3) + " ms\n";
  for (const auto &[word, ns] : all(whole))
    if (ns != 0)
      out += "  " + word + std::string(kWord - word.size(), ' ') +
             right(fixed(static_cast<double>(ns) / 1e6, 3), kTime) + " ms" +
             right(fixed(100 * static_cast<double>(ns) / static_cast<double>(whole), 1), kShare) + " %\n";
  out += profile_table(runs_);
  return out.substr(0, out.size() - 1);
}

Json StepProfile::json() const {
  Json work = Json::object();
  const int64_t whole = now_ns() - begin_;
  for (const auto &[word, ns] : all(whole))
    work[word] = ns;
  return {{"steps", steps_},
          {"inputs", inputs_},
          {"ns", whole},
          {"work", work},
          {"loss", Json::parse(profile_json(runs_))}};
}

} // namespace dbc::train
