// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The lines of a training whose inputs fail: each is named once, in the order in which they are met.
#pragma once

#include "DataSet.h"
#include "Meter.h"

#include <set>
#include <string>
#include <utility>

namespace dbc::train {

class LeftOut {
public:
  /// `meter` is borrowed.
  explicit LeftOut(Meter &meter) : meter_(meter) {}
  /// Says that a line is left out, and why, unless that was said before. Of many the first ones are named.
  void add(const DataSet &data, size_t line, const std::string &why);

private:
  Meter &meter_;
  std::set<std::pair<const DataSet *, size_t>> lines_;
};

} // namespace dbc::train
