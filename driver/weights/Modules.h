// Part of dbc, under Apache-2.0 WITH LLVM-exception; see LICENSE.
//
// Layers of a model and modules of a file: params and tensors that belong together by their names, and what
// they are in the words of nn and of PyTorch.
#pragma once

#include "driver/weights/TensorSource.h"
#include <dbc/model_info.h>
#include <map>
#include <string>
#include <vector>

namespace dbc::driver {

/// Params with the same path but for their own name.
struct LayerParams {
  std::string path;
  std::map<std::string, int32_t> params; ///< by their own names
};

/// In the order of the model. Params without a path are of none.
std::vector<LayerParams> layersOf(const ModelInfo &model);

/// Tensors of one module, of a recurrent one those of a layer and direction.
struct Module {
  std::string name;                      ///< "encoder.rnn", "encoder.rnn.l0_reverse"
  std::map<std::string, size_t> tensors; ///< by their names within it: "weight", "weight_ih"
};

/// In natural order of their names. Tensors that cannot be read are left out.
std::vector<Module> modulesOf(const TensorSource &source);

/// Modules whose names differ in one number.
using Series = std::map<int64_t, const Module *>;

/// By the pattern of their names, with `{i}` for the number.
std::map<std::string, Series> seriesOf(const std::vector<Module> &modules);

/// A layer of the model, or a module of the file.
struct Described {
  std::string name;            ///< "rnn", "encoder.rnn.*"
  std::vector<size_t> members; ///< its params, or its tensors
  std::string type;            ///< nn's or PyTorch's: "LSTM"
  std::string text;            ///< "nn.LSTM[4, 6]", "PyTorch's LSTM[4, 6] of 2 layers"
};

/// The layers of nn none of whose params has a value, but those of a single param. `isOfLibrary` and
/// `hasValue`: of each param.
std::vector<Described> layersWithout(const ModelInfo &model, const std::vector<bool> &isOfLibrary,
                                     const std::vector<bool> &hasValue);

/// The modules of PyTorch none of whose tensors is used, but those of a single tensor.
std::vector<Described> modulesUnused(const TensorSource &source, const std::vector<bool> &used);

} // namespace dbc::driver
