// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Layers of nn and the modules of PyTorch that they are: what each param of a layer is made of.
#pragma once

#include "driver/weights/Choices.h"

namespace dbc::driver {

/// For each layer of the model whose params are called like those of a layer of nn, the modules in the file
/// that fit it, and for a table of layers the rows of modules. Tensors that cannot be read are left out.
std::vector<Wanted> modulesForLayers(const ModelInfo &model, const std::vector<bool> &isOfLibrary,
                                     const TensorSource &source);

/// The numbers `first` to `last` of a pattern as an operation: with `first` and `last` only where they are
/// needed.
MapExpr stackOf(MapExpr pattern, int64_t first, int64_t last, const TensorSource &source);

/// The words of a param's path, those that nn uses as a file would have them: bwd is reverse, first is 0.
std::vector<std::string> wordsOfParam(const std::string &path);

} // namespace dbc::driver
