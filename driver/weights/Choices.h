// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// What fits where, and which of it is taken.
#pragma once

#include "driver/weights/Mapping.h"
#include <utility>

namespace dbc::driver {

/// Values for some params that come from the same tensors.
struct Choice {
  std::vector<std::pair<int32_t, MapExpr>> values; ///< a param's number, and what it is made of
  std::vector<size_t> tensors;                     ///< sorted
  std::string from;                                ///< what messages call it: "encoder.rnn"
  double score = 0;                                ///< how well names go together
  std::vector<std::string> doubts;                 ///< why it may be wrong whatever else there is
};

/// Params that are given together, a layer's or a single one, and what fits.
struct Wanted {
  std::string name; ///< what messages call it: "rnn"
  std::vector<Choice> choices;
};

/// Takes a choice for each that is wanted so that no tensor is taken twice, those in `used` included, and
/// marks them there: first where there is but one left, then by score, then in order. Of each its number, -1
/// where none is left.
std::vector<int> choose(const std::vector<Wanted> &wanted, std::vector<bool> &used);

/// Sentences on what else would have fitted as well.
std::vector<std::string> doubtsOf(const std::vector<Wanted> &wanted, const std::vector<int> &chosen);

} // namespace dbc::driver
