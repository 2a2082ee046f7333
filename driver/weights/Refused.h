// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Files of weights that dbc::load_weights refused: what they are, and how their tensors become weights.
#pragma once

#include <dbc/model_info.h>
#include <dbc/status.h>
#include <string>

namespace dbc::driver {

/// The error, where the file is another program's with what it is and a hint at `dbc weights map`.
Status explainRefused(const Status &refused, const std::string &path, const ModelInfo &model);

} // namespace dbc::driver
