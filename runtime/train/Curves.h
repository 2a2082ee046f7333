// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// The course of a training as a picture.
#pragma once

#include "Log.h"
#include <string>
#include <vector>

namespace dbc::train {

/// An SVG picture of loss and metric by epoch, each on an axis of its own, the best epoch marked; for a page
/// of `title`.
std::string draw_curves(const std::vector<LogRow> &rows, const std::string &title, const std::string &metric,
                        int64_t best_epoch);

} // namespace dbc::train
