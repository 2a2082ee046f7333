// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
#include "LeftOut.h"

#include <dbc/io/instances.h>

namespace dbc::train {

constexpr size_t kMostNamed = 10;

void LeftOut::add(const DataSet &data, size_t line, const std::string &why) {
  if (!lines_.insert({&data, line}).second)
    return;
  if (lines_.size() <= kMostNamed)
    meter_.say("warning: " + data.name(line) + ": is left out: " + without_input(why));
  else if (lines_.size() == kMostNamed + 1)
    meter_.say("warning: more lines are left out; they are not named");
}

} // namespace dbc::train
