// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.

#include "driver/weights/Choices.h"
#include "runtime/io/Nearest.h"
#include <algorithm>
#include <map>

namespace dbc::driver {

std::vector<int> choose(const std::vector<Wanted> &wanted, std::vector<bool> &used) {
  std::vector<int> chosen(wanted.size(), -1);
  std::vector<bool> isDone(wanted.size());
  while (true) {
    size_t best = wanted.size();
    int bestChoice = -1;
    std::pair<bool, double> bestRank;
    for (size_t w = 0; w < wanted.size(); ++w) {
      if (isDone[w])
        continue;
      int first = -1, count = 0;
      const std::vector<Choice> &choices = wanted[w].choices;
      for (size_t c = 0; c < choices.size(); ++c) {
        if (std::any_of(choices[c].tensors.begin(), choices[c].tensors.end(),
                        [&](size_t t) { return used[t]; }))
          continue;
        ++count;
        if (first < 0 || choices[c].score > choices[static_cast<size_t>(first)].score)
          first = static_cast<int>(c);
      }
      if (first < 0) {
        isDone[w] = true;
        continue;
      }
      const std::pair<bool, double> rank(count == 1, choices[static_cast<size_t>(first)].score);
      if (bestChoice < 0 || rank > bestRank) {
        best = w;
        bestChoice = first;
        bestRank = rank;
      }
    }
    if (bestChoice < 0)
      return chosen;
    isDone[best] = true;
    chosen[best] = bestChoice;
    for (size_t tensor : wanted[best].choices[static_cast<size_t>(bestChoice)].tensors)
      used[tensor] = true;
  }
}

constexpr double kLittle = 0.1;

/// Somebody who wants the tensors of a choice about as much, and has nothing.
static const Wanted *findRival(const std::vector<Wanted> &wanted, const std::vector<int> &chosen,
                               const Choice &choice) {
  for (size_t w = 0; w < wanted.size(); ++w)
    for (const Choice &other : wanted[w].choices)
      if (chosen[w] < 0 && other.tensors == choice.tensors && other.score >= choice.score - kLittle)
        return &wanted[w];
  return nullptr;
}

std::vector<std::string> doubtsOf(const std::vector<Wanted> &wanted, const std::vector<int> &chosen) {
  std::map<size_t, size_t> takenBy; // who has a tensor
  for (size_t w = 0; w < wanted.size(); ++w)
    if (chosen[w] >= 0)
      for (size_t tensor : wanted[w].choices[static_cast<size_t>(chosen[w])].tensors)
        takenBy[tensor] = w;
  std::vector<std::string> doubts;
  for (size_t w = 0; w < wanted.size(); ++w) {
    if (chosen[w] < 0)
      continue;
    const Choice &own = wanted[w].choices[static_cast<size_t>(chosen[w])];
    const std::string begin = "`" + wanted[w].name + "` from `" + io::shown(own.from, 200) + "`: ";
    for (const std::string &doubt : own.doubts)
      doubts.push_back(begin + doubt);
    if (const Wanted *rival = findRival(wanted, chosen, own))
      doubts.push_back(begin + "`" + rival->name + "`, which nothing is left for, may be made of it as well");
    for (const Choice &other : wanted[w].choices) {
      if (other.tensors == own.tensors)
        continue;
      double gain = other.score - own.score;
      auto taken = std::find_if(other.tensors.begin(), other.tensors.end(),
                                [&](size_t tensor) { return takenBy.count(tensor) > 0; });
      if (taken != other.tensors.end()) { // the two would have to change
        const size_t holder = takenBy.at(*taken);
        const std::vector<Choice> &theirs = wanted[holder].choices;
        const Choice &held = theirs[static_cast<size_t>(chosen[holder])];
        auto swapped = std::find_if(theirs.begin(), theirs.end(),
                                    [&](const Choice &each) { return each.tensors == own.tensors; });
        if (held.tensors != other.tensors || swapped == theirs.end())
          continue;
        gain += swapped->score - held.score;
      }
      if (gain >= -kLittle) {
        doubts.push_back(begin + "`" + io::shown(other.from, 200) + "` fits as well");
        break;
      }
    }
  }
  return doubts;
}

} // namespace dbc::driver
