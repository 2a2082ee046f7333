// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// A mapping by names and shapes: what each param is probably made of.
#pragma once

#include "driver/weights/Mapping.h"

namespace dbc::driver {

struct Proposal {
  std::vector<std::optional<MapExpr>> values; ///< of each param of the model; none where nothing fits
  std::vector<std::string> doubts;            ///< what is unsure of it, a sentence each
  std::vector<bool> used;                     ///< of each tensor of the file
};

/// `isOfLibrary`: of each param, whether a layer of nn has it. Each tensor is given to one param at most.
/// Layers of nn are known by their params' names, PyTorch's modules by their tensors'; what is left is
/// compared one by one.
Proposal suggest(const ModelInfo &model, const std::vector<bool> &isOfLibrary, const TensorSource &source);

} // namespace dbc::driver
