// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Layers of nn and the modules of PyTorch that they are: what each param of a layer is made of.
#pragma once

#include "driver/weights/Choices.h"

namespace dbc::driver {

/// For each layer of the model whose params are called like those of a layer of nn, the modules in the file
/// that fit it, and for a table of layers the series of modules. Tensors that cannot be read are left out.
std::vector<Wanted> modulesForLayers(const ModelInfo &model, const std::vector<bool> &isOfLibrary,
                                     const TensorSource &source);

/// A pattern for as many numbers from `first` on as a table has elements: with `first` and `last` only where
/// they are needed. Nothing if it stands for other tensors than these, in their order.
std::optional<MapExpr> stackOf(MapExpr pattern, int64_t first, int64_t count,
                               const std::vector<size_t> &tensors, const TensorSource &source);

/// The words of a param's path, those that nn uses as a file would have them: bwd is reverse, first is 0.
std::vector<std::string> wordsOfParam(const std::string &path);

} // namespace dbc::driver
