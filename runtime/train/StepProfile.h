// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Where the time of a training goes, on one rank.
#pragma once

#include "Json.h"
#include "Ranks.h"

#include <array>
#include <cstdint>
#include <dbc/profile.h>
#include <string>
#include <utility>
#include <vector>

namespace dbc::train {

/// What a training does beside running its loss. Exchanges with other ranks are no part of the others.
enum class Work { Read, Update, Pack, Measure, Save };

/// All times are those of the steady clock. For one thread.
class StepProfile {
public:
  /// `ranks` is borrowed: it counts exchanges.
  explicit StepProfile(const Ranks &ranks) : ranks_(ranks) {}

  /// From now on time counts.
  void begin();

  /// What `work` returns; the time that it takes is that of `kind`.
  template <class Function> auto time(Work kind, Function work) {
    struct Span {
      StepProfile &profile;
      Work kind;
      int64_t begin = now_ns(), exchanged = profile.ranks_.exchange_ns();
      ~Span() {
        profile.ns_[static_cast<size_t>(kind)] +=
            now_ns() - begin - (profile.ranks_.exchange_ns() - exchanged);
      }
    } span{*this, kind};
    return work();
  }
  /// Another step has run its loss, on so many inputs.
  void add(const RunProfile &run, int64_t inputs);

  /// For people: where the time went, then what each stage of the loss did. Lines; the last one has no end.
  std::string table() const;
  /// For programs: {"steps", "inputs", "ns", "work": {word: ns}, "loss": what profile_json says}.
  Json json() const;

private:
  /// Each kind of work by its word, in the order in which a step does it; the last one is all the rest.
  std::vector<std::pair<std::string, int64_t>> all(int64_t whole) const;

  const Ranks &ranks_;
  int64_t begin_ = now_ns(), exchanged_ = 0;
  std::array<int64_t, 5> ns_ = {}; ///< by Work
  RunProfile runs_;
  int64_t steps_ = 0, inputs_ = 0;
};

} // namespace dbc::train
